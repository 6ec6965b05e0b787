// What an evaluation with less effort costs in a replay, and the result that it gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drawn_seeds.h"
#include "search/compare/replay.h"
#include "search/toy_space.h"

namespace deplo::search::compare {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::Pair;
using ::testing::Pointwise;

/// Each configuration takes 1 s to build, and 2 s besides its launches. The first two have 8 launches; the first one is
/// slower by its mean (4.5 s instead of 4.3 s), though not by each launch. The third one has a single launch, and the
/// fourth one fails.
class EffortReplay : public ::testing::Test {
 protected:
  EffortReplay() {
    RecordsBuilder builder("efforts");
    builder.add_knob("a");
    const double slower[] = {1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6, 8e6};
    const double faster[] = {4.3e6, 4.3e6, 4.3e6, 4.3e6, 4.3e6, 4.3e6, 4.3e6, 4.3e6};
    const double single[] = {5e6};
    const auto add = [&](std::int64_t at, double us, double run_seconds, std::span<const double> launches) {
      const Status status = us > 0 ? Status::ok : Status::launch_error;
      const std::vector<Value> values{at};
      builder.add(values, {.outcome = {status, us, ""}, .build_seconds = 1, .run_seconds = run_seconds}, launches);
    };
    add(0, 4.5e6, 38, slower);
    add(1, 4.3e6, 36.4, faster);
    add(2, 5e6, 7, single);
    add(3, 0, 7, {});
    space_ = std::make_unique<TableSpace>(std::make_shared<const Records>(builder.finish()));
  }

  Candidate at(std::size_t option, double effort) const { return {space_->root()->choose(option), effort}; }

  Steps run(std::vector<Candidate> asked, Replay how = {}, std::uint64_t seed = 1) {
    plan_ = std::make_unique<toy::Plan>(std::move(asked));
    how.seconds = 1e9;
    return replay(*space_, Landscape(*space_), *plan_, how, seed);
  }
  std::vector<float> ends(std::vector<Candidate> asked, Replay how = {}) {
    std::vector<float> times;
    for (const Step& step : run(std::move(asked), how)) times.push_back(step.seconds);
    return times;
  }

  std::unique_ptr<TableSpace> space_;
  std::unique_ptr<toy::Plan> plan_;
};

TEST_F(EffortReplay, LaunchesAreLeftOutAndTheBuildIsKept) {
  // 1 s for the build, 2 s, and 2 of 8 launches (36 s / 4); then 2 s and 4 launches; then 2 s and 8 launches.
  EXPECT_THAT(ends({at(0, 0.25), at(0, 0.5), at(0, 1)}),
              Pointwise(FloatEq(), std::vector<float>{12, 12 + 20, 32 + 38}));
  EXPECT_THAT(ends({at(0, 0.01), at(1, 1)}), Pointwise(FloatEq(), std::vector<float>{1 + 2 + 4.5F, 7.5F + 37.4F}))
      << "no less than one";
  EXPECT_THAT(ends({at(0, 1), at(1, 0.25), at(1, 1)}),
              Pointwise(FloatEq(), std::vector<float>{39, 39 + 3 + 8.6F, 50.6F + 36.4F}));
}

TEST_F(EffortReplay, WhatHasNoLaunchesToLeaveOutCostsAll) {
  EXPECT_THAT(ends({at(2, 0.25), at(2, 1)}), Pointwise(FloatEq(), std::vector<float>{8, 15}));
  EXPECT_THAT(plan_->told, ElementsAre(Pair(0.25, 5e6), Pair(1, 5e6)));
  EXPECT_THAT(plan_->launched, ElementsAre(0, 0)) << "a race would save nothing";
  EXPECT_THAT(ends({at(3, 0.25)}), Pointwise(FloatEq(), std::vector<float>{8}));
}

TEST_F(EffortReplay, CompilersKeepTheBuildToo) {
  EXPECT_THAT(ends({at(0, 0.25), at(1, 0.25), at(1, 1)}, {.workers = 1}),
              Pointwise(FloatEq(), std::vector<float>{1 + 11, 12 + 2 + 8.6F, 22.6F + 36.4F}));
}

TEST_F(EffortReplay, TellsTheMeanOfTheFirstLaunchesAndInTheEndOfAll) {
  for (const std::uint64_t seed : drawn_seeds(5)) {
    run({at(0, 0.125), at(0, 0.25), at(0, 1)}, {}, seed);
    EXPECT_THAT(plan_->told, ElementsAre(Pair(0.125, 1e6), Pair(0.25, 1.5e6), Pair(1, 4.5e6)));
    EXPECT_THAT(plan_->took, ElementsAre(::testing::DoubleEq(7.5), ::testing::DoubleEq(12), 39));
    EXPECT_THAT(plan_->launched, ElementsAre(::testing::DoubleEq(4.5), ::testing::DoubleEq(9), 36));
  }
}

TEST_F(EffortReplay, NoiseDrawsTheLaunches) {
  std::set<double> singles, pairs;
  for (const std::uint64_t seed : drawn_seeds(1000)) {  // 1 + 1 is one of 64
    run({at(0, 0.125), at(0, 0.25)}, {.noisy = true}, seed);
    singles.insert(plan_->told[0].second);
    pairs.insert(plan_->told[1].second);
    const auto before = plan_->told;
    run({at(0, 0.125), at(0, 0.25)}, {.noisy = true}, seed);
    EXPECT_EQ(plan_->told, before);
  }
  EXPECT_EQ(singles.size(), 8u) << "each launch alone";
  EXPECT_EQ(pairs.size(), 15u) << "sums from 1 + 1 to 8 + 8";
}

TEST_F(EffortReplay, AGuessCountsUntilMoreEffortSaysMore) {
  const Steps steps = run({at(0, 0.125), at(1, 0.125), at(0, 1), at(1, 1)});
  const Landscape landscape(*space_);
  const double slower = landscape.rank(0), faster = landscape.rank(1);
  ASSERT_LT(plan_->told[0].second, plan_->told[1].second);
  EXPECT_EQ(steps[1].rank, slower) << "what the strategy must believe";
  EXPECT_EQ(steps[2].rank, slower) << "the only one that was evaluated in full";
  EXPECT_EQ(steps[3].rank, faster);
}

}  // namespace
}  // namespace deplo::search::compare
