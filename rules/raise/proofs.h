// What follows from conditions on index expressions. Private to the room.
#pragma once
#include <vector>

#include "ir/expr.h"

namespace deplo::rules::raising {

/// Does `goal` hold for all numbers within the ranges for which each of the conditions holds? True is certain;
/// false means that no proof was found. Conditions and goal are made of lt, eq and land.
bool implies(const std::vector<ir::Expr>& conditions, const ir::Expr& goal, const ir::Ranges&);

/// Conditions of which one holds where `condition` does not; empty where it has no such form.
std::vector<ir::Expr> negations(const ir::Expr& condition);

/// The conditions that all hold where this one does.
std::vector<ir::Expr> conjuncts(const ir::Expr& condition);

/// x / c < b as x < c b, and a < x / c as c a + c - 1 < x, where reduce axes count x: so that the condition bounds them.
ir::Expr without_quotients(const ir::Expr& condition);

}  // namespace deplo::rules::raising
