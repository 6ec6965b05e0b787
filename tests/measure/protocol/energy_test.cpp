// The energy of a launch, measured by counters that move in steps.
#include "measure/protocol/energy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

#include "core/rng.h"
#include "measure/protocol/sampling.h"
#include "measure/scripted.h"
#include "measure/simulated.h"

namespace deplo::measure::energy_test {
namespace {

using ::testing::HasSubstr;
constexpr double none = std::numeric_limits<double>::infinity();

/// Launches that take a fixed time.
class Launches final : public Executable {
 public:
  explicit Launches(double launch_us) : launch_us_(launch_us) {}
  Result<double> launch(Arrays&, std::int64_t) override { return launch_us_; }
  std::optional<Failure> repeat(std::span<Arrays* const>, std::int64_t, int batch,
                                const std::function<void()>& meanwhile) override {
    meanwhile();
    us += batch * launch_us_;
    batches.push_back(batch);
    return std::nullopt;
  }
  const Resources& resources() const override { return resources_; }
  double us = 0;  // time of all launches so far
  std::vector<int> batches;

 private:
  double launch_us_;
  Resources resources_;
};

/// A counter whose value is a function, the script, of the total time of the launches in microseconds.
class ScriptedCounter final : public EnergyCounter {
 public:
  using Script = std::function<Result<double>(double us)>;
  ScriptedCounter(const double& us, Script script, double step_us = 125e3)
      : us_(us), script_(std::move(script)), step_us_(step_us) {}
  Result<double> millijoules() override { return script_(us_); }
  double step_us() const override { return step_us_; }

 private:
  const double& us_;
  Script script_;
  double step_us_;
};

constexpr double watts = 400;

/// Returns a script whose steps are 70 to 125 ms long, like those of an H200.
ScriptedCounter::Script irregular(std::uint64_t seed) {
  std::vector<double> steps = {-Rng(seed).uniform(0, 125e3)};
  Rng rng(seed + 1);
  while (steps.back() < 60e6) steps.push_back(steps.back() + rng.uniform(70e3, 125e3));
  return [steps](double us) {
    const double step = *std::prev(std::ranges::upper_bound(steps, us));
    return 1e6 + watts * step * 1e-3;
  };
}

struct Measured {
  Result<double> energy;
  double us = 0;        // time of all launches
  double batch_us = 0;  // longest time of a batch
};
/// `expected_us`: the expected time of a launch; 0: `launch_us`.
Measured measure_energy(double launch_us, const ScriptedCounter::Script& script, double step_us = 125e3,
                        double expected_us = 0) {
  ScriptedDevice device;
  OperandSets sets(device, copy_program().buffers, 3);
  Launches launches(launch_us);
  ScriptedCounter counter(launches.us, script, step_us);
  auto energy = energy_of_launch(launches, sets, 1, expected_us > 0 ? expected_us : launch_us, counter);
  return {std::move(energy), launches.us, std::ranges::max(launches.batches) * launch_us};
}

// The error stays within its bound for launches of any length, and for any start within a step of the counter.
TEST(Energy, IsWithinTheClaimedError) {
  for (const double launch_us : {1.0, 3.7, 40.0, 900.0, 20e3, 90e3, 300e3})
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      SCOPED_TRACE(::testing::Message() << launch_us << " us, seed " << seed);
      const auto [energy, spent, batch_us] = measure_energy(launch_us, irregular(seed));
      ASSERT_TRUE(energy.ok()) << energy.failure().message;
      const double exact = watts * launch_us * 1e-3;
      // A busy machine may read the counter slowly, and batches last twice as long as a reading.
      const bool usual = batch_us <= 5000;
      EXPECT_NEAR(energy.value(), exact, (usual ? energy_tie / 2 : energy_tie) * exact);
      EXPECT_GE(spent, energy_seconds * 1e6);
      EXPECT_LE(spent, usual ? 0.8e6 : 7.5e6);
    }
}

// The error of a counter with short steps is at most one step.
TEST(Energy, LongLaunchesTakeLongOnlyWhereStepsAreLong) {
  const auto [energy, spent, batch_us] = measure_energy(
      90e3, [](double us) { return watts * std::floor(us / 1000); }, 1000);
  EXPECT_NEAR(energy.value(), watts * 90, 1);
  EXPECT_LE(spent, 1e6);
}

// A GPU's clock falls under load, so launches take longer than when they were timed.
TEST(Energy, IsOfTheLaunchesAsTheyRun) {
  const double energy = measure_energy(130, irregular(5), 125e3, 100).energy.value();
  EXPECT_NEAR(energy, watts * 0.130, energy_tie / 2 * watts * 0.130);
}

TEST(Energy, ACounterThatStandsStillIsAFailure) {
  for (const double stops : {0.0, 300e3}) {
    const auto [energy, spent, batch_us] =
        measure_energy(50, [=](double us) { return std::floor(std::min(us, stops) / 100e3); });
    ASSERT_FALSE(energy.ok());
    EXPECT_EQ(energy.failure().status, Status::no_energy);
    EXPECT_THAT(energy.failure().message,
                HasSubstr(fmt::format("energy counter stood still at {} mJ for 2 s", stops / 100e3)));
    EXPECT_LE(spent, stops + 2.1e6);
  }
}

TEST(Energy, ACounterThatGoesBackOrFailsIsAFailure) {
  const auto back = measure_energy(50, [](double us) { return 1e6 - std::floor(us / 100e3); });
  EXPECT_THAT(back.energy.failure().message, HasSubstr("went back from 999999 to 99999"));
  const auto gone = measure_energy(50, [](double us) -> Result<double> {
    if (us > 300e3) return Failure{Status::no_energy, "gone"};
    return std::floor(us / 100e3);
  });
  EXPECT_EQ(gone.energy.failure().message, "gone");
}

// The device must not be idle while the counter is read.
TEST(Energy, ASlowReadingGetsLongerBatches) {
  ScriptedDevice device;
  OperandSets sets(device, copy_program().buffers, 1);
  Launches launches(100);
  ScriptedCounter counter(launches.us, [](double us) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return us;
  });
  EXPECT_DOUBLE_EQ(energy_of_launch(launches, sets, 1, 100, counter).value(), 100);
  EXPECT_THAT(launches.batches, ::testing::Each(::testing::Ge(2 * 5000 / 100)));
}

TEST(Energy, AFailureOfALaunchIsThat) {
  ScriptedCopy kernel(1, [](int, std::int64_t) { return Failure{Status::launch_error, "refused"}; });
  ScriptedDevice device;
  OperandSets sets(device, copy_program().buffers, 1);
  const double total_us = 0;
  ScriptedCounter counter(total_us, [](double) { return 0.0; });
  EXPECT_EQ(energy_of_launch(kernel, sets, 1, 50, counter).failure().status, Status::launch_error);
}

/// Candidates whose name is their time. Their power is 100 more than their time.
class SimulatedEnergy : public ::testing::Test {
 protected:
  std::unique_ptr<Executable> build(double us) {
    KernelCode code;
    code.source.entry = std::to_string(us);
    return std::move(device_.build(code).value());
  }
  SimulatedDevice device_{copy_program(),
                          [](const KernelCode& code) { return std::stod(code.source.entry); },
                          {.noise = 0.05},
                          7,
                          [](const KernelCode& code) { return 100 + std::stod(code.source.entry); }};
  Problem problem_{copy_program(), device_, 1};
  Protocol protocol_;
};

TEST_F(SimulatedEnergy, IsMeasuredOfWhatWasTimedWhereItIsAskedFor) {
  const auto fast = build(60), slow = build(200);
  const Timing timing = screen(*fast, {1, 1}, problem_, protocol_, none, &device_.energy()).value();
  EXPECT_NEAR(timing.energy_mj, 160 * timing.median_us * 1e-3, 0.1 * 160 * 60 * 1e-3);
  EXPECT_EQ(screen(*fast, {1, 1}, problem_, protocol_, none).value().energy_mj, 0);
  const double before = device_.now();
  const Timing stopped = screen(*slow, {1, 1}, problem_, protocol_, 60, &device_.energy()).value();
  EXPECT_TRUE(stopped.stopped);
  EXPECT_EQ(stopped.energy_mj, 0);
  EXPECT_LE(device_.now() - before, 0.1e6) << "no energy of what is too slow";

  const std::vector<Contender> contenders = {{fast.get(), {1, 1}}, {slow.get(), {1, 1}}};
  ConfirmOptions options;
  options.energy = &device_.energy();
  const auto confirmed = confirm(contenders, problem_, protocol_, options);
  EXPECT_NEAR(confirmed[0].value().energy_mj, 160 * 60 * 1e-3, 0.05 * 160 * 60 * 1e-3);
  EXPECT_NEAR(confirmed[1].value().energy_mj, 300 * 200 * 1e-3, 0.05 * 300 * 200 * 1e-3);
  EXPECT_EQ(confirmed[0].value().samples.size(), confirmed[1].value().samples.size());
}

// If only a part of the grid runs, its energy is scaled to the whole grid, like its time.
TEST(Energy, OfAPrefixStandsForTheWholeGrid) {
  ScriptedDevice device;
  Problem problem(copy_program(), device, 1);
  double total_us = 0;
  ScriptedCopy kernel(1000, [&](int, std::int64_t blocks) {
    const double time = 500.0 * static_cast<double>(blocks);
    total_us += time;
    return time;
  });
  ScriptedCounter counter(
      total_us, [](double us) { return 0.1 * us; }, 1000);
  const Timing timing = screen(kernel, {1000, 2}, problem, Protocol(), none, &counter).value();
  EXPECT_EQ(timing.fidelity, 0.2);
  EXPECT_DOUBLE_EQ(timing.energy_mj, 0.1 * 500e3);
}

}  // namespace
}  // namespace deplo::measure::energy_test
