// Intervals by order statistics: their ranks are compared with tables, their coverage is simulated.
#include "measure/protocol/interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/rng.h"

namespace deplo::measure {
namespace {

TEST(Median, OfOddAndEvenCounts) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({7}), 7);
}

// The expected ranks are from tables of the sign test (Conover, Practical Nonparametric Statistics, table A3) at 95 %.
TEST(MedianInterval, RanksOfTables) {
  for (const auto& [n, rank] :
       {std::pair{1, 0}, {5, 0}, {6, 1}, {8, 1}, {9, 2}, {12, 3}, {15, 4}, {20, 6}, {25, 8}, {30, 10}, {45, 16}})
    EXPECT_EQ(median_rank(static_cast<std::size_t>(n)), static_cast<std::size_t>(rank)) << n;
  EXPECT_EQ(median_rank(0), 0U);
}

TEST(MedianInterval, IsMadeOfSamples) {
  const Interval interval = median_interval({15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_EQ(interval.low, 4);
  EXPECT_EQ(interval.high, 12);
  EXPECT_TRUE(std::isinf(median_interval({1, 2, 3}).high));
}

TEST(MedianInterval, CoversWhateverTheDistribution) {
  constexpr int trials = 4000;
  using Draw = std::function<double(Rng&)>;
  const std::vector<std::pair<Draw, double>> distributions = {
      {[](Rng& rng) { return rng.uniform(); }, 0.5},
      {[](Rng& rng) { return -std::log(1 - rng.uniform()); }, std::log(2.0)},                     // exponential
      {[](Rng& rng) { return std::tan(3.141592653589793 * (rng.uniform() - 0.5)); }, 0.0},        // Cauchy
      {[](Rng& rng) { return rng.uniform() + (rng.uniform() < 0.1 ? 50.0 : 0.0); }, 0.5 / 0.9}};  // outliers
  Rng rng(1);
  for (const auto& [draw, truth] : distributions)
    for (const std::size_t n : {std::size_t{6}, std::size_t{15}, std::size_t{30}, std::size_t{45}}) {
      int covered = 0;
      for (int trial = 0; trial < trials; ++trial) {
        std::vector<double> values(n);
        for (double& value : values) value = draw(rng);
        const Interval interval = median_interval(values);
        covered += interval.low <= truth && truth <= interval.high;
      }
      EXPECT_GE(covered, trials * 0.94) << n;  // three standard errors below 95 %
    }
}

TEST(RatioInterval, DriftThatMeetsBothCancels) {
  std::vector<double> a, b;
  for (int i = 0; i < 15; ++i) {
    b.push_back(100 * (1 + 0.1 * i));
    a.push_back(b.back() * 1.02);
  }
  const Interval ratio = ratio_interval(a, b);
  EXPECT_NEAR(ratio.low, 1.02, 1e-12);
  EXPECT_NEAR(ratio.high, 1.02, 1e-12);
}

}  // namespace
}  // namespace deplo::measure
