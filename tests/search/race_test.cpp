// Races: which candidates take all launches, and what the searcher inside is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "search/compare/replay.h"
#include "search/strategies/race.h"
#include "search/toy_space.h"

namespace deplo::search {
namespace {

using strategies::LookRatio;
using strategies::Race;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr double look_effort = 0.25;

/// A race of the candidates 0, 1, 2, … of a space with one level, in this order. An evaluation costs 1 s, and its
/// launches `launches` s if all are taken.
class RaceTest : public ::testing::Test {
 protected:
  Candidate at(std::size_t option) const { return space_.root()->choose(option); }

  /// Evaluates until the race asks for nothing more. `times`: µs of each candidate; 0: it fails. Returns the candidates
  /// and efforts in the order in which they were asked. A look's time is `ratio` times that of a full evaluation.
  std::vector<std::pair<std::int64_t, double>> run(const std::vector<double>& times, double launches = 9,
                                                   double ratio = 1) {
    std::vector<Candidate> plan;
    for (std::size_t i = 0; i < times.size(); ++i) plan.push_back(at(i));
    auto inside = std::make_unique<toy::Plan>(std::move(plan));
    inside_ = inside.get();
    race_ = std::make_unique<Race>(std::move(inside), look_effort);
    std::vector<std::pair<std::int64_t, double>> asked;
    for (;;) {
      const std::vector<Candidate> next = race_->ask(1);
      if (next.empty()) return asked;
      const std::int64_t option = toy::taken(next[0]->trail(), 0);
      asked.emplace_back(option, next[0].effort);
      const double us = times[static_cast<std::size_t>(option)] * (next[0].effort < 1 ? ratio : 1);
      Outcome outcome = us > 0 ? toy::took(us) : toy::failed();
      outcome.launch_seconds = launches * next[0].effort;
      outcome.left_out_seconds = launches - outcome.launch_seconds;
      outcome.seconds = 1 + outcome.launch_seconds;
      race_->tell(next[0], outcome);
    }
  }

  toy::ToySpace space_ = toy::levels({200});
  toy::Plan* inside_ = nullptr;  // lives in race_
  std::unique_ptr<Race> race_;
};

TEST_F(RaceTest, OnlyWhatIsFasterThanTheBestTakesAllLaunches) {
  EXPECT_THAT(run({10, 20, 8, 9, 0, 7}),
              ElementsAre(Pair(0, 1), Pair(1, look_effort), Pair(2, look_effort), Pair(2, 1), Pair(3, look_effort),
                          Pair(4, look_effort), Pair(5, look_effort), Pair(5, 1)));
  EXPECT_THAT(inside_->told, ElementsAre(Pair(1, 10), Pair(look_effort, 20), Pair(1, 8), Pair(look_effort, 9),
                                         Pair(look_effort, 0), Pair(1, 7)))
      << "one outcome of each";
}

TEST_F(RaceTest, NothingRacesWhereLaunchesAreTheSmallerPart) {
  const auto all = ElementsAre(Pair(0, 1), Pair(1, 1), Pair(2, 1));
  EXPECT_THAT(run({10, 20, 8}, 0.9), all);
  EXPECT_THAT(run({10, 20, 8}, 0), all) << "the part of the launches is not known";
}

// The cost of full evaluations decides, not that of looks, whose launches are the smaller part.
TEST_F(RaceTest, GoesOnThoughLooksAreCheap) {
  const auto asked = run(std::vector<double>(30, 10), 1.5);
  EXPECT_EQ(std::ranges::count(asked, look_effort, &std::pair<std::int64_t, double>::second), 29);
}

// Launches of a device that warms up are slower at first. The first candidates of a row that becomes faster teach the
// race by how much, after which it finishes candidates that look slower than the best, and are not.
TEST_F(RaceTest, LearnsTheRatioOfLooks) {
  std::vector<double> times;
  for (int i = 0; i < 20; ++i) times.push_back(1000 * std::pow(0.8, i));
  times.push_back(times.back() * 0.95);  // looks 4.5 % slower than the best
  EXPECT_THAT(run(times, 9, 1.1).back(), Pair(20, 1));
  times.back() = times[19] * 1.05;
  EXPECT_THAT(run(times, 9, 1.1).back(), Pair(20, look_effort));
  EXPECT_THAT(inside_->told.back(), Pair(look_effort, DoubleNear(times.back(), times.back() * 0.01)))
      << "corrected by the ratio";
}

TEST(LookRatio, BeginsAtOneAndLearns) {
  LookRatio ratio;
  EXPECT_EQ(ratio.mean(), 0);
  EXPECT_DOUBLE_EQ(ratio.deviation(), 0.01);
  for (int i = 0; i < 1000; ++i) ratio.add(i % 2 == 0 ? 0.05 : 0.15);
  EXPECT_NEAR(ratio.mean(), 0.1, 1e-3);
  EXPECT_NEAR(ratio.deviation(), 0.05, 1e-3);
}

// What looks slightly slower than the best may be faster. One of ten looks is followed by a full evaluation of it.
TEST_F(RaceTest, TheNextBestTakeOvertime) {
  std::vector<double> times{100, 101, 100.5};
  for (int i = 0; i < 30; ++i) times.push_back(200);
  std::vector<std::int64_t> overtime;
  const auto asked = run(times);
  for (std::size_t i = 1; i < asked.size(); ++i)
    if (asked[i].second == 1) overtime.push_back(asked[i].first);
  EXPECT_THAT(overtime, ElementsAre(2, 1)) << "the closest first, and none that is clearly slower";
  EXPECT_EQ(inside_->told.size(), times.size()) << "one outcome of each";
}

TEST_F(RaceTest, WhatIsToldFromElsewhereDoesNotWait) {
  run({100, 101, 102});
  race_->tell(at(1), toy::took(101));
  race_->tell(at(2), toy::took(102));
  for (int i = 3; i < 30; ++i) {
    race_->tell({at(i).position, look_effort}, toy::took(200));
    EXPECT_THAT(race_->ask(1), IsEmpty());
  }
}

/// The evaluations that fit into a time, on a space whose launches are nine tenths of the cost.
std::size_t evaluations(const std::string& race, std::int64_t trials = 0) {
  RecordsBuilder builder("launches");
  for (const char* name : {"a", "b", "c"}) builder.add_knob(name);
  for (std::int64_t i = 0; i < 1000; ++i) {
    const std::int64_t a = i / 100, b = i / 10 % 10, c = i % 10;
    const double us = 1e3 * static_cast<double>(10 + (a - 6) * (a - 6) + (b - 3) * (b - 3) + (c - 7) * (c - 7));
    const std::vector<double> launches(32, us);
    builder.add(std::vector<Value>{a, b, c},
                {.outcome = {Status::ok, us, ""}, .build_seconds = 0.2, .run_seconds = 32e-6 * us}, launches);
  }
  const TableSpace space(std::make_shared<const Records>(builder.finish()));
  SearchOptions options{.seed = 5, .parameters = {{"race", race}}};
  options.about.trials = trials;
  const auto searcher = make_searcher("model", space, options);
  return compare::replay(space, compare::Landscape(space), *searcher, {.seconds = 60}, 5).size();
}

TEST(RaceReplay, MoreEvaluationsFitIntoTheTime) { EXPECT_GT(evaluations("0.0625"), 2 * evaluations("1")); }

TEST(RaceReplay, ABudgetOfTrialsIsNotSpentOnLooks) { EXPECT_EQ(evaluations("0.0625", 60), evaluations("1")); }

}  // namespace
}  // namespace deplo::search
