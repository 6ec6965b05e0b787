// Random schedules of a kind, one after the other: for tests of rules that few schedules come to.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

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

/// A schedule of the loop whose options are drawn one by one.
Lowering drawn_schedule(const ir::Program& loop, const Target&, std::uint64_t seed);
/// `count` of these: each kernel reads back as it is printed, and means what the loop means. `what` names the case.
void check_drawn_schedules(const ir::Program& loop, const Target&, int count, const std::string& what);

}  // namespace deplo::rules
