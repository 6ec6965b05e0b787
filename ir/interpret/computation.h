// Operations over lanes. Private to the interpreter.
#pragma once
#include <span>
#include <vector>

#include "ir/interpret/arithmetic/arithmetic.h"
#include "ir/interpret/block/lanes.h"

namespace deplo::ir::exec {

/// An Assign: dst = op(args), or an Accum: dst = op(dst, args) or fma(args, dst).
struct Computation {
  Op op;
  DType dtype;  // type of the result; a copy converts to it
  std::size_t dst;
  int lanes;
  bool accumulates;
  std::vector<Operand> args;
  DType from = DType::f32;  // for a copy or a comparison: the type of its arguments
  // For a product: relative error due to rounding its factors. The errors of different terms are independent.
  double factors = 0;
  bool scales = false;  // multiplies a sum, and so each of its terms
  bool scans = false;   // each iteration of a scan reads the accumulator
};

/// `scratch`: space for one number per lane.
void compute(const Computation&, const Arithmetic&, Lanes&, Mask, double* scratch);

/// Computes out[i] = op(a[i], b[i]) for n values of the type. `out` may be `a` or `b`.
void combine(const Arithmetic& floats, DType, Op, int n, double* out, const double* a, const double* b);

/// Returns the result of the operation for one lane, in real numbers.
double result_of(const Computation&, std::span<const double> args);

}  // namespace deplo::ir::exec
