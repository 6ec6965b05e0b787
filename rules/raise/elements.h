// Elements of tiles, as values of the kernel under construction (rules/fusion/values.h). Private to the room.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rules/fusion/values.h"

namespace deplo::rules::raising {

using fusion::ValueId;

/// Integers, and i1 that are conditions on integers, are index expressions. These may name loaded integers by
/// loaded_name. Floats and other i1 are values. A pointer is an array and an offset in elements.
struct Element {
  ir::Expr index;
  ValueId value = ValueId::none;  // none: `index` is set instead
  int array = -1;                 // array of a pointer
};
using Index = std::vector<ir::Expr>;  // index of an element in its tile

/// The name of a value of the table in index expressions.
std::string loaded_name(ValueId);
/// The value with this name, or ValueId::none if the name is not a loaded_name.
ValueId loaded(const std::string& name);
bool names_loaded(const ir::Expr&);

bool contains(const fusion::Values&, ValueId value, ValueId part);
/// The value's index, with the names of its arguments in place of g1, g2, …
Index named_index(const fusion::Values&, const fusion::Value&);

/// Creates values and folds constants. Index expressions may name axes, values of the table, and declared variables.
class Elements {
 public:
  fusion::Values values;
  ir::Shape shape;  // extents of the free axes

  void declare(const std::string& variable, std::optional<ir::Interval> range = {}) { ranges_[variable] = range; }
  ir::Ranges ranges(const ir::Expr&) const;
  ir::Expr simplify(const ir::Expr&) const;
  std::optional<ir::Interval> bounds(const ir::Expr& e) const { return ir::bounds(e, ranges(e)); }

  ValueId constant(double);
  ValueId load(int tensor, ir::DType, const Index&);
  /// An index expression as a value: i32, f32, or boolean for a condition.
  ValueId index(const ir::Expr&, ir::DType);
  ValueId assign(ir::Op, std::vector<ValueId> args, ir::DType = ir::DType::f32);
  bool is_constant(ValueId id, double value) const;

  /// The reduction of body(0) … body(extent - 1) by `op`. It ends early if all remaining elements are neutral. It is
  /// joined with a reduction inside it if one axis can walk both.
  ValueId reduce(ir::Op, std::int64_t extent, ir::DType, const std::function<ValueId(const ir::Expr&)>& body);
  /// The same for a value in terms of the reduce axis `axis`.
  ValueId close(ir::Op, int axis, ir::DType, ValueId value);

  /// The same reduction, with its argument v replaced by body(v).
  ValueId rebuilt(ValueId reduction, const std::function<ValueId(ValueId)>& body);
  /// Replaces axes in `value`, and folds again.
  ValueId rewrite(ValueId value, const ir::Substitution&);
  /// The root of a kernel that writes `value` at index `at` if the condition holds. `at` and `condition` may name
  /// loaded integers.
  ValueId scatter(const Index& at, const ir::Expr& condition, ValueId value);
  /// A declared variable on which the value still depends; "" if there is none. The table's axes and values are not
  /// declared.
  std::string unexplained(ValueId) const;

 private:
  std::optional<ValueId> join(ir::Op, int axis, ir::DType, ValueId value);
  bool is_padding(ir::Op, int axis, std::int64_t at, ValueId value);
  std::optional<ValueId> find_equal(ir::Op, int axis, ir::DType, ValueId value);
  std::int64_t end(ir::Op, int axis, ValueId value);
  std::map<std::string, std::optional<ir::Interval>> ranges_;
  std::vector<ValueId> reductions_;
};

/// Resolves the selects in `value` whose result follows from `condition`, which may name loaded integers. Addresses
/// stay clamped, so they are in range even if the condition does not hold.
ValueId where(Elements&, ValueId value, const ir::Expr& condition);
/// The ranges that the condition implies for loaded integers, by loaded_name.
ir::Ranges loaded_ranges(const Elements&, const ir::Expr& condition);

}  // namespace deplo::rules::raising
