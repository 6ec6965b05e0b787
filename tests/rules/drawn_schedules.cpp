#include "rules/drawn_schedules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/rng.h"
#include "rules/options.h"
#include "rules/programs.h"

namespace deplo::rules {

void for_each_schedule(int count, const std::function<Drawn(std::uint64_t)>& draw,
                       const std::function<void(const ir::Program&, const Lowering&, std::uint64_t)>& check) {
  const std::uint64_t first = test_options().seed;
  for (std::uint64_t seed = first; count > 0; ++seed) {
    ASSERT_LT(seed, first + 4000) << count << " schedules are missing";
    const Drawn drawn = draw(seed);
    if (!drawn.lowering) continue;
    --count;
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, print(drawn.lowering->trail())));
    check(drawn.loop, *drawn.lowering, seed);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

Lowering drawn_schedule(const ir::Program& loop, const Target& target, std::uint64_t seed) {
  Rng rng(seed);
  Lowering lowering(loop, target);
  while (const auto& fork = lowering.fork()) lowering.choose(rng.below(fork->options.size()));
  return lowering;
}

void check_drawn_schedules(const ir::Program& loop, const Target& target, int count, const std::string& what) {
  for_each_schedule(
      count,
      [&](std::uint64_t seed) {
        return Drawn{loop, drawn_schedule(loop, target, seed)};
      },
      [&](const ir::Program&, const Lowering& lowering, std::uint64_t seed) {
        const ir::Program kernel = materialize(lowering.program(), target);
        ASSERT_EQ(ir::parse(ir::print(kernel)), kernel);
        ASSERT_EQ(finding(loop, kernel, seed), "") << what << "\n" << ir::print(kernel);
      });
}

}  // namespace deplo::rules
