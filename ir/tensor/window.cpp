#include "ir/tensor/window.h"

namespace deplo::ir::tensor {

bool sums_axes(const Expr& index) { return variables(index).size() > 1; }

}  // namespace deplo::ir::tensor
