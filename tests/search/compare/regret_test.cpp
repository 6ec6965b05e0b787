// Regrets after few trials: the figures, compared with sums by hand, and the runs that give the figures.
#include "search/compare/regret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "search/compare/contest.h"
#include "search/tables.h"
#include "search/toy_space.h"

namespace deplo::search::compare {
namespace {

using tables::Options;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Pointwise;

/// Times of 1, 2, … 8 µs have the ranks 7, 6, … 0.
class Eight : public ::testing::Test {
 protected:
  const TableSpace space_{tables::grid({8}, [](const Options& o) { return 1 + static_cast<double>(o[0]); })};
  const Landscape landscape_{space_};
};

TEST_F(Eight, RegretIsTheBestTriedOverTheBestKnown) {
  // 8, 4 and 2 µs are tried. Because of noise, the configuration of 4 µs is selected.
  const Steps run = {{1, 0, 0}, {2, 4, 4}, {3, 4, 6}};
  const Steps other = {{1, 7, 7}};
  const Regrets all = regrets(landscape_, std::vector<Steps>{run, other});
  ASSERT_EQ(all.runs.size(), 2u);
  EXPECT_THAT(all.runs[0], Each(2.0)) << "a run that ended keeps its regret";
  EXPECT_THAT(all.runs[1], Each(1.0));
  EXPECT_THAT(all.selections, ElementsAre(2.0, 1.0));
  ASSERT_EQ(all.curve.size(), regret_trials.back());
  EXPECT_DOUBLE_EQ(all.curve[0], std::sqrt(8.0));
  EXPECT_DOUBLE_EQ(all.curve[1], std::sqrt(4.0));
  EXPECT_DOUBLE_EQ(all.curve[2], std::sqrt(2.0));
}

TEST_F(Eight, ARunWithoutAValidConfigurationHasTheWorst) {
  EXPECT_THAT(regrets(landscape_, std::vector<Steps>(1)).runs[0], Each(8.0));
}

Regrets of(const std::vector<double>& values) {
  Regrets result;
  for (const double value : values) {
    result.runs.emplace_back().fill(value);
    result.selections.push_back(value);
  }
  return result;
}

TEST(RegretSummary, IsAGeometricMeanWithAnIntervalOverSeeds) {
  Rng rng(1);
  const Regrets a = of({2, 2, 2}), b = of({8, 8, 8});
  const RegretSummary fixed = summarise(std::vector{&a, &b}, rng);
  EXPECT_THAT(fixed.regret, Each(DoubleNear(4, 1e-12)));
  EXPECT_NEAR(fixed.intervals[0].low, 4, 1e-9) << "spaces are not drawn";
  EXPECT_NEAR(fixed.intervals[0].high, 4, 1e-9);
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(i % 2 == 0 ? 1 : std::exp(1));
  const Regrets varied = of(values);
  const RegretSummary summary = summarise(std::vector{&varied}, rng);
  EXPECT_NEAR(std::log(summary.selection), 0.5, 1e-12);
  // The mean of 100 logs that are 0 or 1 has a standard deviation of 0.05.
  EXPECT_NEAR(std::log(summary.selection_interval.low), 0.5 - 1.96 * 0.05, 0.015);
  EXPECT_NEAR(std::log(summary.selection_interval.high), 0.5 + 1.96 * 0.05, 0.015);
}

TEST_F(Eight, TheFirstTrialIsToldAndNotAskedAgain) {
  for (const std::size_t workers : {0, 2}) {
    toy::Plan plan({space_.root()->choose(6), space_.root()->choose(2)});
    const Steps steps = replay(space_, landscape_, plan, {.evaluations = 3, .workers = workers, .first = 3}, 1);
    ASSERT_EQ(steps.size(), 3u);
    EXPECT_THAT(plan.told,
                ::testing::UnorderedElementsAre(::testing::Pair(1, 4), ::testing::Pair(1, 7), ::testing::Pair(1, 3)));
    EXPECT_EQ(steps[0].tried, 4) << "4 us";
    EXPECT_EQ(steps[2].tried, 5) << "3 us";
  }
}

/// Returns forty configurations with true times 10, 11, …. Their launches scatter by more than these times differ.
std::shared_ptr<const Records> noisy(std::optional<std::uint32_t> untuned) {
  RecordsBuilder builder("noisy");
  builder.add_knob("a");
  constexpr int count = 15;
  constexpr double spread = 20;
  Rng rng(3);
  for (std::int64_t a = 0; a < 40; ++a) {
    std::vector<double> launches;
    for (int i = 0; i < count; ++i) launches.push_back(10 + static_cast<double>(a) + rng.uniform(0, spread));
    const double mean = std::accumulate(launches.begin(), launches.end(), 0.0) / count;
    builder.add(std::vector<Value>{a}, {.outcome = {Status::ok, mean, ""}, .build_seconds = 1}, launches);
  }
  Records records = builder.finish();
  records.untuned = untuned;
  return std::make_shared<const Records>(std::move(records));
}

// The final draws launches again, so the luck of the screening does not count.
TEST(Regret, AFinalChoosesBetterThanTheScreening) {
  const TableSpace space(noisy({}));
  const Landscape landscape(space);
  const auto chosen = [&](std::size_t finalists, std::uint64_t seed) {
    const auto searcher = make_searcher("random", space, {.seed = seed});
    const Steps steps =
        replay(space, landscape, *searcher, {.evaluations = 40, .noisy = true, .finalists = finalists}, seed);
    return steps.back().rank;
  };
  double screened = 0, confirmed = 0, alone = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    screened += chosen(0, seed);
    confirmed += chosen(8, seed);
    alone += chosen(1, seed);
  }
  EXPECT_GT(confirmed, screened + 25) << "ranks, in 100 runs";
  EXPECT_EQ(alone, screened) << "a final of one is the screening";
}

// With compilers, a run would otherwise end with the candidates in flight, and the winner of the final would be theirs.
TEST(Regret, RunsHaveTheSameLengthWithCompilers) {
  const TableSpace space(noisy({}));
  const Landscape landscape(space);
  for (const std::size_t workers : {0, 1, 8}) {
    const auto searcher = make_searcher("random", space, {.seed = 1});
    const Replay run{.evaluations = 10, .noisy = true, .workers = workers, .finalists = 8};
    EXPECT_EQ(replay(space, landscape, *searcher, run, 1).size(), 10u) << workers;
  }
}

TEST(Regret, RunsBeginWithTheDefaultAndReplayNoise) {
  Contest contest{.entrants = {{"random", "random", {}}}, .repeats = 20, .regret = true};
  const auto records = noisy(35);
  const TableSpace space(records);
  const SpaceResult result = compete(space, contest, {}, {});
  EXPECT_TRUE(result.untuned);
  const Regrets& regrets = result.cells[0].regrets;
  const Landscape landscape(space);
  EXPECT_NEAR(regrets.curve[0], records->records[35].outcome.microseconds / landscape.optimum(), 1e-6);
  EXPECT_THAT(regrets.selections, ::testing::Contains(::testing::Gt(1.0))) << "noise misleads";
  EXPECT_DOUBLE_EQ(regrets.runs[0].back(), 1) << "all forty were tried";
  const SpaceResult own = compete(TableSpace(noisy({})), contest, {}, {});
  EXPECT_FALSE(own.untuned);
  EXPECT_LT(own.cells[0].regrets.curve[0], regrets.curve[0]) << "a random first trial is better than this default";
  contest.regret = false;
  const SpaceResult without = compete(space, contest, {}, {});
  EXPECT_TRUE(without.cells[0].regrets.runs.empty());
  EXPECT_EQ(without.cells[0].score, result.cells[0].score);
}

}  // namespace
}  // namespace deplo::search::compare
