// Index maps that read windows.
#pragma once
#include "ir/expr.h"

namespace deplo::ir::tensor {

/// Does the index name several axes? The index of a window does: it adds a position and an offset in the window.
bool sums_axes(const Expr& index);

}  // namespace deplo::ir::tensor
