// Indices that are clamped to a range, such as those of a padded tensor.
#pragma once
#include <string>

#include "ir/expr.h"

namespace deplo::ir {

/// Does the expression increase by 0 or 1 with each step of the variable, as the index of a padded tensor, (max(min(a0,
/// 58), 3) - 3), does? Only sums, min and max are recognised.
bool walks_or_stands(const Expr&, const std::string& variable);

}  // namespace deplo::ir
