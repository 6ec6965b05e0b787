// Random schedules of a kind, one after the other: for tests of rules that few schedules come to.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "rules/lower.h"

namespace deplo::rules {

/// A loop with a random schedule of a kind; nullopt: the seed's has come to none.
struct Drawn {
  ir::Program loop;
  std::optional<Lowering> lowering;
};
/// Calls check(loop, schedule, seed) for `count` schedules that `draw(seed)` finds, from the test's seed on. A failure
/// shows the seed and the trail; a fatal one ends it. 4,000 seeds that have fewer are a failure, too.
void for_each_schedule(int count, const std::function<Drawn(std::uint64_t seed)>& draw,
                       const std::function<void(const ir::Program&, const Lowering&, std::uint64_t seed)>& check);

}  // namespace deplo::rules
