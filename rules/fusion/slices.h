// Launches the steps of a recurrence as one kernel, each step with its own slices.
#pragma once
#include "core/target.h"
#include "ir/module.h"

namespace deplo::rules::fusion {

/// Makes kernels equal that differ only in which slices they read: each slice becomes a tensor that is a part of the
/// original tensor. Only done if many kernels become one, and if all slices can be arguments (part_alignment,
/// stacks.h).
void share_slices(ir::Module&, const Target&);

}  // namespace deplo::rules::fusion
