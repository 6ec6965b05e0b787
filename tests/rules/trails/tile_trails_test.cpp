// Tests that random trails (trails_test.cpp) reach all kinds of tile programs, and that these are raised as the kinds
// say.
#include <gtest/gtest.h>

#include <map>

#include "rules/trails/tile_case.h"
#include "rules/trails/trail_case.h"

namespace deplo::rules {
namespace {

// A kind that no case reaches, or that is never raised, would not be tested.
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

// Random trails found each of these failures.
TEST(TileTrails, ThatOnceFailed) {
  const TrailCase cases[] = {
      // Operand a is made of integers that are adjacent along k. A pair of them was loaded at once, but their
      // conversion to floats, an Index, takes a scalar.
      {.kernel = "tile/product",
       .target = "sm_80",
       .symbols = {{"K", 32}, {"M", 16}, {"N", 31}, {"S", 2}},
       .wanted = parse_trail("chunk_matmul_k.bk=16 mma.atom=m16n8k16 mma.b=shared async_copy.p6=8"),
       .tf32 = true,
       .draw = 4091713533},
  };
  for (const TrailCase& c : cases) EXPECT_EQ(attempt(c).failure, "") << describe(c);
}

}  // namespace
}  // namespace deplo::rules
