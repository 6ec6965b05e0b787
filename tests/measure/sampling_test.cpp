#include "measure/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "simulated.h"

namespace deplo::measure {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
constexpr double none = std::numeric_limits<double>::infinity();

class Sampling : public testing::Test {
 protected:
  Result<Timing> run(SimulatedCopy& kernel, Grid grid, double best_us = none) {
    return screen(kernel, grid, problem_, protocol_, best_us);
  }
  SimulatedDevice device_;
  Problem problem_{copy_program(), device_, 1};
  Protocol protocol_;
};

TEST_F(Sampling, FirstLaunchIsDiscardedAndTheMedianOfFiveCounts) {
  const double times[] = {900, 300, 320, 5000, 310, 290};  // longer than W: batches of one
  SimulatedCopy kernel(1, [&](int i, std::int64_t) { return times[i]; });
  const Timing timing = run(kernel, {1, 2}).value();
  EXPECT_THAT(timing.samples, ElementsAre(300, 320, 5000, 310, 290));
  EXPECT_EQ(timing.median_us, 310);
  EXPECT_EQ(timing.fidelity, 1);
  EXPECT_EQ(timing.batch, 1);
}

TEST_F(Sampling, ShortKernelsAreBatched) {
  SimulatedCopy kernel(1, [](int, std::int64_t) { return 10.0; });
  EXPECT_EQ(run(kernel, {1, 1}).value().batch, 20);
  EXPECT_EQ(kernel.launches, 1 + 5 * 20);
  SimulatedCopy tiny(1, [](int, std::int64_t) { return 0.1; });
  EXPECT_EQ(run(tiny, {1, 1}).value().batch, 64);
}

TEST_F(Sampling, ASlowOneStopsAfterOneSample) {
  SimulatedCopy kernel(1, [](int, std::int64_t) { return 400.0; });
  EXPECT_THAT(run(kernel, {1, 1}, 350).value().samples, ElementsAre(400));
  EXPECT_EQ(run(kernel, {1, 1}, 370).value().samples.size(), 5U);  // within 10 %
}

TEST_F(Sampling, AnUnluckySampleDoesNotStopAGoodOne) {
  const double times[] = {300, 310, 900, 305, 900, 300};
  SimulatedCopy kernel(1, [&](int i, std::int64_t) { return times[i]; });
  EXPECT_EQ(run(kernel, {1, 1}, 300).value().samples.size(), 5U);
}

TEST_F(Sampling, ALongRunIsAPrefixInWholeWaves) {
  // 1000 blocks at 1 ms each, two at a time: 500 ms in full, 100 ms are 200 blocks.
  SimulatedCopy kernel(1000, [](int, std::int64_t blocks) { return 1000.0 * std::ceil(blocks / 2.0); });
  const Timing timing = run(kernel, {1000, 2}).value();
  EXPECT_EQ(timing.fidelity, 0.2);
  EXPECT_THAT(timing.samples, Each(500e3));
  EXPECT_EQ(kernel.sizes.front(), 4);
  EXPECT_EQ(kernel.sizes.back(), 200);
}

TEST_F(Sampling, ARunWithinTheLimitIsWholeAlsoWhenTheProbeLookedLong) {
  // A launch costs 5 ms whatever it does: the probe's 4 of 1000 blocks look like 1.25 s, the whole takes 6 ms.
  SimulatedCopy kernel(1000, [](int, std::int64_t blocks) { return 5000.0 + static_cast<double>(blocks); });
  const Timing timing = run(kernel, {1000, 2}).value();
  EXPECT_EQ(timing.fidelity, 1);
  EXPECT_EQ(timing.median_us, 6000);
}

TEST_F(Sampling, AHopelessOneRunsItsFirstBlocksOnly) {
  SimulatedCopy kernel(1000, [](int, std::int64_t blocks) { return 50.0 * static_cast<double>(blocks); });
  const Timing timing = run(kernel, {1000, 2}, 10e3).value();
  EXPECT_THAT(kernel.sizes, Each(4));
  EXPECT_EQ(timing.fidelity, 0.004);
  EXPECT_THAT(timing.samples, ElementsAre(50e3));
}

TEST_F(Sampling, AColdFirstLaunchIsNotHopeless) {
  SimulatedCopy kernel(1000,
                       [](int i, std::int64_t blocks) { return (i == 0 ? 50.0 : 1.0) * static_cast<double>(blocks); });
  const Timing timing = run(kernel, {1000, 2}, 1000).value();
  EXPECT_EQ(timing.fidelity, 1);
  EXPECT_EQ(timing.median_us, 1000);
}

TEST_F(Sampling, ImplausibleTimes) {
  for (const double time : {0.0, -1.0, std::nan(""), none}) {
    SimulatedCopy at_once(1, [&](int, std::int64_t) { return time; });
    EXPECT_EQ(run(at_once, {1, 1}).failure().status, Status::implausible);
    SimulatedCopy later(1, [&](int i, std::int64_t) { return i < 1 ? 300.0 : time; });
    EXPECT_EQ(run(later, {1, 1}).failure().status, Status::implausible);
  }
}

TEST_F(Sampling, LaunchErrorsAreTheOutcome) {
  SimulatedCopy kernel(1, [](int i, std::int64_t) -> Result<double> {
    if (i < 3) return 300.0;
    return Failure{Status::launch_error, "CL_OUT_OF_RESOURCES"};
  });
  EXPECT_EQ(run(kernel, {1, 1}).failure().message, "CL_OUT_OF_RESOURCES");
}

TEST_F(Sampling, AWrongOneIsNeverTimed) {
  SimulatedCopy kernel(1, [](int, std::int64_t) { return 300.0; });
  kernel.damage = [](int, std::vector<float>& output) { output[999] += 1; };
  const auto result = run(kernel, {1, 1});
  EXPECT_EQ(result.failure().status, Status::wrong_result);
  EXPECT_THAT(result.failure().message, HasSubstr("b[999]: expected"));
  EXPECT_EQ(kernel.launches, 1);
}

// What the fill before a launch leaves where no block has written.
void fill_poison(std::vector<float>& output) {
  for (float& value : output)
    if (std::isnan(value)) value = 0;
}

TEST_F(Sampling, BlocksThatAddAreCheckedOnAWholeRun) {
  SimulatedCopy kernel(1000, [](int, std::int64_t blocks) { return 500.0 * static_cast<double>(blocks); });
  kernel.damage = [](int, std::vector<float>& output) { fill_poison(output); };
  const Timing timing = run(kernel, {1000, 2, true}).value();
  EXPECT_EQ(timing.fidelity, 0.2);
  EXPECT_EQ(std::count(kernel.sizes.begin(), kernel.sizes.end(), 1000), 1);
  EXPECT_EQ(kernel.sizes.back(), 200);
  SimulatedCopy wrong(1000, [](int, std::int64_t blocks) { return 500.0 * static_cast<double>(blocks); });
  wrong.damage = [](int, std::vector<float>& output) { output[500] = 7; };
  EXPECT_EQ(run(wrong, {1000, 2, true}).failure().status, Status::wrong_result);
}

TEST_F(Sampling, AHopelessOneThatAddsIsNotRunWhole) {
  SimulatedCopy kernel(1000, [](int, std::int64_t blocks) { return 50.0 * static_cast<double>(blocks); });
  kernel.damage = [](int, std::vector<float>& output) {
    fill_poison(output);
    output[0] = 7;  // a part of a sum
  };
  EXPECT_TRUE(run(kernel, {1000, 2, true}, 10e3).ok());
  EXPECT_THAT(kernel.sizes, Each(4));
  kernel.damage = [](int, std::vector<float>& output) { output[0] = std::nanf(""); };
  EXPECT_EQ(run(kernel, {1000, 2, true}, 10e3).failure().status, Status::wrong_result);
}

TEST_F(Sampling, AWrongPrefixIsFound) {
  SimulatedCopy kernel(1000, [](int, std::int64_t blocks) { return 1000.0 * static_cast<double>(blocks); });
  kernel.damage = [](int, std::vector<float>& output) { output[0] = 7; };
  EXPECT_EQ(run(kernel, {1000, 2}).failure().status, Status::wrong_result);
}

TEST_F(Sampling, ConfirmTakesRoundsInShuffledOrder) {
  std::vector<int> order;
  SimulatedCopy a(1, [&](int, std::int64_t) { return order.push_back(0), 2000.0; });
  SimulatedCopy b(1, [&](int, std::int64_t) { return order.push_back(1), 1500.0; });
  const Contender contenders[] = {{&a, {1, 1}}, {&b, {1, 1}}};
  const auto results = confirm(contenders, problem_, protocol_, {.seed = 3, .seconds = none, .cancelled = {}});
  EXPECT_EQ(results[0].value().median_us, 2000);
  EXPECT_EQ(results[1].value().median_us, 1500);
  EXPECT_EQ(results[0].value().samples.size(), 15U);
  ASSERT_EQ(order.size(), 2U + 30 + 2);
  int first_a = 0;
  for (std::size_t round = 0; round < 15; ++round) {
    EXPECT_NE(order[2 + 2 * round], order[3 + 2 * round]);
    first_a += order[2 + 2 * round] == 0;
  }
  EXPECT_GT(first_a, 0);
  EXPECT_LT(first_a, 15);
}

TEST_F(Sampling, ConfirmChecksInFullBeforeAndAfter) {
  SimulatedCopy right(1, [](int, std::int64_t) { return 2000.0; });
  SimulatedCopy wrong(1, [](int, std::int64_t) { return 1.0; });
  wrong.damage = [](int, std::vector<float>& output) { output[500] = 3; };
  SimulatedCopy racy(1, [](int, std::int64_t) { return 2000.0; });
  racy.damage = [](int launch, std::vector<float>& output) {
    if (launch == 16) output[3] = 9;
  };
  const Contender contenders[] = {{&right, {1, 1}}, {&wrong, {1, 1}}, {&racy, {1, 1}}};
  const auto results = confirm(contenders, problem_, protocol_, {});
  EXPECT_TRUE(results[0].ok());
  EXPECT_EQ(results[1].failure().status, Status::wrong_result);
  EXPECT_EQ(wrong.launches, 1);
  EXPECT_EQ(results[2].failure().status, Status::wrong_result);
}

TEST_F(Sampling, ConfirmEndsInTimeAndWhenCancelled) {
  SimulatedCopy kernel(1, [](int, std::int64_t) { return 2000.0; });
  const Contender contenders[] = {{&kernel, {1, 1}}};
  const auto short_of_time = confirm(contenders, problem_, protocol_, {.seed = 0, .seconds = 0, .cancelled = {}});
  EXPECT_EQ(short_of_time[0].value().samples.size(), 1U);
  int polls = 0;
  const auto cancelled =
      confirm(contenders, problem_, protocol_, {.seed = 0, .seconds = none, .cancelled = [&] { return ++polls > 4; }});
  EXPECT_EQ(cancelled[0].value().samples.size(), 3U);
  const auto at_once =
      confirm(contenders, problem_, protocol_, {.seed = 0, .seconds = none, .cancelled = [] { return true; }});
  EXPECT_EQ(at_once[0].failure().status, Status::timeout);
}

TEST(Protocol, TextNamesEveryNumber) {
  const Protocol defaults;
  EXPECT_EQ(defaults.text(),
            "v1 device-events warm-operands samples=5 sample_us=200 confirm_us=1000 batch=64 stop=1.1 full_ms=100 "
            "slow=3x200us rounds=15");
  Protocol other;
  other.full_run_ms = 50;
  EXPECT_NE(other.text(), defaults.text());
}

TEST(Grid, WavesFollowTheDevice) {
  DeviceInfo cpu, gpu;
  cpu.units = 2;
  cpu.cpu = true;
  gpu.units = 132;
  ir::KernelSource source;
  source.blocks = 1000;
  source.threads = 256;
  EXPECT_EQ(grid_of(source, cpu).wave, 2);
  EXPECT_EQ(grid_of(source, gpu).wave, 132 * 8);
}

TEST(Median, OfOddAndEvenCounts) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({7}), 7);
}

}  // namespace
}  // namespace deplo::measure
