// Index maps that read windows.
#pragma once
#include "ir/expr.h"

namespace deplo::ir::tensor {

/// Does the index name several axes? Windows do: a place, and an element of the window.
bool sums_axes(const Expr& index);

}  // namespace deplo::ir::tensor
