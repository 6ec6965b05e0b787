// Proves consequences of conditions on index expressions. Private to the room.
#pragma once
#include <vector>

#include "ir/expr.h"

namespace deplo::rules::raising {

/// Returns true if `goal` is proved to hold for all integers within the ranges that satisfy all conditions. False means
/// only that no proof was found. Conditions and goal consist of lt, eq and land.
bool implies(const std::vector<ir::Expr>& conditions, const ir::Expr& goal, const ir::Ranges&);

/// Returns conditions such that at least one of them holds whenever `condition` fails. Empty if `condition` cannot be
/// negated in this way.
std::vector<ir::Expr> negations(const ir::Expr& condition);

/// Splits a conjunction into its conditions.
std::vector<ir::Expr> conjuncts(const ir::Expr& condition);

/// Rewrites x / c < b as x < c b, and a < x / c as c a + c - 1 < x, if x depends on reduce axes. Then the condition
/// bounds these axes.
ir::Expr without_quotients(const ir::Expr& condition);

}  // namespace deplo::rules::raising
