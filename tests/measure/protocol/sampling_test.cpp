#include "measure/protocol/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "measure/scripted.h"

namespace deplo::measure::sampling_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
constexpr double none = std::numeric_limits<double>::infinity();

class Sampling : public ::testing::Test {
 protected:
  Result<Timing> run(ScriptedCopy& kernel, Grid grid, double best_us = none) {
    return screen(kernel, grid, problem_, protocol_, best_us);
  }
  ScriptedDevice device_;
  Problem problem_{copy_program(), device_, 1};
  Protocol protocol_;
};

TEST_F(Sampling, FirstLaunchIsDiscardedAndTheMedianOfFiveCounts) {
  const double times[] = {900, 700, 300, 320, 5000, 310, 290, 1};  // longer than sample_us: batches of one
  ScriptedCopy kernel(1, [&](int i, std::int64_t) { return times[i]; });
  const Timing timing = run(kernel, {1, 2}).value();
  EXPECT_THAT(timing.samples, ElementsAre(300, 320, 5000, 310, 290));
  EXPECT_EQ(timing.median_us, 310);
  EXPECT_EQ(timing.fidelity, 1);
  EXPECT_EQ(timing.batch, 1);
}

TEST_F(Sampling, ShortKernelsAreBatched) {
  ScriptedCopy kernel(1, [](int, std::int64_t) { return 10.0; });
  EXPECT_EQ(run(kernel, {1, 1}).value().batch, 20);
  EXPECT_EQ(kernel.launches, 1 + 20 + 5 * 20 + 1);
  ScriptedCopy tiny(1, [](int, std::int64_t) { return 0.1; });
  EXPECT_EQ(run(tiny, {1, 1}).value().batch, 64);
}

TEST_F(Sampling, ASlowOneStopsAfterOneSample) {
  ScriptedCopy kernel(1, [](int, std::int64_t) { return 400.0; });
  EXPECT_THAT(run(kernel, {1, 1}, 350).value().samples, ElementsAre(400));
  const Timing near_by = run(kernel, {1, 1}, 370).value();  // within 10 % of the best time
  EXPECT_EQ(near_by.samples.size(), 5U);
  EXPECT_FALSE(near_by.stopped);
  ScriptedCopy twice(1, [](int, std::int64_t) { return 400.0; });
  const Timing stopped = run(twice, {1, 1}, 200).value();
  EXPECT_TRUE(stopped.stopped);
  EXPECT_THAT(stopped.samples, ElementsAre(400));
  EXPECT_EQ(twice.launches, 2);  // the check, and the sample that is otherwise discarded
}

TEST_F(Sampling, AnUnluckySampleDoesNotStopAGoodOne) {
  const double times[] = {300, 300, 310, 900, 305, 900, 300, 300};
  ScriptedCopy kernel(1, [&](int i, std::int64_t) { return times[i]; });
  EXPECT_EQ(run(kernel, {1, 1}, 300).value().samples.size(), 5U);
}

TEST_F(Sampling, ALongRunIsAPrefixInWholeWaves) {
  // 1000 blocks of 1 ms each, two at a time, take 500 ms. In 100 ms, 200 blocks run.
  ScriptedCopy kernel(1000, [](int, std::int64_t blocks) { return 1000.0 * std::ceil(blocks / 2.0); });
  const Timing timing = run(kernel, {1000, 2}).value();
  EXPECT_EQ(timing.fidelity, 0.2);
  EXPECT_THAT(timing.samples, Each(500e3));
  EXPECT_EQ(kernel.sizes.front(), 4);
  EXPECT_EQ(kernel.sizes.back(), 200);
}

TEST_F(Sampling, ARunWithinTheLimitIsWholeAlsoWhenTheProbeLookedLong) {
  // A launch takes at least 5 ms. So the probe's 4 of 1000 blocks suggest a time of 1.25 s, but all blocks take 6 ms.
  ScriptedCopy kernel(1000, [](int, std::int64_t blocks) { return 5000.0 + static_cast<double>(blocks); });
  const Timing timing = run(kernel, {1000, 2}).value();
  EXPECT_EQ(timing.fidelity, 1);
  EXPECT_EQ(timing.median_us, 6000);
}

TEST_F(Sampling, AHopelessOneRunsItsFirstBlocksOnly) {
  ScriptedCopy kernel(1000, [](int, std::int64_t blocks) { return 50.0 * static_cast<double>(blocks); });
  const Timing timing = run(kernel, {1000, 2}, 10e3).value();
  EXPECT_THAT(kernel.sizes, Each(4));
  EXPECT_EQ(timing.fidelity, 0.004);
  EXPECT_THAT(timing.samples, ElementsAre(50e3));
  EXPECT_TRUE(timing.stopped);
}

TEST_F(Sampling, AColdFirstLaunchIsNotHopeless) {
  ScriptedCopy kernel(1000,
                      [](int i, std::int64_t blocks) { return (i == 0 ? 50.0 : 1.0) * static_cast<double>(blocks); });
  const Timing timing = run(kernel, {1000, 2}, 1000).value();
  EXPECT_EQ(timing.fidelity, 1);
  EXPECT_EQ(timing.median_us, 1000);
}

TEST_F(Sampling, TimesThatAreNone) {
  for (const double time : {0.0, -1.0, std::nan(""), none}) {
    ScriptedCopy at_once(1, [&](int, std::int64_t) { return time; });
    EXPECT_EQ(run(at_once, {1, 1}).failure().status, Status::noop);
    ScriptedCopy later(1, [&](int i, std::int64_t) { return i < 1 ? 300.0 : time; });
    EXPECT_EQ(run(later, {1, 1}).failure().status, Status::noop);
  }
}

TEST_F(Sampling, LaunchErrorsAreTheOutcome) {
  ScriptedCopy kernel(1, [](int i, std::int64_t) -> Result<double> {
    if (i < 3) return 300.0;
    return Failure{Status::launch_error, "CL_OUT_OF_RESOURCES"};
  });
  EXPECT_EQ(run(kernel, {1, 1}).failure().message, "CL_OUT_OF_RESOURCES");
}

TEST_F(Sampling, AWrongOneIsNeverTimed) {
  ScriptedCopy kernel(1, [](int, std::int64_t) { return 300.0; });
  kernel.damage = [](int, std::vector<float>& output) { output[999] += 1; };
  const auto result = run(kernel, {1, 1});
  EXPECT_EQ(result.failure().status, Status::wrong_result);
  EXPECT_THAT(result.failure().message, HasSubstr("b[999]: expected"));
  EXPECT_EQ(kernel.launches, 1);
}

// Writes 0 to the elements that no block has written, like the fill before a launch.
void fill_poison(std::vector<float>& output) {
  for (float& value : output)
    if (std::isnan(value)) value = 0;
}

TEST_F(Sampling, BlocksThatAddAreCheckedOnAWholeRun) {
  ScriptedCopy kernel(1000, [](int, std::int64_t blocks) { return 500.0 * static_cast<double>(blocks); });
  kernel.damage = [](int, std::vector<float>& output) { fill_poison(output); };
  const Timing timing = run(kernel, {1000, 2, true}).value();
  EXPECT_EQ(timing.fidelity, 0.2);
  EXPECT_EQ(std::count(kernel.sizes.begin(), kernel.sizes.end(), 1000), 1);
  EXPECT_EQ(kernel.sizes.back(), 200);
  ScriptedCopy wrong(1000, [](int, std::int64_t blocks) { return 500.0 * static_cast<double>(blocks); });
  wrong.damage = [](int, std::vector<float>& output) { output[500] = 7; };
  EXPECT_EQ(run(wrong, {1000, 2, true}).failure().status, Status::wrong_result);
}

TEST_F(Sampling, AHopelessOneThatAddsIsNotRunWhole) {
  ScriptedCopy kernel(1000, [](int, std::int64_t blocks) { return 50.0 * static_cast<double>(blocks); });
  kernel.damage = [](int, std::vector<float>& output) { output[0] = 7; };  // an incomplete sum
  EXPECT_EQ(run(kernel, {1000, 2, true}, 10e3).failure().status, Status::slow);
  EXPECT_THAT(kernel.sizes, Each(4));
}

TEST_F(Sampling, AWrongPrefixIsFound) {
  ScriptedCopy kernel(1000, [](int, std::int64_t blocks) { return 1000.0 * static_cast<double>(blocks); });
  kernel.damage = [](int, std::vector<float>& output) { output[0] = 7; };
  EXPECT_EQ(run(kernel, {1000, 2}).failure().status, Status::wrong_result);
}

TEST_F(Sampling, TwoRunsWithDifferentBits) {
  for (const bool adds : {false, true}) {
    ScriptedCopy kernel(1, [](int, std::int64_t) { return 300.0; });
    kernel.damage = [](int launch, std::vector<float>& output) {
      if (launch > 3) output[7] = std::nextafter(output[7], 2.0F);
    };
    const auto result = run(kernel, {1, 1, adds});
    EXPECT_EQ(result.ok() ? Status::ok : result.failure().status, adds ? Status::ok : Status::nondeterministic);
  }
}

TEST_F(Sampling, WrongAfterTheLastSample) {
  ScriptedCopy kernel(1, [](int, std::int64_t) { return 300.0; });
  kernel.damage = [](int launch, std::vector<float>& output) {
    if (launch > 6) output[7] = 3;
  };
  EXPECT_EQ(run(kernel, {1, 1}).failure().status, Status::wrong_result);
}

TEST_F(Sampling, AWriteBesideABuffer) {
  ScriptedCopy kernel(1, [](int, std::int64_t) { return 300.0; });
  static_cast<ScriptedArrays&>(problem_.arrays()).beside = "wrote outside of 'b'";
  const auto result = run(kernel, {1, 1});
  EXPECT_EQ(result.failure().status, Status::guard_hit);
  EXPECT_EQ(result.failure().message, "wrote outside of 'b'");
}

TEST_F(Sampling, FinalistsAreTheBestAndThoseThatAreAboutAsGood) {
  std::vector<double> us(20, 101);
  us[3] = 100;
  EXPECT_EQ(finalists(us, protocol_).size(), 16U);
  EXPECT_EQ(finalists(us, protocol_).front(), 3U);
  for (std::size_t i = 4; i < us.size(); ++i) us[i] = 104;
  EXPECT_EQ(finalists(us, protocol_).size(), 8U);
  EXPECT_THAT(finalists(std::vector<double>{5, 3, 9}, protocol_), ElementsAre(1, 0));
  EXPECT_TRUE(finalists({}, protocol_).empty());
}

TEST_F(Sampling, AWiderMarginMakesSlowCandidatesFinalists) {
  std::vector<double> us(20, 700);
  us[3] = 100;
  us[4] = 801;
  EXPECT_EQ(finalists(us, protocol_).size(), 1U);
  Protocol wide = protocol_;
  wide.finalist_margin = 8;
  wide.max_finalists = 1000;
  EXPECT_EQ(finalists(us, wide).size(), 19U);
}

TEST_F(Sampling, ConfirmTakesRoundsInShuffledOrder) {
  std::vector<int> order;
  ScriptedCopy a(1, [&](int, std::int64_t) { return order.push_back(0), 2000.0; });
  ScriptedCopy b(1, [&](int, std::int64_t) { return order.push_back(1), 1500.0; });
  const Contender contenders[] = {{&a, {1, 1}}, {&b, {1, 1}}};
  const auto results = confirm(contenders, problem_, protocol_, {.seed = 3, .seconds = none, .cancelled = {}});
  EXPECT_EQ(results[0].value().median_us, 2000);
  EXPECT_EQ(results[1].value().median_us, 1500);
  EXPECT_EQ(results[0].value().samples.size(), 15U);
  ASSERT_EQ(order.size(), 4U + 30 + 2);  // checks and first samples, rounds, checks
  int first_a = 0;
  for (std::size_t round = 0; round < 15; ++round) {
    EXPECT_NE(order[4 + 2 * round], order[5 + 2 * round]);
    first_a += order[4 + 2 * round] == 0;
  }
  EXPECT_GT(first_a, 0);
  EXPECT_LT(first_a, 15);
}

TEST_F(Sampling, ConfirmChecksInFullBeforeAndAfter) {
  ScriptedCopy right(1, [](int, std::int64_t) { return 2000.0; });
  ScriptedCopy wrong(1, [](int, std::int64_t) { return 1.0; });
  wrong.damage = [](int, std::vector<float>& output) { output[500] = 3; };
  ScriptedCopy racy(1, [](int, std::int64_t) { return 2000.0; });
  racy.damage = [](int launch, std::vector<float>& output) {
    if (launch == 17) output[3] = 9;
  };
  const Contender contenders[] = {{&right, {1, 1}}, {&wrong, {1, 1}}, {&racy, {1, 1}}};
  const auto results = confirm(contenders, problem_, protocol_, {});
  EXPECT_TRUE(results[0].ok());
  EXPECT_EQ(results[1].failure().status, Status::wrong_result);
  EXPECT_EQ(wrong.launches, 1);
  EXPECT_EQ(results[2].failure().status, Status::wrong_result);
}

TEST_F(Sampling, ConfirmEndsInTimeAndWhenCancelled) {
  ScriptedCopy kernel(1, [](int, std::int64_t) { return 2000.0; });
  const Contender contenders[] = {{&kernel, {1, 1}}};
  const auto short_of_time = confirm(contenders, problem_, protocol_, {.seed = 0, .seconds = 0, .cancelled = {}});
  EXPECT_EQ(short_of_time[0].value().samples.size(), 1U);
  int polls = 0;
  const auto cancelled =
      confirm(contenders, problem_, protocol_, {.seed = 0, .seconds = none, .cancelled = [&] { return ++polls > 4; }});
  EXPECT_EQ(cancelled[0].value().samples.size(), 3U);
  const auto at_once =
      confirm(contenders, problem_, protocol_, {.seed = 0, .seconds = none, .cancelled = [] { return true; }});
  EXPECT_EQ(at_once[0].failure().status, Status::cancelled);
}

TEST(Protocol, TextNamesEveryNumber) {
  const Protocol defaults;
  EXPECT_EQ(defaults.text(),
            "v2 device-span cold=3xL2<=64sets<=1024MiB full_ms=100 slow=3x200us samples=5 sample_us=200 stop=1.5,1.1 "
            "confirm_us=1000 finalists=8,16x1.03 rounds=15..60 tie=0.005 warm=5 clock=0.75,0.97 batch=64 "
            "plausible=0.9");
  Protocol other;
  other.full_run_ms = 50;
  EXPECT_NE(other.text(), defaults.text());
  Protocol lenient;
  lenient.tolerance = 0.01;
  lenient.inputs = "x: uniform(0, 1)";
  EXPECT_EQ(lenient.text(), defaults.text() + " tolerance=0.01 inputs={x: uniform(0, 1)}");
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
  source.cluster = 8;
  gpu.units = 114;
  source.threads = 1024;
  EXPECT_EQ(grid_of(source, gpu).wave, 232) << "whole clusters";
}

}  // namespace
}  // namespace deplo::measure::sampling_test
