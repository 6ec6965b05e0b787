// One scalar operation, or a few, at every place.
#include <numbers>

#include "ir/torch/operations/ops.h"
#include "rules/decompose/families.h"

namespace deplo::rules {

using ir::DType;
using ir::Op;
using ir::Shape;

namespace {

// An argument as an operand of an elementwise operation: of this dtype and, Scalars excepted, of the call's shape.
int operand(Emitter& e, const Call& call, std::size_t i, DType dtype) {
  return e.broadcast(e.convert(call.args[i], dtype), call.shape());
}

// Truth values are calculated with as the integers 0 and 1.
DType arithmetic_type(DType dtype) { return dtype == DType::boolean ? DType::i32 : dtype; }

}  // namespace

int unary(Emitter& e, const Call& call) { return e.elementwise(call.op, {operand(e, call, 0, call.dtype())}, "ew"); }

// x * sigmoid(x)
int silu(Emitter& e, const Call& call) {
  const int x = operand(e, call, 0, call.dtype());
  return e.elementwise(Op::multiply, {x, e.elementwise(Op::sigmoid, {x}, "sigmoid")}, "ew");
}

namespace {

// (1 + erf(x / sqrt 2)), the exact form
int gelu_erf(Emitter& e, int x, DType t) {
  const int scaled = e.elementwise(Op::multiply, {x, e.scalar(std::numbers::sqrt2 / 2, t, "rsqrt_2")}, "scaled");
  const int erf = e.elementwise(Op::erf, {scaled}, "erf");
  return e.elementwise(Op::add, {erf, e.scalar(1, t, "one")}, "add");
}

// (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x)))
int gelu_tanh(Emitter& e, int x, DType t) {
  const double root = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  int cube = e.elementwise(Op::multiply, {x, e.scalar(0.044715, t, "coefficient")}, "cube");
  cube = e.elementwise(Op::multiply, {cube, x}, "cube");
  cube = e.elementwise(Op::multiply, {cube, x}, "cube");
  const int sum = e.elementwise(Op::add, {x, cube}, "inner");
  const int scaled = e.elementwise(Op::multiply, {sum, e.scalar(root, t, "root")}, "scaled");
  const int tanh = e.elementwise(Op::tanh, {scaled}, "tanh");
  return e.elementwise(Op::add, {tanh, e.scalar(1, t, "one")}, "add");
}

}  // namespace

int gelu(Emitter& e, const Call& call) {
  const DType t = call.dtype();
  const int x = operand(e, call, 0, t);
  const int gate = call.node.text("approximate") == "tanh" ? gelu_tanh(e, x, t) : gelu_erf(e, x, t);
  const int half = e.elementwise(Op::multiply, {x, e.scalar(0.5, t, "half")}, "halved");
  return e.elementwise(Op::multiply, {half, gate}, "ew");
}

int arithmetic(Emitter& e, const Call& call) {
  const DType t = arithmetic_type(call.dtype());
  const int a = operand(e, call, 0, t), b = operand(e, call, 1, t);
  return e.convert(e.elementwise(call.op, {a, b}, "ew"), call.dtype());
}

// By a constant: x^2 = x * x, and so on.
int power(Emitter& e, const Call& call) {
  const DType t = arithmetic_type(call.dtype());
  const int x = operand(e, call, 0, t);
  const auto* exponent = e.as_scalar(call.args[1]);
  const double n = exponent != nullptr ? exponent->value : 0;
  if (n == 1) return e.elementwise(Op::copy, {x}, "ew");
  if (n == 2) return e.elementwise(Op::multiply, {x, x}, "ew");
  if (n == 3) return e.elementwise(Op::multiply, {e.elementwise(Op::multiply, {x, x}, "square"), x}, "ew");
  if (n == 0.5) return e.elementwise(Op::sqrt, {x}, "ew");
  if (n == -0.5) return e.elementwise(Op::rsqrt, {x}, "ew");
  if (n == -1) return e.elementwise(Op::reciprocal, {x}, "ew");
  return e.convert(e.elementwise(Op::power, {x, operand(e, call, 1, t)}, "ew"), call.dtype());
}

namespace {

int compare(Emitter& e, const Call& call, bool swapped) {
  const DType t = arithmetic_type(ir::torch::promote(call.arg(0), call.arg(1)));
  const int a = operand(e, call, 0, t), b = operand(e, call, 1, t);
  return e.elementwise(call.op, swapped ? std::vector{b, a} : std::vector{a, b}, "ew");
}

}  // namespace

int comparison(Emitter& e, const Call& call) { return compare(e, call, false); }
int swapped_comparison(Emitter& e, const Call& call) { return compare(e, call, true); }

int logical(Emitter& e, const Call& call) {
  const int a = operand(e, call, 0, DType::boolean), b = operand(e, call, 1, DType::boolean);
  return e.elementwise(call.op, {a, b}, "ew");
}

int where(Emitter& e, const Call& call) {
  const int condition = operand(e, call, 0, DType::boolean);
  const int a = operand(e, call, 1, call.dtype()), b = operand(e, call, 2, call.dtype());
  return e.elementwise(Op::select, {condition, a, b}, "ew");
}

int masked_fill(Emitter& e, const Call& call) {
  const int x = operand(e, call, 0, call.dtype()), mask = operand(e, call, 1, DType::boolean);
  return e.elementwise(Op::select, {mask, operand(e, call, 2, call.dtype()), x}, "ew");
}

int to(Emitter& e, const Call& call) { return e.convert(call.args[0], call.dtype()); }

int full(Emitter& e, const Call& call) {
  const int value = e.scalar(call.node.number("value"), call.dtype(), "value");
  return call.shape().empty() ? value : e.fill(value, call.shape(), "ew");
}

}  // namespace deplo::rules
