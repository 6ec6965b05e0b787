#include "engine/tune/aim.h"

#include <gtest/gtest.h>

namespace deplo::engine {
namespace {

measure::Objectives named(const std::vector<std::string>& names) { return measure::objectives_of(names, "here"); }

TEST(Aim, IsOneObjectiveAfterTheOther) {
  const measure::Objectives two = named({"spills", "time"});
  ASSERT_EQ(searches_of(two), 3u);
  EXPECT_EQ(Aim(two, 0, {})(std::vector<double>{0, 7}), 1) << "strategies expect numbers above 0";
  EXPECT_EQ(Aim(two, 0, {}).text(), "spills (bytes)");
  EXPECT_EQ(Aim(two, 1, {})(std::vector<double>{0, 7}), 7) << "the time itself";
  const measure::Objectives noisy = named({"time", "energy"});
  EXPECT_EQ(Aim(noisy, 1, {})(std::vector<double>{7, 0.02}), 0.02) << "and the energy";
  EXPECT_EQ(Aim(noisy, 1, {}).text(), "energy (mJ)");
  EXPECT_EQ(searches_of(named({"registers"})), 1u);
  EXPECT_EQ(searches_of({}), 1u);
}

// A compromise lies between the ends even if the front is bent so that no weighted sum prefers its middle.
TEST(Aim, ACompromiseLiesBetweenTheEnds) {
  const measure::Objectives two = named({"time", "code_size"});
  const std::vector<std::vector<double>> front = {{10, 9000}, {62, 5800}, {110, 1000}};
  const std::vector<std::vector<double>> dominated = {{63, 5900}, {300, 30000}};
  std::vector<std::vector<double>> all = front;
  all.insert(all.end(), dominated.begin(), dominated.end());
  const Aim aim(two, 2, all);
  EXPECT_EQ(aim.text(), "a compromise of time, code_size");
  EXPECT_LT(aim(front[1]), aim(front[0]));
  EXPECT_LT(aim(front[1]), aim(front[2]));
  EXPECT_LT(aim(front[1]), aim(dominated[0]));
  EXPECT_GT(aim(std::vector<double>{5, 500}), 0) << "better than all so far";
  EXPECT_GT(Aim(two, 2, {})(std::vector<double>{5, 500}), 0) << "nothing was valid so far";
}

// Energies of a few microjoules count as much as times of hundreds of microseconds.
TEST(Aim, ACompromiseDoesNotDependOnUnits) {
  const measure::Objectives two = named({"time", "energy"});
  for (const double unit : {1e-4, 1.0, 1e4}) {
    const Aim aim(two, 2, std::vector<std::vector<double>>{{10, 5 * unit}});
    EXPECT_DOUBLE_EQ(aim(std::vector<double>{10, 10 * unit}), aim(std::vector<double>{20, 5 * unit}));
  }
}

}  // namespace
}  // namespace deplo::engine
