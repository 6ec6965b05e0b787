// Computes how often a condition holds.
#pragma once
#include "ir/expr.h"
#include "ir/loop.h"

namespace deplo::ir {

/// Returns the fraction of points, over all values of the condition's variables, at which the condition holds. Beyond
/// 2^20 points the result is an estimate from samples: each variable takes the same number of evenly spaced values.
/// Returns 1 if a variable has no range.
double fraction_that_holds(const Expr& condition, const Ranges&);
/// Returns the fraction of a loop's iterations that come before its early end, over all values of the axes around the
/// loop; 1 if the loop has no early end.
double fraction_of_turns(const Loop&, Ranges around);

}  // namespace deplo::ir
