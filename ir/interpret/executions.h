// Estimates how long the interpreter takes to execute a program.
#pragma once
#include "ir/program.h"

namespace deplo::ir {

/// Returns how often the statements of a body are executed, over all lanes. Each product of a matrix instruction counts
/// separately.
double executions(const Body&);
/// Programs with more executions than this are interpreted only in part. The interpreter takes 2 to 3 seconds for this
/// number.
inline constexpr double max_executions = 1e8;

}  // namespace deplo::ir
