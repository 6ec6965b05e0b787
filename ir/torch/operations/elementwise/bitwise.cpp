// Bitwise operations on integers. For booleans they are the logical operations.
//   bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift(T, T)
#include <algorithm>
#include <cmath>

#include "ir/torch/operations/given.h"
#include "ir/torch/operations/ops.h"
#include "ir/types/integers.h"

namespace deplo::ir::torch {
namespace {

TensorType infer_bitwise(const Inference& call) {
  const DType dtype = promote(call.arg(0), call.arg(1));
  if (!is_integer(dtype)) call.expected("integers");
  return {dtype, broadcast(call.op(), call.shape(0), call.shape(1))};
}

int width_of(const TensorCall& call) { return call.dtype() == DType::i64 || call.node.wide ? 64 : 32; }

/// Shifts an integer of `width` bits. As in PyTorch, a shift by less than 0 or by at least `width` bits gives 0, or -1
/// for a right shift of a negative number.
double shifted(double x, double by, int width, bool left) {
  const bool all = by < 0 || by >= width;
  if (left) return all ? 0 : std::ldexp(x, static_cast<int>(by));
  return all ? (x < 0 ? -1 : 0) : std::floor(std::ldexp(x, -static_cast<int>(by)));
}

template <class Combine>
Values evaluate_bits(const Operands& o) {
  return evaluate_broadcast(o, [](double a, double b) {
    return static_cast<double>(Combine{}(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
  });
}

template <bool left>
Values evaluate_shift(const Operands& o) {
  const int width = o.node.wide || o.node.type.dtype == DType::i64 ? 64 : 32;
  return evaluate_broadcast(o, [&](double a, double b) {
    const double result = shifted(a, b, width, left);
    return width == 32 ? to_integer(result, DType::i64, DType::i32) : result;
  });
}

template <Op op>
int decompose_bits(Emitter& e, const TensorCall& call) {
  const DType t = call.dtype();
  const int a = operand(e, call, 0, t), b = operand(e, call, 1, t);
  return e.elementwise(op, {a, b}, "ew");
}

// A 64-bit integer whose values fit into 32 bits is shifted as a 32-bit integer. A right shift is limited to 31 bits,
// which gives the same result as a longer shift.
template <bool left>
int decompose_shift(Emitter& e, const TensorCall& call) {
  const DType t = call.dtype();
  const int x = filled_operand(e, call, 0, t), by = filled_operand(e, call, 1, t);
  const auto number = [&](int n) { return e.scalar(n, t, "number"); };
  const int max_shift = t == DType::i64 ? 63 : 31;
  const int below = e.elementwise(Op::less, {by, number(0)}, "below");
  const int above = e.elementwise(Op::less_equal, {number(std::min(width_of(call), max_shift + 1)), by}, "above");
  const int all = e.elementwise(Op::logical_or, {below, above}, "all");
  const int within = e.elementwise(Op::select, {all, number(left ? 0 : max_shift), by}, "within");
  const int moved = e.elementwise(left ? Op::shift_left : Op::shift_right, {x, within}, "moved");
  return left ? e.elementwise(Op::select, {all, number(0), moved}, "ew") : moved;
}

std::string_view of_truth_values(std::string_view op) {
  return op == "bitwise_and" ? "logical_and" : op == "bitwise_or" ? "logical_or" : "ne";
}

/// and, or, xor: the logical operation if both arguments are boolean.
Id bits(const Given& g, Id a, Id b) {
  const bool truth = g.dtype(a) == DType::boolean && g.dtype(b) == DType::boolean;
  return g.call(truth ? of_truth_values(g.op()) : g.op(), {a, b});
}
python::Value call_bits(const python::Call& c) {
  const Id x = c.tensor("input");
  return results_of(bits(Given(c), x, c.operand("other", 1)));
}
// A number becomes the second argument, as in FX graphs.
python::Value call_infix_bits(const python::Call& c) {
  const bool swap = !is_tensor(c.value("left"));
  const Id first = c.operand(swap ? "right" : "left", 0);
  return results_of(bits(Given(c), first, c.operand(swap ? "left" : "right", 1)));
}
std::vector<Id> read_bits(pt2::Call& call) {
  const Id self = call.operand("self");
  return {bits(Given(call), self, call.operand("other"))};
}

// -1 - x for integers, and logical_not for booleans.
Id bitwise_not(const Given& g) {
  const Id x = g.tensor("input");
  if (g.dtype(x) == DType::boolean) return g.apply("logical_not", x);
  if (!is_integer(g.dtype(x))) g.refuse("integers or truth values", x);
  return g.call("sub", {g.scalar(-1, DType::i64), x});
}

}  // namespace

// clang-format off
std::vector<Operation> bitwise_operations() {
  return {
      {"bitwise_and", 2, 2, {}, infer_bitwise, evaluate_bits<std::bit_and<std::int64_t>>, decompose_bits<Op::bit_and>,
       {{"bitwise_and", either, two_tensors, call_bits}, {"&", as_infix, infix, call_infix_bits}},
       {{"aten.bitwise_and", read_bits}, {"aten.__and__", read_bits}}},
      {"bitwise_left_shift", 2, 2, {}, infer_bitwise, evaluate_shift<true>, decompose_shift<true>,
       {{"bitwise_left_shift", either, two_tensors, call_binary}, {"<<", as_infix, infix, call_infix}},
       {{"aten.bitwise_left_shift", read_binary}, {"aten.__lshift__", read_binary}}},
      {"bitwise_or", 2, 2, {}, infer_bitwise, evaluate_bits<std::bit_or<std::int64_t>>, decompose_bits<Op::bit_or>,
       {{"bitwise_or", either, two_tensors, call_bits}, {"|", as_infix, infix, call_infix_bits}},
       {{"aten.bitwise_or", read_bits}, {"aten.__or__", read_bits}}},
      {"bitwise_right_shift", 2, 2, {}, infer_bitwise, evaluate_shift<false>, decompose_shift<false>,
       {{"bitwise_right_shift", either, two_tensors, call_binary}, {">>", as_infix, infix, call_infix}},
       {{"aten.bitwise_right_shift", read_binary}, {"aten.__rshift__", read_binary}}},
      {"bitwise_xor", 2, 2, {}, infer_bitwise, evaluate_bits<std::bit_xor<std::int64_t>>, decompose_bits<Op::bit_xor>,
       {{"bitwise_xor", either, two_tensors, call_bits}, {"^", as_infix, infix, call_infix_bits}},
       {{"aten.bitwise_xor", read_bits}, {"aten.__xor__", read_bits}}},
  };
}

Composites bitwise_names() {
  return {{{"bitwise_not", either, "input", call_made<bitwise_not>}, {"~", as_prefix, "input", call_made<bitwise_not>}},
          {{"aten.bitwise_not", read_made<bitwise_not>}}};
}
// clang-format on

}  // namespace deplo::ir::torch
