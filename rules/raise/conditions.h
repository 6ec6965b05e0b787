// Values under conditions on the axes: what they are where a condition holds, and reductions that stop where it fails.
// Private to the room.
#pragma once
#include <optional>
#include <vector>

#include "rules/raise/elements.h"

namespace deplo::rules::raising {

/// `value` if all conditions hold, else the neutral element of `op`. A condition is left out if the value is already
/// neutral whenever the condition fails. If `value` is a reduction by `op`, the conditions go inside it.
ValueId guarded(Elements&, ir::Op, ValueId value, const std::vector<ir::Expr>& conditions);
/// Merges two reductions by op over parts of an axis into one over the whole axis. nullopt: not proved to be equal.
std::optional<ValueId> unite(Elements&, ir::Op, ValueId first, ValueId second);

}  // namespace deplo::rules::raising
