// The steps of a recurrence as launches of one kernel, each on its own slices.
#pragma once
#include "core/target.h"
#include "ir/module.h"

namespace deplo::rules::fusion {

/// Kernels that differ only in which slices they read become equal: each reads a tensor that is a part of the other.
/// Only where many kernels become one, and where all slices may be arguments (part_alignment, stacks.h).
void share_slices(ir::Module&, const Target&);

}  // namespace deplo::rules::fusion
