#include "ir/tensor/window.h"

#include <string>
#include <vector>

namespace deplo::ir::tensor {

bool sums_axes(const Expr& index) { return variables(index).size() > 1; }

}  // namespace deplo::ir::tensor
