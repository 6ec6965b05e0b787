// The maxima and minima of NVIDIA's Tile IR without `propagate_nan`: for a NaN and a number, they give the number (IEEE
// 754-2019, maximumNumber). Loop IR's maxima and minima give the NaN, so comparisons select the number here.
#include "rules/raise/extremes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "rules/fusion/loop_op.h"

namespace deplo::rules::raising {

using fusion::Value;

namespace {

bool is_extremum(const Value& value) {
  return (value.kind == Value::Kind::assign || value.kind == Value::Kind::reduce) && value.dtype == ir::DType::f32 &&
         (value.op == ir::Op::maximum || value.op == ir::Op::minimum);
}

/// Adds the axes of the maxima from which an exponent is computed.
void collect_maxima(const fusion::Values& values, ValueId id, std::set<int>& axes) {
  const Value& value = values[id];
  if (value.kind == Value::Kind::reduce && is_extremum(value)) axes.insert(value.axis);
  if (value.kind == Value::Kind::assign)
    for (const ValueId arg : value.args) collect_maxima(values, arg, axes);
}

/// The axes of the maxima of softmaxes, i.e. maxima in exponents below a sum over as many elements. These maxima may
/// keep NaN, because a NaN among the scores makes their sum NaN in any case.
std::set<int> softmax_axes(const fusion::Values& values, ValueId root) {
  std::set<int> result;
  for (const ValueId sum : fusion::reachable(values, root)) {
    if (values[sum].kind != Value::Kind::reduce || values[sum].op != ir::Op::add) continue;
    for (const ValueId id : fusion::reachable(values, values[sum].args[0])) {
      const Value& value = values[id];
      if (value.kind != Value::Kind::assign || (value.op != ir::Op::exp && value.op != ir::Op::exp2)) continue;
      std::set<int> axes;
      collect_maxima(values, id, axes);
      for (const int axis : axes)
        if (values.extent(axis) == values.extent(values[sum].axis)) result.insert(axis);
    }
  }
  return result;
}

/// The greater or lesser of a and b. For a NaN and a number, it is the number.
ValueId choose_number(Elements& elements, ir::Op op, ValueId a, ValueId b) {
  if (elements.values[a].kind == Value::Kind::constant) std::swap(a, b);
  const auto compare = [&](ir::Op word, ValueId x, ValueId y) {
    return elements.assign(word, {x, y}, ir::DType::boolean);
  };
  const auto in_order = [&](ir::Op word) { return op == ir::Op::maximum ? compare(word, b, a) : compare(word, a, b); };
  if (elements.values[b].kind == Value::Kind::constant)
    return elements.assign(ir::Op::select, {in_order(ir::Op::less), a, b});
  const ValueId number = elements.assign(ir::Op::select, {compare(ir::Op::not_equal, b, b), a, b});
  return elements.assign(ir::Op::select, {in_order(ir::Op::less_equal), a, number});
}

}  // namespace

ValueId choosing_numbers(Elements& elements, ValueId root) {
  const std::set<int> softmaxes = softmax_axes(elements.values, root);
  std::set<ValueId> kept;  // maxima of softmaxes, and further maxima computed from them
  return elements.values.replace(root, [&](const Value& value) -> std::optional<ValueId> {
    if (!is_extremum(value)) return std::nullopt;
    const auto is_kept = [&](ValueId id) { return kept.contains(id); };
    const bool reduces = value.kind == Value::Kind::reduce;
    if (reduces ? softmaxes.contains(value.axis) : std::ranges::any_of(value.args, is_kept))
      return *kept.insert(elements.values.add(value)).first;
    if (!reduces) return choose_number(elements, value.op, value.args[0], value.args[1]);
    Value numbers = value;
    numbers.args[0] = choose_number(elements, value.op, value.args[0], elements.constant(*ir::neutral(value.op)));
    return elements.values.add(std::move(numbers));
  });
}

}  // namespace deplo::rules::raising
