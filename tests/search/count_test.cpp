// Estimates from random paths, compared with trees whose leaves are counted.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "drawn_seeds.h"
#include "search/count.h"
#include "search/toy_space.h"

namespace deplo::search {
namespace {

Estimate estimate(const Space& space, std::size_t paths, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> weights;
  for (std::size_t i = 0; i < paths; ++i) weights.push_back(weight(random_path(space, rng)));
  return estimate_leaves(weights, 1);
}

std::size_t count(const Space& space) {
  std::size_t found = 0;
  EXPECT_TRUE(for_each_path(space, [&](const Path& path) {
    EXPECT_FALSE(path.leaf->fork());
    EXPECT_EQ(path.options.size(), path.leaf->trail().size());
    return ++found > 0;
  }));
  return found;
}

TEST(Count, EveryPathOnceInTheOrderOfTheTree) {
  for (const auto& space : {toy::levels({}), toy::levels({3, 1, 4}), toy::conditional(6), toy::comb(9)}) {
    std::vector<Trail> found;
    for_each_path(space, [&](const Path& path) {
      found.push_back(path.leaf->trail());
      return true;
    });
    EXPECT_EQ(found, toy::leaves(space));
  }
}

TEST(Count, EndsWhenAsked) {
  std::size_t found = 0;
  EXPECT_FALSE(for_each_path(toy::uniform(20, 2), [&](const Path&) { return ++found < 5; }));
  EXPECT_EQ(found, 5U);
}

// If every path has the same weight, one path is enough, and the interval is a point.
TEST(Count, BalancedTreesAreExact) {
  for (const auto& [space, leaves] : {std::pair{toy::levels({}), 1.0}, std::pair{toy::levels({1, 1}), 1.0},
                                      std::pair{toy::levels({3, 1, 4}), 12.0}, std::pair{toy::uniform(6, 10), 1e6}}) {
    const Estimate e = estimate(space, 10, 1);
    EXPECT_EQ(e.leaves, leaves);
    EXPECT_EQ(e.low, leaves);
    EXPECT_EQ(e.high, leaves);
    EXPECT_NEAR(e.largest_share, 0.1, 1e-12);
  }
}

// About 95 % of the intervals of 200 seeds should hold the truth. On the comb, the tail of the weights makes them
// fewer, because the deepest leaves are drawn once in 2^depth.
TEST(Count, IntervalsHoldTheTruthOfUnbalancedTrees) {
  struct Case {
    toy::ToySpace space;
    std::size_t paths;
    int least;  // number of intervals, of 200, that must hold the truth
  };
  for (const auto& [space, paths, least] :
       {Case{toy::conditional(6), 400, 184}, Case{toy::conditional(4), 200, 184}, Case{toy::comb(6), 2000, 184}}) {
    const auto truth = static_cast<double>(count(space));
    int held = 0;
    double sum = 0;
    for (const std::uint64_t seed : drawn_seeds(200)) {
      const Estimate e = estimate(space, paths, seed);
      held += e.low <= truth && truth <= e.high;
      sum += e.leaves;
      EXPECT_EQ(e.paths, paths);
    }
    EXPECT_GE(held, least) << truth;
    EXPECT_LT(held, 200) << "an interval that always holds the truth says nothing";
    EXPECT_NEAR(sum / 200, truth, 0.05 * truth) << "unbiased";
  }
}

TEST(Count, AnEstimateSaysWhenOnePathDominates) {
  const Estimate e = estimate_leaves({1, 1, 1, 1021}, 3);
  EXPECT_EQ(e.leaves, 256);
  EXPECT_NEAR(e.largest_share, 1021.0 / 1024, 1e-12);
  EXPECT_EQ(e.low, 3) << "as many as were seen";
  // 256 ± 1.96 · 510 / √4
  EXPECT_NEAR(e.high, 256 + 1.96 * 255, 1e-9);
}

TEST(Count, SeedsDecide) {
  EXPECT_EQ(estimate(toy::conditional(6), 50, 3).leaves, estimate(toy::conditional(6), 50, 3).leaves);
  EXPECT_NE(estimate(toy::conditional(6), 50, 3).leaves, estimate(toy::conditional(6), 50, 4).leaves);
}

// k0 is 0 … 3. After 0, 1 and 2 there is k1 with two options. After 3 there are k1 … k3 with four options each.
TEST(Count, LevelsOfAConditionalTree) {
  Levels levels;
  for_each_path(toy::conditional(4), [&](const Path& path) {
    levels.add(path);
    return true;
  });
  ASSERT_EQ(levels.ordered().size(), 4U);
  const std::vector<Level> all = levels.ordered();
  const Level& second = all[1];
  EXPECT_EQ(second.knob, "toy.k1");
  EXPECT_EQ(second.paths, 70U);  // 2 + 2 + 2 + 4³
  EXPECT_EQ(second.min, 2U);
  EXPECT_EQ(second.max, 4U);
  EXPECT_NEAR(second.mean(), (6 * 2 + 64 * 4) / 70.0, 1e-12);
  EXPECT_EQ(levels.ordered()[3].paths, 64U);
}

// A knob that only some paths have comes before the knobs that follow it on these paths.
TEST(Count, LevelsKeepTheOrderOfThePaths) {
  const toy::ToySpace space([](const Trail& trail) -> std::optional<Fork> {
    const std::vector<Value> two{std::int64_t{0}, std::int64_t{1}};
    if (trail.empty()) return Fork{"a", two};
    if (trail.size() == 1) return Fork{toy::taken(trail, 0) == 0 ? "c" : "b", two};
    if (trail[1].knob == "b" && trail.size() == 2) return Fork{"c", two};
    return std::nullopt;
  });
  Levels levels;
  for_each_path(space, [&](const Path& path) {
    levels.add(path);
    return true;
  });
  std::string order;
  for (const Level& level : levels.ordered()) order += level.knob;
  EXPECT_EQ(order, "abc");
}

// The path a e does not order e and b … d. e comes last on its path, so it is placed late.
TEST(Count, LevelsThatNoPathOrdersStandByHowLateTheyCome) {
  const toy::ToySpace space([](const Trail& trail) -> std::optional<Fork> {
    const std::vector<Value> two{std::int64_t{0}, std::int64_t{1}};
    if (trail.empty()) return Fork{"a", two};
    if (trail[0].value == two[0]) return trail.size() == 1 ? std::optional(Fork{"e", two}) : std::nullopt;
    if (trail.size() < 4) return Fork{std::string(1, static_cast<char>('a' + trail.size())), two};
    return std::nullopt;
  });
  Levels levels;
  for_each_path(space, [&](const Path& path) {
    levels.add(path);
    return true;
  });
  std::string order;
  for (const Level& level : levels.ordered()) order += level.knob;
  EXPECT_TRUE(order == "abcde" || order == "abced") << order;
}

TEST(Count, ASiblingDiffersInOneChoiceAndWhatFollows) {
  const toy::ToySpace space = toy::levels({3, 1, 4});
  Rng rng(5);
  std::set<std::size_t> changed;
  for (int i = 0; i < 60; ++i) {
    const Path path = random_path(space, rng);
    const Sibling sibling = random_sibling(space, path, rng);
    ASSERT_TRUE(sibling.leaf);
    changed.insert(sibling.level);
    for (std::size_t level = 0; level < 3; ++level)
      EXPECT_EQ(sibling.leaf->trail()[level] == path.leaf->trail()[level], level != sibling.level);
  }
  EXPECT_EQ(changed, (std::set<std::size_t>{0, 2})) << "a fork with one option has no other";
  EXPECT_FALSE(random_sibling(toy::levels({1, 1}), random_path(toy::levels({1, 1}), rng), rng).leaf);
}

}  // namespace
}  // namespace deplo::search
