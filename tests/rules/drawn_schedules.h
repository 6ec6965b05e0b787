// Draws random schedules until enough are of a certain kind, for tests of rules that apply to few schedules.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "rules/lower.h"

namespace deplo::rules {

/// A loop with a random schedule of the wanted kind; nullopt if the seed's schedule is not of this kind.
struct Drawn {
  ir::Program loop;
  std::optional<Lowering> lowering;
};
/// Calls check(loop, schedule, seed) for `count` schedules that `draw(seed)` finds, beginning with the test's seed. A
/// failure shows the seed and the trail. A fatal failure ends the loop. Fewer than `count` schedules in 4,000 seeds are
/// a failure, too.
void for_each_schedule(int count, const std::function<Drawn(std::uint64_t seed)>& draw,
                       const std::function<void(const ir::Program&, const Lowering&, std::uint64_t seed)>& check);

/// Returns a schedule of the loop, with an option drawn at random at each fork.
Lowering drawn_schedule(const ir::Program& loop, const Target&, std::uint64_t seed);
/// Draws `count` such schedules, and checks that each kernel reads back as printed and computes what the loop computes.
/// `what` names the case.
void check_drawn_schedules(const ir::Program& loop, const Target&, int count, const std::string& what);

}  // namespace deplo::rules
