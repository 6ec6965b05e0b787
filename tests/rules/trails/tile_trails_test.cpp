// The tile programs of random trails (trails_test.cpp): all kinds are met, and raised.
#include <gtest/gtest.h>

#include <map>

#include "rules/trails/tile_case.h"
#include "rules/trails/trail_case.h"

namespace deplo::rules {
namespace {

// Silence about a kind that no case reaches, or that nothing raises, says nothing.
TEST(TileTrails, ReachEveryKind) {
  struct Count {
    int raised = 0, refused = 0;
  };
  std::map<std::string, Count> counts;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const TrailCase c = random_tile_case("sm_90", seed);
    std::string why_not;
    ++(raised(c, why_not) ? counts[c.kernel].raised : counts[c.kernel].refused);
  }
  for (const TileKind& kind : tile_kinds()) {
    const auto& [raised, refused] = counts[kind.name];
    EXPECT_GE(raised + refused, 5) << kind.name << ": of 2000 cases, at least so many";
    switch (kind.raised) {
      case TileKind::Raised::always:
        EXPECT_EQ(refused, 0) << kind.name;
        break;
      case TileKind::Raised::partly:
        EXPECT_GT(raised, refused) << kind.name;
        break;
      case TileKind::Raised::never:
        EXPECT_EQ(raised, 0) << kind.name;
    }
  }
}

}  // namespace
}  // namespace deplo::rules
