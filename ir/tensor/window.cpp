#include "ir/tensor/window.h"

#include <string>
#include <vector>

namespace deplo::ir::tensor {

bool sums_axes(const Expr& index) {
  std::vector<std::string> names;
  collect_variables(index, names);
  return names.size() > 1;
}

}  // namespace deplo::ir::tensor
