// How long a program takes to be interpreted.
#pragma once
#include "ir/program.h"

namespace deplo::ir {

/// How often the statements of a body are executed, in all lanes. The products of a matrix instruction count one by
/// one.
double executions(const Body&);
/// Within 2 to 3 seconds.
inline constexpr double most_executions = 1e8;

}  // namespace deplo::ir
