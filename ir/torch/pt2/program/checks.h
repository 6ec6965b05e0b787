// Checks of matrices that PyTorch 2.15 writes as effects.
#pragma once
#include "ir/torch/pt2/program/program.h"

namespace deplo::ir::torch::pt2 {

/// Removes the checks that a matrix is not singular, which run_decompositions() writes as effects, and their tokens,
/// which are an input and an output of the program. Programs with other effects stay as they are.
void drop_checks(Program&);

}  // namespace deplo::ir::torch::pt2
