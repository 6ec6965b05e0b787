// Ties: which of several equally fast schedules a tuning run stores.
#include "engine/tune/ties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/rng.h"
#include "engine/loop/kernel.h"
#include "engine/search_alone.h"
#include "measure/store_fixture.h"
#include "measure/worker/runner.h"

namespace deplo::engine {
namespace {

using measure::worker::Reply;

TEST(Ties, ChangesCountDecisionsThatDiffer) {
  const Trail heuristic = parse_trail("a.x=1 b.y=2");
  EXPECT_EQ(changes(heuristic, heuristic), 0);
  EXPECT_EQ(changes(parse_trail("a.x=1 b.y=4"), heuristic), 1);
  EXPECT_EQ(changes(parse_trail("a.x=3 b.y=4 c.z=1"), heuristic), 3);
  EXPECT_EQ(changes(parse_trail("a.x=3"), heuristic), 1) << "b is not decided about";
}

TEST(Ties, TheFastestThenTheFewestChangesThenTheText) {
  EXPECT_EQ(winner(std::vector<Timed>{{10, 0, "h"}, {9, 5, "f"}}), 1U) << "a real difference";
  EXPECT_EQ(winner(std::vector<Timed>{{9, 5, "f"}, {9.04, 0, "h"}}), 1U);
  EXPECT_EQ(winner(std::vector<Timed>{{9, 5, "f"}, {9.05, 0, "h"}}), 0U) << "more than 0.5 %";
  EXPECT_EQ(winner(std::vector<Timed>{{9, 2, "b"}, {9.01, 1, "z"}, {9.02, 1, "a"}}), 2U);
  EXPECT_EQ(winner(std::vector<Timed>{{9, 2, "b"}, {9.03, 3, "a"}, {9.06, 0, "h"}}), 0U) << "only against the fastest";
}

/// Each source takes the time that the script gives it.
class ScriptedRunner final : public measure::worker::Runner {
 public:
  using Script = std::function<double(const std::string& source)>;
  explicit ScriptedRunner(Script script) : script_(std::move(script)) {}
  const measure::DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return Dialect::opencl; }
  std::string why_no_energy() override { return ""; }
  void open(const measure::worker::Task&) override {}
  rules::Ceilings ceilings() const override { return {}; }
  std::size_t batch() const override { return 1; }
  void prepare(std::span<const measure::KernelCode>) override {}
  Reply screen(const measure::KernelCode& candidate, double, double) override { return reply(candidate); }
  const measure::worker::Libraries& libraries() const override { return libraries_; }
  std::vector<Reply> confirm(std::span<const measure::KernelCode> candidates, const measure::ConfirmOptions&) override {
    std::vector<Reply> replies;
    for (const measure::KernelCode& candidate : candidates) replies.push_back(reply(candidate));
    return replies;
  }

 private:
  Reply reply(const measure::KernelCode& candidate) const {
    measure::Timing timing;
    timing.median_us = script_(candidate.source.text);
    timing.fidelity = 1;
    timing.samples = {timing.median_us};
    return {timing};
  }
  Script script_;
  measure::DeviceInfo info_ = measure::some_device();
  measure::worker::Libraries libraries_;
};

class TiedRuns : public ::testing::Test {
 protected:
  struct Result {
    Row row;
    std::string stored;  // the trail of the best trial in the store
    std::int64_t changes = 0;
  };
  /// Runs a search with the script's times and a store of its own.
  Result tune(const ScriptedRunner::Script& script) {
    ScriptedRunner runner(script);
    const std::string file = folder_.file(std::to_string(runs_++) + ".db");
    measure::Store store = measure::Store::open(file);
    Result result{search_alone(kernel_, runner, store, 60), "", 0};
    const auto best = store.best(1, store.add_device(runner.info()));
    EXPECT_TRUE(best.has_value());
    if (best) result.stored = best->trail;
    if (best) result.changes = best->changes;
    return result;
  }
  std::string heuristic_source() const {
    return compile(rules::heuristic(kernel_.loop, load_target("opencl-cpu-avx2"))).code.source.text;
  }

  const KernelCase kernel_{"matmul", "", load_kernel("matmul", {{"M", 64}, {"N", 64}, {"K", 64}}, "here")};

 private:
  measure::TemporaryFolder folder_;
  int runs_ = 0;
};

/// Returns a factor of noise, up to 1.002, which differs between runs.
double noise(const std::string& source, std::uint64_t run) {
  return 1 + 0.002 * Rng(std::hash<std::string>{}(source) ^ (run * 0x9e3779b97f4a7c15)).uniform();
}

TEST_F(TiedRuns, TheHeuristicWinsWhereNothingIsFaster) {
  for (std::uint64_t run = 0; run < 3; ++run) {
    const Result result = tune([&](const std::string& source) { return 10 * noise(source, run); });
    EXPECT_EQ(result.changes, 0) << result.stored;
    EXPECT_EQ(result.row.trail, result.stored) << "what is told is what is stored";
  }
}

// Sixty schedules are equally fast, and faster than the heuristic's. That is more schedules than are confirmed.
TEST_F(TiedRuns, EveryRunStoresTheSame) {
  const std::string slow = heuristic_source();
  std::string first;
  for (std::uint64_t run = 0; run < 4; ++run) {
    const Result result =
        tune([&](const std::string& source) { return (source == slow ? 12 : 10) * noise(source, run); });
    EXPECT_GT(result.changes, 0);
    EXPECT_EQ(result.row.trail, result.stored);
    if (run == 0) first = result.stored;
    EXPECT_EQ(result.stored, first);
  }
}

TEST_F(TiedRuns, ARealDifferenceDecides) {
  const std::string slow = heuristic_source();
  const auto script = [&](const std::string& source) {
    return source == slow ? 10.0 : 20.0 - static_cast<double>(std::hash<std::string>{}(source) % 1000) / 100;
  };
  double fastest = 1e9;
  const Result result = tune([&](const std::string& source) {
    fastest = std::min(fastest, script(source));
    return script(source);
  });
  EXPECT_LE(result.row.best_us, 1.005 * fastest);
}

}  // namespace
}  // namespace deplo::engine
