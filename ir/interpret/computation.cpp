#include "ir/interpret/computation.h"

#include <algorithm>
#include <span>

#include "core/error.h"
#include "ir/interpret/arithmetic/each.h"
#include "ir/types/integers.h"

namespace deplo::ir::exec {
namespace {

Op vertical(Op op) {
  for (const Op reduce : {Op::add, Op::multiply, Op::maximum, Op::minimum})
    if (horizontal(reduce) == op) return reduce;
  check_failed("a lanes_ operation reduces", __FILE__, __LINE__);
}

void convert(const Arithmetic& arithmetic, DType from, DType to, int lanes, double* out) {
  if (to == DType::boolean) return each(lanes, out, [=](auto i) { return out[i] != 0 ? 1 : 0; });
  if (is_float(from) == is_float(to) && !is_integer(to)) return;
  each(lanes, out, [&](auto i) {
    if (is_float(to)) return arithmetic.constant(out[i]);
    return is_float(from) ? arithmetic.integer(out[i], to) : to_integer(out[i], from, to);
  });
}

/// Computes only the active lanes, because inactive lanes may hold anything.
void apply_integers(Op op, DType dtype, int n, double* out, const double* const* args, Mask mask) {
  const auto count = static_cast<std::size_t>(arity(op));
  for (int i = 0; i < n; ++i) {
    if (mask != nullptr && mask[i] == 0) continue;
    const double values[3] = {args[0][i], count > 1 ? args[1][i] : 0, count > 2 ? args[2][i] : 0};
    out[i] = apply_integer(op, std::span(values, count), dtype);
  }
}

void keep_active(int lanes, double* out, const double* result, Mask mask) {
  for (int l = 0; l < lanes; ++l)
    if (mask[l] != 0) out[l] = result[l];
}

bool compares_f32(const Computation& c) { return (c.op == Op::equal || c.op == Op::not_equal) && c.from == DType::f32; }
double compare_f32(const Arithmetic& floats, Op op, double a, double b) {
  return floats.equal(a, b) == (op == Op::equal) ? 1 : 0;
}

}  // namespace

double result_of(const Computation& c, std::span<const double> args) {
  if (compares_f32(c)) return compare_f32(reals(), c.op, args[0], args[1]);
  if (c.op == Op::copy && c.dtype == DType::boolean) return args[0] != 0 ? 1 : 0;
  if (!is_integer(c.dtype)) return apply(c.op, args);
  return c.op == Op::copy ? to_integer(args[0], c.from, c.dtype) : apply_integer(c.op, args, c.dtype);
}

void combine(const Arithmetic& floats, DType dtype, Op op, int n, double* out, const double* a, const double* b) {
  const double* args[] = {a, b, nullptr};
  if (is_integer(dtype)) return apply_integers(op, dtype, n, out, args, nullptr);
  floats.apply(op, n, out, a, b, nullptr);
}

void compute(const Computation& c, const Arithmetic& floats, Lanes& lanes, Mask mask, double* scratch) {
  // Comparisons for order are the same in every arithmetic.
  const Arithmetic& arithmetic = is_float(c.dtype) ? floats : reals();
  const int n = lanes.count;
  if (is_horizontal(c.op)) {
    const Op op = vertical(c.op);
    double* out = lanes.element(c.dst, 0);
    std::copy_n(lanes.element(c.args[0].value, 0), n, out);
    for (int w = 1; w < c.args[0].lanes; ++w)
      combine(floats, c.dtype, op, n, out, out, lanes.element(c.args[0].value, w));
    return;
  }
  for (int w = 0; w < c.lanes; ++w) {
    const double* args[4] = {};
    std::size_t count = 0;
    double* out = lanes.element(c.dst, w);
    if (c.accumulates && c.op != Op::fma) args[count++] = out;
    for (const Operand& arg : c.args) args[count++] = lanes.element(arg.value, arg.lanes == 1 ? 0 : w);
    if (c.accumulates && c.op == Op::fma) args[count++] = out;
    // A definition is visible only under its own mask; an accumulator keeps its value in inactive lanes.
    const bool masked = c.accumulates && mask != nullptr;
    if (compares_f32(c))
      each(n, masked ? scratch : out, [&](auto i) { return compare_f32(floats, c.op, args[0][i], args[1][i]); });
    else if (is_integer(c.dtype) && c.op != Op::copy)
      apply_integers(c.op, c.dtype, n, masked ? scratch : out, args, mask);
    else
      arithmetic.apply(c.op, n, masked ? scratch : out, args[0], args[1], args[2]);
    if (c.op == Op::copy) convert(floats, c.from, c.dtype, n, out);
    if (masked) keep_active(n, out, scratch, mask);
  }
}

}  // namespace deplo::ir::exec
