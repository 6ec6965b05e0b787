// An experiment split over processes, or over machines.
#pragma once
#include <cstdint>
#include <string>

#include "engine/source/experiment.h"

namespace deplo::engine {

/// One of `count`, from 1 on.
struct Shard {
  std::int64_t number = 1, count = 1;
};

/// "2/4". Throws Error unless 1 <= number <= count.
Shard parse_shard(const std::string& text);
/// Leaves the kernels whose place in the experiment, equal ones counted once, is number - 1 modulo count: none where
/// there are more shards than kernels. The budget of time is that of the shard.
void take_shard(Experiment&, const Shard&);
/// "shard 2/2 tunes b; 1/2: a, c", of the whole experiment.
std::string describe_shards(const Experiment&, const Shard&);

}  // namespace deplo::engine
