// How often a condition holds.
#pragma once
#include "ir/expr.h"
#include "ir/loop.h"

namespace deplo::ir {

/// The part of the points at which the condition holds, of all values of its variables. Where these are more than 2^20,
/// as many values of each are tried, evenly spread. 1 where a variable has no range.
double fraction_that_holds(const Expr& condition, const Ranges&);
/// The part of a loop's turns that come before its early end, of all values of the axes around it; 1 where it has none.
double fraction_of_turns(const Loop&, Ranges around);

}  // namespace deplo::ir
