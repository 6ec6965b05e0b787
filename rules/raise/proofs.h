// Proves what follows from conditions on index expressions. Private to the room.
#pragma once
#include <vector>

#include "ir/expr.h"

namespace deplo::rules::raising {

/// Does `goal` hold for all integers within the ranges that satisfy all conditions? True is certain; false means that
/// no proof was found. Conditions and goal consist of lt, eq and land.
bool implies(const std::vector<ir::Expr>& conditions, const ir::Expr& goal, const ir::Ranges&);

/// Conditions of which at least one holds whenever `condition` fails. Empty: `condition` cannot be negated so.
std::vector<ir::Expr> negations(const ir::Expr& condition);

/// The conditions whose conjunction `condition` is.
std::vector<ir::Expr> conjuncts(const ir::Expr& condition);

/// Rewrites x / c < b as x < c b, and a < x / c as c a + c - 1 < x, if x depends on reduce axes. Then the condition
/// bounds these axes.
ir::Expr without_quotients(const ir::Expr& condition);

}  // namespace deplo::rules::raising
