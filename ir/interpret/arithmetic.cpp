#include "ir/interpret/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/error.h"
#include "ir/hardware/float16.h"

namespace deplo::ir::exec {
namespace {

template <class F>
void each(std::int64_t n, double* out, F f) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = f(i);
}

Op vertical(Op op) {
  for (const Op reduce : {Op::add, Op::multiply, Op::maximum, Op::minimum})
    if (horizontal(reduce) == op) return reduce;
  check_failed("a lanes_ operation reduces", __FILE__, __LINE__);
}

void convert(DType to, int lanes, double* out) {
  if (to == DType::i32) each(lanes, out, [=](auto i) { return std::trunc(out[i]); });
  if (to == DType::boolean) each(lanes, out, [=](auto i) { return out[i] != 0 ? 1 : 0; });
}

void keep_active(int lanes, double* out, const double* result, Mask mask) {
  for (int l = 0; l < lanes; ++l)
    if (mask[l] != 0) out[l] = result[l];
}

}  // namespace

void apply_lanes(Op op, std::int64_t n, double* out, const double* a, const double* b, const double* c) {
  switch (op) {  // the operations that inner loops are made of; the others cost more than a call anyway
    case Op::copy:
      return each(n, out, [=](auto i) { return a[i]; });
    case Op::add:
      return each(n, out, [=](auto i) { return in_f32_range(a[i] + b[i]); });
    case Op::subtract:
      return each(n, out, [=](auto i) { return in_f32_range(a[i] - b[i]); });
    case Op::multiply:
      return each(n, out, [=](auto i) { return in_f32_range(a[i] * b[i]); });
    case Op::divide:
      return each(n, out, [=](auto i) { return in_f32_range(a[i] / b[i]); });
    case Op::maximum:
      return each(n, out, [=](auto i) { return a[i] >= b[i] || std::isnan(a[i]) ? a[i] : b[i]; });
    case Op::fma:
      return each(n, out, [=](auto i) { return in_f32_range(a[i] * b[i] + c[i]); });
    default:
      break;
  }
  const auto count = static_cast<std::size_t>(arity(op));
  each(n, out, [=](auto i) {
    const double args[3] = {a[i], count > 1 ? b[i] : 0, count > 2 ? c[i] : 0};
    return apply(op, std::span(args, count));
  });
}

void compute(const Computation& c, Lanes& lanes, Mask mask, double* scratch) {
  const int n = lanes.count;
  if (is_horizontal(c.op)) {
    const Op op = vertical(c.op);
    double* out = lanes.element(c.dst, 0);
    std::copy_n(lanes.element(c.args[0].value, 0), n, out);
    for (int w = 1; w < c.args[0].lanes; ++w) apply_lanes(op, n, out, out, lanes.element(c.args[0].value, w));
    return;
  }
  for (int w = 0; w < c.lanes; ++w) {
    const double* args[4] = {};
    std::size_t count = 0;
    double* out = lanes.element(c.dst, w);
    if (c.accumulates && c.op != Op::fma) args[count++] = out;
    for (const Operand& arg : c.args) args[count++] = lanes.element(arg.value, arg.lanes == 1 ? 0 : w);
    if (c.accumulates && c.op == Op::fma) args[count++] = out;
    // A definition is visible under its own mask only; an accumulator keeps its value in the lanes that are not active.
    const bool masked = c.accumulates && mask != nullptr;
    apply_lanes(c.op, n, masked ? scratch : out, args[0], args[1], args[2]);
    if (c.op == Op::copy) convert(c.dtype, n, out);
    if (masked) keep_active(n, out, scratch, mask);
  }
}

}  // namespace deplo::ir::exec
