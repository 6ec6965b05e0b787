// Random Torch graphs. The same seed and number of steps give the same graph; fewer steps give a prefix of it.
#pragma once
#include <cstdint>

#include "ir/torch/graph.h"

namespace deplo::rules {

ir::torch::Graph random_graph(std::uint64_t seed, int steps);

}  // namespace deplo::rules
