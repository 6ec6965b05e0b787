// Schedules of a kernel of Loop IR, searched for time and energy together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "engine/loop/kernel.h"
#include "engine/search_alone.h"
#include "measure/protocol/energy.h"
#include "measure/store_fixture.h"
#include "measure/worker/runner.h"

namespace deplo::engine::energy_front_test {
namespace {

using measure::worker::Reply;

/// Time and energy of a source. The faster of two schedules usually takes more energy.
struct Taken {
  double us = 0, mj = 0;
};
Taken taken(const std::string& source) {
  const auto draw = [&](const char* what) {
    return static_cast<double>(std::hash<std::string>{}(what + source) % 1000) / 1000;
  };
  const double us = 10 + 10 * draw("time");
  return {us, 100 / us + draw("energy")};
}

class MeteredRunner final : public measure::worker::Runner {
 public:
  const measure::DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return Dialect::opencl; }
  std::string why_no_energy() override { return ""; }
  void open(const measure::worker::Task& task) override { EXPECT_TRUE(task.energy); }
  rules::Ceilings ceilings() const override { return {}; }
  std::size_t batch() const override { return 1; }
  void prepare(std::span<const measure::KernelCode>) override {}
  Reply screen(const measure::KernelCode& candidate, double best_us, double) override {
    EXPECT_GT(best_us, 1e9) << "none is abandoned for being slow";
    return reply(candidate);
  }
  const measure::worker::Libraries& libraries() const override { return libraries_; }
  std::vector<Reply> confirm(std::span<const measure::KernelCode> candidates, const measure::ConfirmOptions&) override {
    std::vector<Reply> replies;
    for (const measure::KernelCode& candidate : candidates) replies.push_back(reply(candidate));
    return replies;
  }

 private:
  static Reply reply(const measure::KernelCode& candidate) {
    const Taken found = taken(candidate.source.text);
    measure::Timing timing;
    timing.median_us = found.us;
    timing.energy_mj = found.mj;
    timing.fidelity = 1;
    timing.samples = {timing.median_us};
    return {timing};
  }
  measure::DeviceInfo info_ = measure::some_device();
  measure::worker::Libraries libraries_;
};

TEST(EnergyFront, IsThatOfAllThatWasMeasured) {
  KernelCase kernel{"matmul", "", load_kernel("matmul", {{"M", 64}, {"N", 64}, {"K", 64}}, "here")};
  kernel.objectives = measure::objectives_of({"time", "energy"}, "here");
  const measure::TemporaryFolder folder;
  const std::string file = folder.file("s.db");
  measure::Store store = measure::Store::open(file);
  MeteredRunner runner;
  const measure::Front front = search_alone(kernel, runner, store, 120).front;

  ASSERT_GE(front.trials.size(), 2U);
  for (std::size_t i = 0; i < front.trials.size(); ++i) {
    const measure::TrialRecord& trial = front.trials[i];
    EXPECT_EQ(trial.stage, measure::Stage::confirm);
    if (i == 0) continue;
    EXPECT_LT(front.trials[i - 1].timing.median_us, trial.timing.median_us);
    EXPECT_GT(front.trials[i - 1].timing.energy_mj, trial.timing.energy_mj * (1 + measure::energy_tie));
  }
  // No trial beats a trial of the front by more than noise.
  const auto trials =
      store.valid_trials(1, store.add_device(runner.info()), measure::default_tolerance, kernel.objectives);
  EXPECT_GE(trials.size(), 100U);
  for (const measure::TrialRecord& trial : trials)
    for (const measure::TrialRecord& best : front.trials)
      EXPECT_FALSE(trial.timing.median_us * 1.005 < best.timing.median_us &&
                   trial.timing.energy_mj * (1 + measure::energy_tie) < best.timing.energy_mj)
          << trial.trail << " beats " << best.trail;
}

}  // namespace
}  // namespace deplo::engine::energy_front_test
