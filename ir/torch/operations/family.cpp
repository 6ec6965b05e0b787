// What several families of operations need.
#include "ir/torch/operations/family.h"

namespace deplo::ir::torch {

void check_float(const Inference& call) {
  if (!is_float(call.dtype(0))) call.expected("floating-point numbers");
}

int operand(Emitter& e, const TensorCall& call, std::size_t i, DType dtype) {
  return e.broadcast(e.convert(call.args[i], dtype), call.shape());
}

DType arithmetic_type(DType dtype) { return dtype == DType::boolean ? DType::i32 : dtype; }

int with(Emitter& e, Op op, int a, int b, std::string_view suffix) {
  return e.elementwise(op, {a, e.broadcast(b, Shape(e.shape(a)))}, suffix);
}

double count_along(const Emitter& e, int x, const Dims& dims) {
  double n = 1;
  for (const std::int64_t dim : dims) n *= static_cast<double>(e.extent(x, dim));
  return n;
}

int divided_sum(Emitter& e, int x, const Dims& dims, double divisor) {
  const int sum = e.reduce(Op::add, x, dims, "mean_sum");
  return e.elementwise(Op::divide, {sum, e.scalar(divisor, e.dtype(x), "mean_count")}, "mean");
}

int mean_over(Emitter& e, int x, const Dims& dims) { return divided_sum(e, x, dims, count_along(e, x, dims)); }

int centred(Emitter& e, int x, const Dims& dims) { return with(e, Op::subtract, x, mean_over(e, x, dims), "centred"); }

}  // namespace deplo::ir::torch
