// Random chains of operations that only move elements, with an elementwise operation now and then.
#pragma once
#include "core/rng.h"
#include "ir/torch/graph.h"

namespace deplo::testing {

/// Returns a graph with two inputs and up to eight operations. Each tensor has at most 4096 elements.
ir::torch::Graph random_shapes(Rng&);

}  // namespace deplo::testing
