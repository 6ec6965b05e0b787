#include "engine/tune/shares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace deplo::engine {
namespace {

/// A kernel that stands for `count` rows. A trial takes `seconds`, and n trials gain slope * log(1 + n / 4).
struct Kernel {
  double count = 1, seconds = 1, slope = 0.1;
};

Prospect after(const Kernel& kernel, int trials) {
  return {.count = kernel.count,
          .gain = kernel.slope * std::log1p(trials / 4.0),
          .trials = trials,
          .seconds = trials * kernel.seconds};
}

int trials_until(const Kernel& kernel, double least_gain, const Expectation& expectation) {
  int trials = 1;
  while (trials < 100000 && gain_per_second(after(kernel, trials), expectation) >= least_gain) ++trials;
  return trials;
}

/// Makes one pass over the kernels, as the tuner does. Returns the number of trials of each kernel.
std::vector<int> pass(const std::vector<Kernel>& kernels, double seconds) {
  std::vector<Prospect> prospects;
  for (const Kernel& kernel : kernels) prospects.push_back({.count = kernel.count});
  std::vector<int> trials;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const Expectation expectation(prospects);
    const double least = gain_to_stop_at(std::span(prospects).subspan(i), expectation, seconds);
    trials.push_back(trials_until(kernels[i], least, expectation));
    prospects[i] = after(kernels[i], trials.back());
    seconds -= prospects[i].seconds;
  }
  return trials;
}

TEST(Shares, EqualKernelsShareTheTimeEqually) {
  const std::vector<int> trials = pass(std::vector<Kernel>(20), 400);
  EXPECT_NEAR(std::accumulate(trials.begin(), trials.end(), 0), 400, 40);
  for (const int each : trials) EXPECT_NEAR(each, 20, 4);
}

TEST(Shares, WhatStandsForMoreRowsGetsMore) {
  std::vector<Kernel> kernels(20);
  kernels[0].count = 3;
  const std::vector<int> trials = pass(kernels, 400);
  EXPECT_GT(trials[0], 2 * trials[1]);
}

TEST(Shares, WhatGainsNothingStopsEarlierAndWhatGainsMuchGoesOn) {
  std::vector<Kernel> kernels(20);
  kernels[4].slope = 0;
  kernels[5].slope = 0.4;
  const std::vector<int> trials = pass(kernels, 400);
  EXPECT_LT(2 * trials[4], trials[3]);
  EXPECT_GT(trials[5], 2 * trials[3]);
}

TEST(Shares, CheapTrialsAreMadeInGreaterNumber) {
  std::vector<Kernel> kernels(20);
  kernels[4].seconds = 0.2;
  kernels[5].seconds = 5;
  const std::vector<int> trials = pass(kernels, 400);
  EXPECT_GT(trials[4], 2 * trials[3]);
  EXPECT_LT(2 * trials[5], trials[3]);
}

TEST(Shares, ABestBelowTheCeilingsShowsThatTheyAreTooLow) {
  EXPECT_DOUBLE_EQ(room_for(200, 100), std::log(2));
  EXPECT_DOUBLE_EQ(room_for(100, 100), 0);
  EXPECT_EQ(room_for(99, 100), std::numeric_limits<double>::infinity());
  EXPECT_EQ(room_for(99, 0), std::numeric_limits<double>::infinity());
}

TEST(Shares, NothingIsExpectedAboveTheCeilings) {
  const Expectation expectation({});
  Prospect kernel = after({}, 10);
  EXPECT_GT(gain_per_second(kernel, expectation), 0);
  kernel.room = 0;
  EXPECT_EQ(gain_per_second(kernel, expectation), 0);
  kernel.room = -1;  // faster than the time that was thought to be the least
  EXPECT_EQ(gain_per_second(kernel, expectation), 0);
}

TEST(Shares, TimeIsKeptForKernelsWithoutATurn) {
  const Prospect fresh{.least_us = 10'000}, tuned{.trials = 5, .seconds = 5, .frame_seconds = 2, .least_us = 10'000};
  const Expectation nothing_seen({});
  EXPECT_EQ(reserve(std::vector{tuned, tuned}, nothing_seen, 100), 0);
  const double two = reserve(std::vector{fresh, tuned, fresh}, nothing_seen, 100);
  EXPECT_GT(two, 2);
  EXPECT_LT(two, 4);
  EXPECT_EQ(reserve(std::vector{fresh, fresh}, nothing_seen, 1), 0.5) << "a short run still searches";
  EXPECT_EQ(reserve(std::vector{fresh}, nothing_seen, -1), 0);

  // the observed frames take 400 launches
  const Expectation seen(
      std::vector<Prospect>(20, {.trials = 5, .seconds = 5, .frame_seconds = 5, .least_us = 10'000}));
  EXPECT_NEAR(seen.frame_launches, 400, 40);
  EXPECT_NEAR(reserve(std::vector{fresh, fresh}, seen, 100), 2 * 4.8, 0.4);
}

// Whatever the kernels are, each of them stops, and one of them continues as long as there is time. Otherwise a run
// could make passes that do nothing.
TEST(Shares, TheFirstOneIsAlwaysWorthItsTime) {
  for (const double seconds : {0.1, 10.0, 1e6}) {
    const std::vector<Prospect> kernels = {
        after({1, 1, 0}, 50), after({2, 0.01, 0.3}, 400), {}, after({1, 60, 0.1}, 1)};
    const Expectation expectation(kernels);
    const double least = gain_to_stop_at(kernels, expectation, seconds);
    double best = 0;
    for (const Prospect& kernel : kernels) best = std::max(best, gain_per_second(kernel, expectation));
    EXPECT_GE(best, least) << seconds;
    EXPECT_GT(least, 0);
  }
}

}  // namespace
}  // namespace deplo::engine
