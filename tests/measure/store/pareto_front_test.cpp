#include "measure/store/pareto_front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/rng.h"
#include "drawn_seeds.h"
#include "measure/protocol/protocol.h"

namespace deplo::measure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Objectives objectives(const std::vector<std::string>& names) { return objectives_of(names, "here"); }

std::vector<std::size_t> front(const std::vector<std::vector<double>>& values, const Objectives& of) {
  std::vector<Point> points;
  for (const auto& each : values) points.push_back({each, 1, std::to_string(points.size())});
  return pareto_front(points, of);
}

TEST(ParetoFront, HasWhatNothingDominates) {
  const Objectives two = objectives({"time", "code_size"});
  EXPECT_THAT(front({{10, 100}, {5, 200}, {20, 50}, {12, 120}, {5, 300}}, two), ElementsAre(1, 0, 2));
  EXPECT_THAT(front({}, two), IsEmpty());
  EXPECT_THAT(front({{3, 3}}, two), ElementsAre(0));
}

TEST(ParetoFront, NoiseIsNeitherBetterNorWorse) {
  const Objectives two = objectives({"time", "code_size"});
  const double noise = 1 + Protocol().tie / 2;
  EXPECT_THAT(front({{10, 100}, {10 * noise, 50}}, two), ElementsAre(1)) << "as fast, and smaller";
  EXPECT_THAT(front({{10, 100}, {10 * noise, 100}}, two), ElementsAre(0)) << "equal: the first trail";
  EXPECT_THAT(front({{10, 100}, {10 * noise * noise * noise, 100}}, two), ElementsAre(0)) << "slower";
  EXPECT_THAT(front({{10, 100}, {10, 100.1}}, two), ElementsAre(0)) << "a size has no noise";
  // Each point equals its neighbours within the noise, but the first is better than the last.
  EXPECT_EQ(front({{10, 7}, {10 * noise, 7}, {10 * noise * noise, 7}}, two).size(), 1u);
}

TEST(ParetoFront, EachObjectiveHasItsOwnNoise) {
  const Objectives two = objectives({"time", "energy"});
  EXPECT_THAT(front({{10, 1}, {10.1, 0.985}}, two), ElementsAre(0)) << "slower by 1 %, and an equal energy";
  EXPECT_THAT(front({{10, 1}, {10.1, 0.97}}, two), ElementsAre(0, 1));
  EXPECT_THAT(front({{10, 1}, {10.01, 0.97}}, two), ElementsAre(1)) << "an equal time";
}

// With two noisy objectives, dominance has no cycles. So every point that is not on the front is dominated by a point
// on the front, directly or through a chain of points.
TEST(ParetoFront, OfTwoNoisyObjectivesIsNeverEmpty) {
  const Objectives two = objectives({"time", "energy"});
  for (const std::uint64_t seed : drawn_seeds(2000)) {
    Rng rng(seed);
    std::vector<std::vector<double>> points;
    for (std::uint64_t i = 0; i < 1 + rng.below(12); ++i)
      points.push_back({10 * rng.uniform(1, 1.02), rng.uniform(1, 1.08)});
    EXPECT_THAT(front(points, two), ::testing::Not(IsEmpty())) << seed;
  }
}

TEST(ParetoFront, OfEqualsTheOneNearestToTheHeuristic) {
  const Objectives two = objectives({"time", "code_size"});
  const std::vector<Point> points = {{{10, 1}, 3, "a"}, {{10.01, 1}, 0, "z"}, {{10.01, 1}, 2, "b"}};
  EXPECT_THAT(pareto_front(points, two), ElementsAre(1));
}

// By definition, the front of points without noise has the points that no other point dominates.
TEST(ParetoFront, AgreesWithTheDefinition) {
  const Objectives three = objectives({"code_size", "registers", "spills"});
  for (const std::uint64_t seed : drawn_seeds(200)) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::set<std::vector<double>> distinct;
    for (std::uint64_t i = 0; i < 1 + rng.below(40); ++i)
      distinct.insert({double(rng.below(6)), double(rng.below(6)), double(rng.below(6))});
    const std::vector<std::vector<double>> points(distinct.begin(), distinct.end());
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (std::ranges::none_of(points, [&](const auto& other) {
            return other != points[i] && other[0] <= points[i][0] && other[1] <= points[i][1] &&
                   other[2] <= points[i][2];
          }))
        expected.push_back(i);
    EXPECT_EQ(front(points, three), expected);
  }
}

TEST(ParetoFront, LeavesOutTrialsWithoutAValueAndPrefersConfirmedOnes) {
  const Objectives two = objectives({"time", "code_size"});
  const auto trial = [](const char* trail, double us, std::int64_t size, Stage stage) {
    TrialRecord made;
    made.trail = trail;
    made.status = Status::ok;
    made.timing.median_us = us;
    made.resources.code_bytes = size;
    made.stage = stage;
    return made;
  };
  const std::vector<TrialRecord> trials = {trial("a", 10, 100, Stage::confirm), trial("b", 20, 50, Stage::confirm),
                                           trial("c", 1, -1, Stage::confirm), trial("d", 1, 1, Stage::screen)};
  const Front found = front_of(trials, two);
  ASSERT_EQ(found.trials.size(), 2u);
  EXPECT_EQ(found.trials[0].trail + found.trials[1].trail, "ab");
  EXPECT_EQ(found.valid, 3u);
  EXPECT_EQ(front_of({trials[3]}, two).trials.size(), 1u);
  EXPECT_THAT(front_of(trials, {}).trials, IsEmpty());
}

TEST(Objectives, AreCheckedByName) {
  const auto fault = [](const std::vector<std::string>& names) -> std::string {
    try {
      objectives_of(names, "k.yaml:3");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(fault({"time", "registers"}), "");
  EXPECT_THAT(objectives({"time"}), IsEmpty()) << "what every search minimises";
  EXPECT_EQ(print(objectives({"registers", "time"})), "registers, time");
  EXPECT_EQ(parse_objectives("registers, gone, time"), objectives({"registers", "time"}));
  EXPECT_EQ(fault({}),
            "k.yaml:3: expected at least one objective (time, energy, code_size, registers, spills, shared_memory), "
            "found none");
  EXPECT_THAT(fault({"time", "time"}), HasSubstr("expected each objective once, found 'time' twice"));
  EXPECT_THAT(fault({"code size"}), HasSubstr("found 'code size'; did you mean 'code_size'?"));
  DeviceInfo info;
  info.backend = "opencl";
  info.name = "cpu";
  EXPECT_NO_THROW(check_reported(objectives({"time", "code_size"}), info, "k.yaml:3"));
  try {
    check_reported(objectives({"time", "registers"}), info, "k.yaml:3");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "k.yaml:3: expected objectives that cpu (opencl) reports (time, energy, code_size, shared_memory), found "
        "'registers'");
  }
}

}  // namespace
}  // namespace deplo::measure
