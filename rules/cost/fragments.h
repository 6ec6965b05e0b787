// Where the threads of a warp read the fragments of a matrix instruction.
#pragma once
#include <string>
#include <vector>

#include "ir/mma.h"

namespace deplo::rules {

/// One ldmatrix: each thread names a row of 8 elements. `index` is that of the operand's load with the rows, columns and
/// turns of the loop in place that the thread names; what is left are the other axes, and `turn`, the loop's axis,
/// which counts whole atoms.
struct Fragment {
  const ir::Load* load = nullptr;
  std::vector<ir::Expr> index;
  int matrices = 4;
  bool transposed = false;
};

/// Of operand a: rows 0 to 7 and 8 to 15 of the lower half of k, then of the upper.
Fragment fragment_of_a(const ir::mma::Product&, const std::string& turn);
/// Of operand b: both halves of k of 8 columns; where `next` is a REG axis, also those of its next value, for which it
/// must have one.
Fragment fragment_of_b(const ir::mma::Product&, const std::string& turn, const std::string& next);

}  // namespace deplo::rules
