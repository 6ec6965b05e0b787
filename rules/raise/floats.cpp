// Floats as values of Loop IR: computed in f32, and rounded if the program's type has 16 bits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/tile_program/attribute.h"
#include "rules/raise/evaluator.h"

namespace deplo::rules::raising {
namespace {

using fusion::Value;

/// Is the value known to be exactly representable in the type? Elements in memory, roundings and constants show that.
bool is_held(Evaluator& in, ValueId id, ir::DType element) {
  const Value& value = in.elements.values[id];
  const ir::Op round = element == ir::DType::f16 ? ir::Op::round_f16 : ir::Op::round_bf16;
  switch (value.kind) {
    case Value::Kind::constant:
      return std::isnan(value.constant) || ir::round_to(value.constant, element) == value.constant;
    case Value::Kind::load:
      return value.tensor >= 0 && in.arrays[static_cast<std::size_t>(value.tensor)].element == element;
    case Value::Kind::assign:
      break;
    default:
      return false;
  }
  if (value.op == round) return true;
  const bool keeps = value.op == ir::Op::negative || value.op == ir::Op::absolute || value.op == ir::Op::maximum ||
                     value.op == ir::Op::minimum;
  if (!keeps && value.op != ir::Op::select) return false;
  const std::vector<ValueId> args(value.args.begin() + (value.op == ir::Op::select ? 1 : 0), value.args.end());
  return std::ranges::all_of(args, [&](ValueId arg) { return is_held(in, arg, element); });
}

/// Computes an operation elementwise, from operands of the same shape.
ValueId each(Evaluator& in, const tp::Operation& op, ir::Op word, const Index& index) {
  check_rounding(in, op);
  std::vector<ValueId> args;
  for (const tp::ValueId operand : op.operands) args.push_back(in.value(operand, index));
  return in.elements.assign(word, std::move(args));
}

template <ir::Op word>
Element elementwise(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  return {0, rounded(in, op, each(in, op, word, index), in.type(op.results[0]).element)};
}

/// A maximum or minimum. Without `propagate_nan`, the result for a NaN and a number is the number: constants are
/// handled here, and choosing_numbers (extremes.h) handles the rest.
template <ir::Op word>
Element extremum(Evaluator& in, const tp::Operation& op, std::size_t result, const Index& index) {
  if (op.number("propagate_nan") == 0)
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const Value& value = in.elements.values[in.value(op.operands[i], index)];
      if (value.kind == Value::Kind::constant && std::isnan(value.constant))
        return {0, in.value(op.operands[1 - i], index)};
    }
  return elementwise<word>(in, op, result, index);
}

Element log2(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  const ValueId log = each(in, op, ir::Op::log, index);
  const ValueId scaled = in.elements.assign(ir::Op::multiply, {log, in.elements.constant(1 / std::log(2.0))});
  return {0, rounded(in, op, scaled, in.type(op.results[0]).element)};
}

Element fma(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  check_rounding(in, op);
  const ValueId product =
      in.elements.assign(ir::Op::multiply, {in.value(op.operands[0], index), in.value(op.operands[1], index)});
  const ValueId sum = in.elements.assign(ir::Op::add, {product, in.value(op.operands[2], index)});
  return {0, rounded(in, op, sum, in.type(op.results[0]).element)};
}

Element convert(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  check_rounding(in, op);
  return {0, rounded(in, op, in.value(op.operands[0], index), in.type(op.results[0]).element)};
}

Element from_integer(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  check_rounding(in, op);
  const Element a = in.at(op.operands[0], index);
  const bool truth = in.type(op.operands[0]).element == ir::DType::boolean;
  const bool is_signed = op.number("signedness") != 0;
  if (!is_signed && !truth) {
    const auto range = in.elements.bounds(a.index);
    if (!(range && range->low >= 0)) in.refuse(op, "expected a number known to be at least 0");
  }
  ValueId number = a.value != ValueId::none ? in.elements.assign(ir::Op::copy, {a.value})
                                            : in.elements.index(a.index, ir::DType::f32);
  if (is_signed && truth)  // the signed number of one bit is -1
    number = in.elements.assign(ir::Op::subtract, {in.elements.constant(0), number});
  return {0, rounded(in, op, number, in.type(op.results[0]).element)};
}

/// The exponent becomes an f32, which represents every integer up to 2^24 exactly.
Element integer_power(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  const Element exponent = in.at(op.operands[1], index);
  constexpr std::int64_t max_exponent = std::int64_t{1} << 24;
  const auto range = exponent.value != ValueId::none ? std::nullopt : in.elements.bounds(exponent.index);
  if (!range || range->low < -max_exponent || range->high > max_exponent)
    in.refuse(op, fmt::format("expected an exponent known to be within {}, found another", max_exponent));
  const ValueId n = in.elements.index(exponent.index, ir::DType::f32);
  const ValueId power = in.elements.assign(ir::Op::power, {in.value(op.operands[0], index), n});
  return {0, rounded(in, op, power, in.type(op.results[0]).element)};
}

Element to_integer(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  if (op.number("saturating") != 0) in.refuse(op, "Loop IR has no conversion that saturates");
  if (op.number("signedness") == 0 || ir::width(in.type(op.results[0]).element) > 32)
    in.refuse(op, "Loop IR converts floats to signed integers of at most 32 bits");
  const ValueId number = in.elements.assign(ir::Op::copy, {in.value(op.operands[0], index)}, ir::DType::i32);
  return {ir::var(loaded_name(number))};
}

Element compare_floats(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  using enum tp::Comparison;
  const auto comparison = static_cast<tp::Comparison>(op.number("comparison_predicate"));
  const bool ordered = op.number("comparison_ordering") != 0;
  ValueId a = in.value(op.operands[0], index), b = in.value(op.operands[1], index);
  // If an operand is NaN, Loop IR's `not_equal` is true, and all other comparisons are false.
  if (ordered == (comparison == not_equal)) in.refuse(op, "Loop IR compares NaN differently");
  if (comparison == greater || comparison == greater_equal) std::swap(a, b);
  const ir::Op word = comparison == equal                           ? ir::Op::equal
                      : comparison == not_equal                     ? ir::Op::not_equal
                      : comparison == less || comparison == greater ? ir::Op::less
                                                                    : ir::Op::less_equal;
  return {0, in.elements.assign(word, {a, b}, ir::DType::boolean)};
}

// --- Products --------------------------------------------------------------------------------------------------------

/// Returns acc + sum over k of lhs[…, m, k] * rhs[…, k, n].
Element multiply_matrices(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  const tp::ValueId lhs = op.operand("lhs"), rhs = op.operand("rhs"), acc = op.operand("acc");
  if (in.type(op.results[0]).element != ir::DType::f32)
    in.refuse(op, fmt::format("Loop IR sums in f32, found {}", ir::tile_name(in.type(op.results[0]).element)));
  const std::size_t rank = index.size();
  const auto product = [&](const ir::Expr& k) {
    Index left = index, right = index;
    left[rank - 1] = k;
    right[rank - 2] = k;
    return in.elements.assign(ir::Op::multiply, {in.value(lhs, left), in.value(rhs, right)});
  };
  const ValueId sum = in.elements.reduce(ir::Op::add, in.type(lhs).shape[rank - 1], ir::DType::f32, product);
  return {0, in.elements.assign(ir::Op::add, {in.value(acc, index), sum})};
}

}  // namespace

void check_rounding(const Evaluator& in, const tp::Operation& op) {
  if (!has_attribute(op, "rounding_mode")) return;
  const auto mode = static_cast<ir::Rounding>(op.number("rounding_mode"));
  const bool near = mode == ir::Rounding::nearest_even || mode == ir::Rounding::approx || mode == ir::Rounding::full ||
                    mode == ir::Rounding::nearest_int_to_zero || mode == ir::Rounding::nearest_away;
  if (!near) in.refuse(op, "Loop IR only rounds to the nearest number");
}

ValueId rounded(Evaluator& in, const tp::Operation& op, ValueId id, ir::DType element) {
  if (element == ir::DType::f32 || (element == ir::DType::tf32 && in.elements.values[id].op == ir::Op::round_tf32))
    return id;
  if (element == ir::DType::tf32) return in.elements.assign(ir::Op::round_tf32, {id});
  if (element != ir::DType::f16 && element != ir::DType::bf16)
    in.refuse(op, fmt::format("Loop IR has no {}", ir::tile_name(element)));
  if (is_held(in, id, element)) return id;
  return in.elements.assign(element == ir::DType::f16 ? ir::Op::round_f16 : ir::Op::round_bf16, {id});
}

std::vector<NamedRaiser> float_raisers() {
  return {{"absf", elementwise<ir::Op::absolute>},
          {"addf", elementwise<ir::Op::add>},
          {"cmpf", compare_floats},
          {"cos", elementwise<ir::Op::cos>},
          {"divf", elementwise<ir::Op::divide>},
          {"exp", elementwise<ir::Op::exp>},
          {"exp2", elementwise<ir::Op::exp2>},
          {"fma", fma},
          {"fpowi", integer_power},
          {"ftof", convert},
          {"ftoi", to_integer},
          {"itof", from_integer},
          {"log", elementwise<ir::Op::log>},
          {"log2", log2},
          {"maxf", extremum<ir::Op::maximum>},
          {"minf", extremum<ir::Op::minimum>},
          {"mmaf", multiply_matrices},
          {"mulf", elementwise<ir::Op::multiply>},
          {"negf", elementwise<ir::Op::negative>},
          {"pow", elementwise<ir::Op::power>},
          {"rsqrt", elementwise<ir::Op::rsqrt>},
          {"sin", elementwise<ir::Op::sin>},
          {"sqrt", elementwise<ir::Op::sqrt>},
          {"subf", elementwise<ir::Op::subtract>},
          {"tanh", elementwise<ir::Op::tanh>}};
}

}  // namespace deplo::rules::raising
