// What the branches of a tree learn from each other's results.
#include "search/strategies/shared_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/rng.h"

namespace deplo::search::strategies {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Two knobs, each with the values 0 to 10.
class SharedStatisticsTest : public ::testing::Test {
 protected:
  SharedStatisticsTest() {
    for (std::int64_t value = 0; value <= 10; ++value) codes(value, value);
  }
  model::Codes codes(std::int64_t a, std::int64_t b) { return encoding_.codes({{"a", a}, {"b", b}}); }
  model::SamplePtr sample(std::int64_t a, std::int64_t b) {
    return std::make_shared<model::Sample>(model::Sample{{}, codes(a, b)});
  }
  double similarity(const model::Codes& a, const model::Codes& b) {
    std::vector<float> x(encoding_.dimensions().size()), y = x;
    encoding_.point(a, x.data());
    encoding_.point(b, y.data());
    double squares = 0;
    for (std::size_t d = 0; d < x.size(); ++d) squares += std::pow(static_cast<double>(x[d] - y[d]) / radius_, 2);
    return std::exp(-squares / 2);
  }

  static constexpr double radius_ = 0.3, c_ = 0.2;
  model::Encoding encoding_;
  Rng rng_{1};
  SharedStatistics statistics_{encoding_, rng_, radius_, c_};
};

// Computes the formulas of the header again.
TEST_F(SharedStatisticsTest, AreWeightedByTheSimilarity) {
  const std::vector<model::Codes> told = {codes(0, 0), codes(3, 4), codes(9, 9)};
  const std::vector<double> times = {30, 10, infinity};
  const std::vector<double> reward = {1 - 1.0 / 3, 1, 0};  // for q = 1
  for (std::size_t i = 0; i < told.size(); ++i) statistics_.tell(told[i], times[i]);
  const std::vector<model::SamplePtr> samples = {sample(3, 5), sample(10, 10), sample(0, 9)};
  const std::vector<double> bounds = statistics_.bounds(samples);
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const double before = 0.1, mean = (reward[0] + reward[1] + reward[2]) / 3;
    double visits = before, sum = before * mean;
    for (std::size_t i = 0; i < told.size(); ++i) {
      visits += similarity(samples[s]->codes, told[i]);
      sum += similarity(samples[s]->codes, told[i]) * reward[i];
    }
    EXPECT_NEAR(bounds[s], sum / visits + c_ / std::sqrt(visits), 1e-5) << s;
  }
  EXPECT_GT(bounds[0], bounds[1]) << "beside the fastest, and beside a failure";
}

TEST_F(SharedStatisticsTest, RanksCountNotRatios) {
  SharedStatistics other(encoding_, rng_, radius_, c_);
  for (std::int64_t i = 0; i < 10; ++i) {
    statistics_.tell(codes(i, 3), 100 + static_cast<double>(i));
    other.tell(codes(i, 3), std::pow(10, i));
  }
  const std::vector<model::SamplePtr> samples = {sample(0, 0), sample(5, 5), sample(9, 1)};
  EXPECT_EQ(statistics_.bounds(samples), other.bounds(samples));
}

TEST_F(SharedStatisticsTest, AnAskCountsAsAVisitUntilItIsTold) {
  statistics_.tell(codes(2, 2), 10);
  statistics_.tell(codes(8, 8), 20);
  const std::vector<model::SamplePtr> samples = {sample(5, 5)};
  const double before = statistics_.bounds(samples)[0];
  statistics_.ask(codes(5, 6));
  const double asked = statistics_.bounds(samples)[0];
  EXPECT_LT(asked, before);
  statistics_.tell(codes(5, 6), 1);
  const double told = statistics_.bounds(samples)[0];
  EXPECT_GT(told, asked);
  statistics_.tell(codes(5, 6), 100);
  EXPECT_EQ(statistics_.bounds(samples)[0], told) << "the first time counts";
}

TEST_F(SharedStatisticsTest, PicksSpreadOut) {
  for (std::int64_t i = 0; i < 5; ++i) statistics_.tell(codes(2 * i, 0), 10 + static_cast<double>(i));
  const std::vector<model::SamplePtr> samples = {sample(1, 9), sample(1, 10), sample(9, 9)};
  const std::vector<double> bounds = statistics_.bounds(samples);
  const auto highest = static_cast<std::size_t>(std::ranges::max_element(bounds) - bounds.begin());
  const std::vector<model::SamplePtr> picked = statistics_.pick(samples, 5, 0);
  ASSERT_EQ(picked.size(), 3u);
  EXPECT_EQ(picked[0], samples[highest]);
  EXPECT_EQ(std::set<model::SamplePtr>(picked.begin(), picked.end()).size(), 3u);
  if (highest < 2) {
    EXPECT_EQ(picked[1], samples[2]) << "not the neighbour of the first";
  }
}

TEST_F(SharedStatisticsTest, OfManyResultsSomeStay) {
  model::Encoding encoding;
  SharedStatistics statistics(encoding, rng_, radius_, c_);
  const auto code = [&](std::int64_t i) { return encoding.codes({{"a", i % 64}, {"b", i / 64}}); };
  for (std::int64_t i = 0; i < 3000; ++i) statistics.tell(code(i), 1 + static_cast<double>(i));
  const auto near = std::make_shared<model::Sample>(model::Sample{{}, code(0)});
  const auto far = std::make_shared<model::Sample>(model::Sample{{}, code(2999)});
  const std::vector<double> bounds = statistics.bounds({near, far});
  EXPECT_GT(bounds[0], bounds[1] + 0.5) << "the fastest stay";
}

}  // namespace
}  // namespace deplo::search::strategies
