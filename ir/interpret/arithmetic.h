// Private to the interpreter: operations over lanes.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/interpret/block/lanes.h"

namespace deplo::ir::exec {

/// Of an Assign or an Accum: dst = op(args), or where it accumulates dst = op(dst, args), fma(args, dst).
struct Computation {
  Op op;
  DType dtype;  // what a copy converts to
  std::size_t dst;
  int lanes;
  bool accumulates;
  std::vector<Operand> args;
  double factors = 0;   // of a product: by how much of it roundings of its factors may move it, each on its own
  bool scales = false;  // multiplies a sum: each of its terms
};

/// `scratch`: a number per lane.
void compute(const Computation&, Lanes&, Mask, double* scratch);

/// out[i] = op(args…[i]) for n elements.
void apply_lanes(Op op, std::int64_t n, double* out, const double* a, const double* b, const double* c = nullptr);

}  // namespace deplo::ir::exec
