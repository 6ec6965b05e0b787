// Elements of tiles, as values of the kernel that is being made (rules/fusion/values.h). Private to the room.
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

/// An integer, or an i1 that is a condition on integers, is an index expression. It may name loaded integers by
/// loaded_name. Other numbers and i1 are values. A pointer is an array and an offset in elements.
struct Element {
  ir::Expr index;
  ValueId value = -1;  // -1: `index` has it
  int array = -1;      // of a pointer
};
using Index = std::vector<ir::Expr>;  // of an element in its tile

/// What an index expression calls a value of the table.
std::string loaded_name(ValueId);
/// The value that a name means so; -1: none.
ValueId loaded(const std::string& name);
bool names_loaded(const ir::Expr&);

/// Makes values, folding what is known. Variables of index expressions: those of the table, and those that are declared.
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
  /// As i32, f32, or a truth value of a condition.
  ValueId index(const ir::Expr&, ir::DType);
  ValueId assign(ir::Op, std::vector<ValueId> args, ir::DType = ir::DType::f32);
  bool is_constant(ValueId id, double value) const;

  /// op over the positions 0 … extent - 1 of body(position). Ends where all that follows is neutral; joins a reduction
  /// inside it where one axis can walk both.
  ValueId reduce(ir::Op, std::int64_t extent, ir::DType, const std::function<ValueId(const ir::Expr&)>& body);
  /// The same of a value in terms of the reduce axis `axis`.
  ValueId close(ir::Op, int axis, ir::DType, ValueId value);

  /// The reduction of another value over the same positions.
  ValueId rebuilt(ValueId reduction, const std::function<ValueId(ValueId)>& body);
  /// `value`, or the neutral element of `op` where a condition fails. A condition is left out where the value is neutral
  /// already if it fails; inside of a reduction by `op` it stands inside.
  ValueId guarded(ir::Op, ValueId value, const std::vector<ir::Expr>& conditions);
  /// op of two reductions by op over parts of the same axis, as one over all of it; nullopt where that is not proved.
  std::optional<ValueId> unite(ir::Op, ValueId first, ValueId second);
  /// What `value` is where the conditions hold.
  ValueId assuming(ValueId value, const std::vector<ir::Expr>& conditions);

  /// `value` with axes replaced, folded again.
  ValueId rewrite(ValueId value, const ir::Substitution&);
  /// `value` where the condition holds, which may name loaded integers: what it decides is not asked again. Addresses stay
  /// in range where it does not hold.
  ValueId where(ValueId value, const ir::Expr& condition);
  /// Of loaded integers what the condition says, by loaded_name.
  ir::Ranges loaded_ranges(const ir::Expr& condition) const;
  /// The root of a kernel that writes `value` there, under the condition; both may name loaded integers.
  ValueId scatter(const Index& at, const ir::Expr& condition, ValueId value);
  /// `value`, whose maxima and minima drop NaN: of a NaN and a number the number. Those of softmaxes stay as they are.
  ValueId choosing_numbers(ValueId value);
  /// The values below it and itself, each after its arguments.
  std::vector<ValueId> below(ValueId) const;
  bool contains(ValueId value, ValueId part) const;
  /// A variable that neither the table's axes nor its values explain; "" where there is none.
  std::string unexplained(ValueId) const;

 private:
  ir::Expr index_of(ValueId) const;         // of a constant or an integer
  Index named(const fusion::Value&) const;  // its index, which calls its arguments g1, g2, … until the value is made
  std::optional<ValueId> join(ir::Op, int axis, ir::DType, ValueId value);
  std::optional<ValueId> append(ir::Op, ValueId first, ValueId second);
  bool is_padding(ir::Op, int axis, std::int64_t at, ValueId value);
  bool holds_under(const std::vector<ir::Expr>& conditions, const ir::Expr&) const;
  std::vector<ir::Expr> conditions_of(ValueId) const;  // on axes that it does not bind
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
