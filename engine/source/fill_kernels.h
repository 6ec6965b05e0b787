// What the inputs of a graph's kernels are drawn from when they are measured one by one.
#pragma once
#include "ir/module.h"

namespace deplo::engine {

/// Says in each kernel what its inputs are drawn from. What the graph reads: as its source says. What another kernel
/// makes: uniform(-1, 1) as where nothing is said, if that lies within what the graph's own values are at some
/// elements, else uniform over these (docs/measurement.md).
void fill_kernels(ir::Module&);

}  // namespace deplo::engine
