// How long a program takes to be interpreted.
#pragma once
#include "ir/program.h"

namespace deplo::ir {

/// How often the statements of a body are executed, in all lanes.
double executions(const Body&);
/// Within seconds.
inline constexpr double most_executions = 1e8;

}  // namespace deplo::ir
