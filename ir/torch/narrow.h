// Computes integers of 8 and 16 bits in 32 bits.
#pragma once
#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// Returns a graph with the same results whose calls take and give no narrow integers (ir/types/dtype.h), except for
/// the conversions of inputs to i32 and of results from i32. Calls that may leave the range of the narrow type are
/// followed by operations that wrap the result, as PyTorch does. Throws Error if a number does not fit in the narrow
/// type of a tensor that it is put into.
Graph without_narrow_integers(Graph);

}  // namespace deplo::ir::torch
