// Inlines the functions that a kernel calls.
#pragma once
#include "measure/ptx/text/syntax.h"

namespace deplo::measure::ptx {

/// Returns the entry with each call replaced by the statements of the called function; their names are made distinct.
/// Calls of functions without a body stay. Throws a one-line Error if functions call each other recursively, or if
/// arguments are missing.
Function inline_calls(const Module&, const Function& entry);

}  // namespace deplo::measure::ptx
