// Index expressions as C.
#pragma once
#include <string>

#include "ir/expr.h"

namespace deplo::ir {

/// C text with the parentheses that its precedence needs. `/` and `%` truncate in C and floor in the IR: the same for
/// the non-negative indices that the verifier admits. `wide`: constants in min and max are long, as the variables are.
std::string index_code(const Expr&, bool wide);

}  // namespace deplo::ir
