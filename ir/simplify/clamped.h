// Indices that are clamped to a range, as those of a padded tensor.
#pragma once
#include <string>

#include "ir/expr.h"

namespace deplo::ir {

/// Does the expression go up by 1 or by 0 from each value of the variable to the next, as the index of a padded tensor,
/// (max(min(a0, 58), 3) - 3), does? Shown by sums and by min and max alone.
bool walks_or_stands(const Expr&, const std::string& variable);

}  // namespace deplo::ir
