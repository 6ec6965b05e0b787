#include "rules/drawn_schedules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rules/options.h"

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

}  // namespace deplo::rules
