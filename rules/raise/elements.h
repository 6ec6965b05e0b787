// Elements of tiles, as values of the kernel under construction (rules/fusion/values.h). Private to the room.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rules/fusion/values.h"

namespace deplo::rules::raising {

using fusion::ValueId;

/// Integers, and i1 that are conditions on integers, are index expressions, which may name loaded integers by
/// loaded_name. Floats and other i1 are values. A pointer is an array and an offset in elements.
struct Element {
  ir::Expr index;
  ValueId value = ValueId::none;  // none: `index` is set instead
  int array = -1;                 // of a pointer
};
using Index = std::vector<ir::Expr>;  // of an element in its tile

/// The name of a value of the table in index expressions.
std::string loaded_name(ValueId);
/// The value that has such a name, or ValueId::none.
ValueId loaded(const std::string& name);
bool names_loaded(const ir::Expr&);

/// Makes values and folds constants. Index expressions may name axes and values of the table, and declared variables.
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

  /// The reduction of body(0) … body(extent - 1) by op. It ends early if all that follows is neutral. It is joined with
  /// a reduction inside it if one axis can walk both.
  ValueId reduce(ir::Op, std::int64_t extent, ir::DType, const std::function<ValueId(const ir::Expr&)>& body);
  /// The same for a value in terms of the reduce axis `axis`.
  ValueId close(ir::Op, int axis, ir::DType, ValueId value);

  /// The same reduction of body(v) in place of its argument v.
  ValueId rebuilt(ValueId reduction, const std::function<ValueId(ValueId)>& body);
  /// `value` if all conditions hold, else the neutral element of `op`. A condition is left out if the value is already
  /// neutral whenever the condition fails. If `value` is a reduction by `op`, the conditions go inside it.
  ValueId guarded(ir::Op, ValueId value, const std::vector<ir::Expr>& conditions);
  /// Merges two reductions by op over parts of an axis into one over the whole axis. nullopt: not proved to be equal.
  std::optional<ValueId> unite(ir::Op, ValueId first, ValueId second);
  /// Simplifies `value`, assuming that the conditions hold.
  ValueId assuming(ValueId value, const std::vector<ir::Expr>& conditions);

  /// Replaces axes in `value`, and folds again.
  ValueId rewrite(ValueId value, const ir::Substitution&);
  /// Resolves the selects in `value` that the condition decides. The condition may name loaded integers. Addresses stay
  /// clamped, so they are in range even if the condition does not hold.
  ValueId where(ValueId value, const ir::Expr& condition);
  /// The ranges that the condition implies for loaded integers, by loaded_name.
  ir::Ranges loaded_ranges(const ir::Expr& condition) const;
  /// The root of a kernel that writes `value` at index `at` if the condition holds. Both may name loaded integers.
  ValueId scatter(const Index& at, const ir::Expr& condition, ValueId value);
  /// Makes the maxima and minima in `value` drop NaN: of a NaN and a number they give the number. Maxima of softmaxes
  /// stay as they are.
  ValueId choosing_numbers(ValueId value);
  /// The value and all values below it, each after its arguments.
  std::vector<ValueId> below(ValueId) const;
  bool contains(ValueId value, ValueId part) const;
  /// A declared variable that is left in the value; "" if there is none. The table's axes and values are not declared.
  std::string unexplained(ValueId) const;

 private:
  ir::Expr index_of(ValueId) const;         // the expression of a constant or an integer
  Index named(const fusion::Value&) const;  // the value's index, with its arguments in place of g1, g2, …
  std::optional<ValueId> join(ir::Op, int axis, ir::DType, ValueId value);
  std::optional<ValueId> append(ir::Op, ValueId first, ValueId second);
  bool is_padding(ir::Op, int axis, std::int64_t at, ValueId value);
  bool holds_under(const std::vector<ir::Expr>& conditions, const ir::Expr&) const;
  std::vector<ir::Expr> conditions_of(ValueId) const;  // those in the value, on axes that it does not bind
  bool is_neutral(ir::Op, ValueId value, const std::vector<ir::Expr>& conditions);
  std::optional<ValueId> find_equal(ir::Op, int axis, ir::DType, ValueId value);
  std::int64_t end(ir::Op, int axis, ValueId value);
  std::set<int> softmax_axes(ValueId) const;
  ValueId choose_number(ir::Op, ValueId, ValueId);
  bool is_never_minus_zero(ValueId) const;
  int divisions(ValueId) const;
  std::map<std::string, std::optional<ir::Interval>> ranges_;
  std::vector<ValueId> reductions_;
};

}  // namespace deplo::rules::raising
