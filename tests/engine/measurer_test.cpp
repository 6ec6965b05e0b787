// What is stored for a candidate and when, and how a later run uses it. The runner answers as the test tells it.
#include "engine/tune/measurer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "engine/compile/kernel_space.h"
#include "measure/store_fixture.h"
#include "search/searcher.h"

namespace deplo::engine {
namespace {

using measure::worker::Reply;

/// Fails as the test tells it. Otherwise takes 5 µs, and 2 mJ if the task asks for energies. Records what it was asked.
class ToldRunner final : public measure::worker::Runner {
 public:
  const measure::DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return Dialect::opencl; }
  std::string why_no_energy() override { return no_energy; }
  void open(const measure::worker::Task& task) override {
    known = task.known;
    energy_ = task.energy;
  }
  rules::Ceilings ceilings() const override { return {10, 12, 100}; }
  std::size_t batch() const override { return 4; }
  void prepare(std::span<const measure::KernelCode> candidates) override {
    for (const auto& one : candidates) prepared.push_back(one.source.text);
  }
  Reply screen(const measure::KernelCode& candidate, double, double effort) override {
    screened.push_back(candidate.source.text);
    efforts.push_back(effort);
    if (before_reply) before_reply();
    if (failures.empty()) return right();
    const Status status = failures.front();
    failures.pop_front();
    return {Failure{status, "as told"}};
  }
  const measure::worker::Libraries& libraries() const override { return libraries_; }
  std::vector<Reply> confirm(std::span<const measure::KernelCode> candidates, const measure::ConfirmOptions&) override {
    return std::vector<Reply>(candidates.size(), right());
  }

  std::string no_energy;
  rules::Ceilings known;
  std::deque<Status> failures;
  std::function<void()> before_reply;
  std::vector<std::string> prepared, screened;
  std::vector<double> efforts;  // one for each entry of `screened`

 private:
  Reply right() const {
    measure::Timing timing;
    timing.median_us = 5;
    if (energy_) timing.energy_mj = 2;
    timing.fidelity = 1;
    timing.samples = {5, 5};
    Reply reply{timing};
    reply.resources.registers = 33;
    reply.build_ms = 2;
    return reply;
  }
  bool energy_ = false;
  measure::DeviceInfo info_ = measure::some_device();
  measure::worker::Libraries libraries_;
};

class Measuring : public ::testing::Test {
 protected:
  /// Begins a run and returns its measurer.
  Measurer start(bool retry_failed = false) {
    session_.retry_failed = retry_failed;
    begin_run();
    return {kernel_, session_};
  }
  Measurer start_with_energy() {
    begin_run();
    KernelCase kernel = kernel_;
    kernel.place = "x.yaml:3";
    kernel.objectives = measure::objectives_of({"time", "energy"}, "here");
    return {kernel, session_};
  }
  void begin_run() {
    session_.device_id = store_.add_device(bench_.info());
    session_.known = store_.ceilings(session_.device_id);
    session_.seen = {};
    session_.run_id = store_.add_run({session_.device_id, "", "", "", 0, "here"});
  }
  std::int64_t count(const std::string& what) const {
    return measure::sqlite::Database(file_).integer("SELECT count(*) FROM " + what);
  }

  const measure::TemporaryFolder folder_;
  const std::string file_ = folder_.file("s.db");
  measure::Store store_ = measure::Store::open(file_);
  ToldRunner bench_;
  Session session_{bench_, store_, load_target("opencl-cpu"), {}};
  const KernelCase kernel_{
      "gelu",
      "",
      ir::parse("=== loop: gelu ===\ninput a: f32[64]\noutput b: f32[64]\nfor a0 in 0..64: # free\n"
                "  in0 = load a[a0]\n  b[a0] = in0\n"),
      {}};
  const KernelSpace space_{kernel_.loop, session_.target};
  const search::Candidate candidate_ = search::heuristic(space_);
};

TEST_F(Measuring, ATrialIsAnnouncedBeforeItRuns) {
  bench_.before_reply = [&] {
    EXPECT_EQ(count("running WHERE stage = 'screen'"), 1);
    EXPECT_EQ(count("trial"), 0);
  };
  EXPECT_EQ(start().screen(candidate_, 1e9).outcome.microseconds, 5);
  EXPECT_EQ(bench_.screened.size(), 1U);
  EXPECT_EQ(count("running"), 0);
  EXPECT_EQ(count("trial WHERE status = 'ok' AND registers = 33 AND build_ms = 2"), 1);
}

TEST_F(Measuring, CeilingsAreStoredOnceARunAndKnownToTheNext) {
  bench_.failures = {Status::implausible, Status::implausible};
  start().screen(candidate_, 1e9);
  EXPECT_FALSE(Measurer(kernel_, session_).screen(candidate_, 1e9).known) << "the same run goes on";
  EXPECT_EQ(count("ceiling"), 1);
  EXPECT_EQ(bench_.known, rules::Ceilings{});
  EXPECT_TRUE(start().screen(candidate_, 1e9).outcome.ok()) << "the ceilings were to blame, perhaps";
  EXPECT_EQ(bench_.known, (rules::Ceilings{10, 12, 100}));
  EXPECT_EQ(count("ceiling"), 2);
}

TEST_F(Measuring, WhatTheUserInterruptsIsNoTrial) {
  bench_.failures = {Status::cancelled};
  EXPECT_EQ(start().screen(candidate_, 1e9).outcome.status, Status::cancelled);
  EXPECT_EQ(count("running") + count("trial"), 0);
  EXPECT_TRUE(start().screen(candidate_, 1e9).outcome.ok());
}

TEST_F(Measuring, AFailureIsNotMetAgainUnlessAskedFor) {
  bench_.failures = {Status::hang};
  Measurer first = start();
  EXPECT_FALSE(first.screen(candidate_, 1e9).known);
  EXPECT_TRUE(first.screen(candidate_, 1e9).known);
  const search::Measured again = start().screen(candidate_, 1e9);
  EXPECT_TRUE(again.known);
  EXPECT_EQ(again.outcome.status, Status::hang);
  EXPECT_EQ(again.outcome.message, "as told");
  EXPECT_EQ(bench_.screened.size(), 1U);

  EXPECT_TRUE(start(true).screen(candidate_, 1e9).outcome.ok());
  EXPECT_EQ(bench_.screened.size(), 2U);
  EXPECT_TRUE(start(true).screen(candidate_, 1e9).known) << "it did not fail";
}

TEST_F(Measuring, AFailureOfTheMachineIsTriedAgainTwice) {
  bench_.failures = {Status::out_of_memory, Status::out_of_memory, Status::out_of_memory};
  for (int run = 0; run < 5; ++run) EXPECT_EQ(start().screen(candidate_, 1e9).outcome.status, Status::out_of_memory);
  EXPECT_EQ(bench_.screened.size(), 3U);
}

// A trial with less effort has its own protocol: it answers only requests for this effort, and never counts as the
// best. A trial with full effort answers both kinds of requests.
TEST_F(Measuring, LessEffortIsNoAnswerToAFullQuestion) {
  const search::Candidate quick(candidate_, 0.25);
  EXPECT_FALSE(start().screen(quick, 1e9).known);
  EXPECT_TRUE(start().screen(quick, 1e9).known);
  EXPECT_TRUE(start().screen({candidate_, 0.3}, 1e9).known) << "two samples, too";
  EXPECT_EQ(count("trial WHERE stopped AND protocol LIKE '% samples=2 %'"), 1);
  EXPECT_EQ(store_.best(1, session_.device_id), std::nullopt);

  EXPECT_FALSE(start().screen({candidate_, 0.05}, 1e9).known);
  EXPECT_EQ(count("trial WHERE stopped AND protocol LIKE '% samples=1 %'"), 1);
  EXPECT_FALSE(start().screen(candidate_, 1e9).known);
  EXPECT_TRUE(start().screen({candidate_, 0.5}, 1e9).known);
  EXPECT_EQ(count("trial WHERE NOT stopped AND protocol LIKE '% samples=5 %'"), 1);
  EXPECT_EQ(bench_.efforts, (std::vector<double>{0.25, 0.05, 1}));
  EXPECT_NE(store_.best(1, session_.device_id), std::nullopt);
}

using ::testing::ElementsAre;

// Times with and without energies can be compared, because the energy is not part of the protocol.
TEST_F(Measuring, ATimeWithoutAnEnergyIsMeasuredAgainWhereTheEnergyCounts) {
  start().screen(candidate_, 1e9);
  EXPECT_TRUE(start().screen(candidate_, 1e9).known);
  Measurer measurer = start_with_energy();
  const Measurer::Screened first = measurer.screen(candidate_, 1e9);
  EXPECT_FALSE(first.known);
  EXPECT_THAT(first.values, ElementsAre(5, 2));
  EXPECT_TRUE(measurer.screen(candidate_, 1e9).known);
  EXPECT_TRUE(start_with_energy().screen(candidate_, 1e9).known);
  EXPECT_TRUE(start().screen(candidate_, 1e9).known) << "an energy more does no harm";
  EXPECT_EQ(bench_.screened.size(), 2U);
  EXPECT_EQ(count("trial WHERE energy_mj = 2"), 1);
  EXPECT_EQ(count("trial WHERE energy_mj IS NULL"), 1);
}

TEST_F(Measuring, AConfirmationWithoutEnergiesLeavesTheFrontAsItWas) {
  start_with_energy().confirm({candidate_}, 1);
  ASSERT_EQ(start_with_energy().front().trials.size(), 1U);
  start().confirm({candidate_}, 1);
  const measure::Front front = start_with_energy().front();
  ASSERT_EQ(front.trials.size(), 1U);
  EXPECT_EQ(front.trials[0].timing.energy_mj, 2);
  EXPECT_EQ(count("trial WHERE stage = 'confirm'"), 2);
}

// Another tuner of the same store, which measures only times, measures the candidate meanwhile.
TEST_F(Measuring, AnotherTunersTimeWithoutAnEnergyIsNoAnswer) {
  Measurer measurer = start_with_energy(), other = start();
  other.screen(candidate_, 1e9);
  EXPECT_THAT(measurer.screen(candidate_, 1e9).values, ElementsAre(5, 2));
}

TEST_F(Measuring, AMissingEnergyIsAFailureThatSaysNothingOfTheTime) {
  bench_.failures = {Status::no_energy, Status::no_energy, Status::no_energy, Status::no_energy};
  for (int run = 0; run < 4; ++run)
    EXPECT_EQ(start_with_energy().screen(candidate_, 1e9).outcome.status, Status::no_energy);
  EXPECT_TRUE(start().screen(candidate_, 1e9).outcome.ok());
  EXPECT_TRUE(start_with_energy().screen(candidate_, 1e9).outcome.ok()) << "it is always tried again";
}

TEST_F(Measuring, ADeviceWithoutACounterIsRefused) {
  bench_.no_energy = "no energy counter: expected one";
  EXPECT_THAT([&] { start_with_energy(); }, ::testing::ThrowsMessage<measure::worker::Untunable>(
                                                "x.yaml:3: the objective energy: no energy counter: expected one"));
  EXPECT_NO_THROW(start());
}

TEST_F(Measuring, WhatIsKnownIsNotBuiltAhead) {
  Measurer measurer = start();
  measurer.screen(candidate_, 1e9);
  std::vector<search::Candidate> all{candidate_};
  const auto searcher = search::make_searcher("random", space_, {});
  for (const auto& one : searcher->ask(3)) all.push_back(one);
  measurer.prepare(all);
  const std::size_t before = bench_.screened.size();
  for (const auto& one : all) measurer.screen(one, 1e9);
  EXPECT_THAT(bench_.prepared, ::testing::Not(::testing::Contains(bench_.screened.front())));
  const std::vector<std::string> after(bench_.screened.begin() + static_cast<std::ptrdiff_t>(before),
                                       bench_.screened.end());
  EXPECT_THAT(bench_.prepared, ::testing::IsSupersetOf(after));
}

}  // namespace
}  // namespace deplo::engine
