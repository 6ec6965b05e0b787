// Values under conditions on the axes: their values where a condition holds, and reductions that end where it fails.
// Private to the room.
#pragma once
#include <optional>
#include <vector>

#include "rules/raise/elements.h"

namespace deplo::rules::raising {

/// Returns a value that is `value` if all conditions hold, and the neutral element of `op` otherwise. A condition is
/// left out if the value is neutral anyway whenever the condition fails. If `value` is a reduction by `op`, the
/// conditions go inside it.
ValueId guarded(Elements&, ir::Op, ValueId value, const std::vector<ir::Expr>& conditions);
/// Merges two reductions by `op` over parts of an axis into one reduction over the whole axis. Returns nullopt if they
/// are not proved to be equal.
std::optional<ValueId> unite(Elements&, ir::Op, ValueId first, ValueId second);

}  // namespace deplo::rules::raising
