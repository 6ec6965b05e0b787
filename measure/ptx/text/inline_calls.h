// Functions that a kernel calls, put in its place.
#pragma once
#include "measure/ptx/text/syntax.h"

namespace deplo::measure::ptx {

/// The entry with the statements of each function that it calls in place of the call, names made distinct. Calls of
/// functions without a body stay. Throws Error in one line if functions call each other in a circle, or if arguments
/// are
/// missing.
Function inline_calls(const Module&, const Function& entry);

}  // namespace deplo::measure::ptx
