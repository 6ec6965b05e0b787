// Splits an experiment over several processes or machines.
#pragma once
#include <cstdint>
#include <string>

#include "engine/source/experiment.h"

namespace deplo::engine {

/// One of `count` shards. Numbers start at 1.
struct Shard {
  std::int64_t number = 1, count = 1;
};

/// Parses "2/4". Throws Error unless 1 <= number <= count.
Shard parse_shard(const std::string& text);
/// Keeps every count-th kernel of the experiment, starting with kernel number - 1; equal kernels count once. If there
/// are more shards than kernels, no kernel may be left. The shard keeps the whole time budget.
void take_shard(Experiment&, const Shard&);
/// Describes the shards of a whole experiment: "shard 2/2 tunes b; 1/2: a, c".
std::string describe_shards(const Experiment&, const Shard&);

}  // namespace deplo::engine
