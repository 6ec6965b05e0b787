// Private to the interpreter: operations over lanes.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ir/interpret/block/lanes.h"

namespace deplo::ir::exec {

/// Of an Assign or an Accum: dst = op(args), or where it accumulates dst = op(dst, args), fma(args, dst).
struct Computation {
  Op op;
  DType dtype;  // of the result; what a copy converts to
  std::size_t dst;
  int lanes;
  bool accumulates;
  std::vector<Operand> args;
  DType from = DType::f32;  // of a copy
  double factors = 0;       // of a product: by how much of it roundings of its factors may move it, each on its own
  bool scales = false;      // multiplies a sum: each of its terms
};

/// `scratch`: a number per lane.
void compute(const Computation&, Lanes&, Mask, double* scratch);

/// What the operation gives for one lane.
double result_of(const Computation&, std::span<const double> args);

/// out[i] = op(args…[i]) for n elements.
void apply_lanes(Op op, std::int64_t n, double* out, const double* a, const double* b, const double* c = nullptr);

}  // namespace deplo::ir::exec
