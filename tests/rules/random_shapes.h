// Random chains of operations that only move elements, with an elementwise operation now and then.
#pragma once
#include "core/rng.h"
#include "ir/torch/graph.h"

namespace deplo::testing {

/// Two inputs, up to eight operations, at most 4096 elements each.
ir::torch::Graph random_shapes(Rng&);

}  // namespace deplo::testing
