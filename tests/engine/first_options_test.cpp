// first_options() finds in the trials which first options lose time: it names a knob with its loss if another value is
// faster, and names no other knob.
#include "engine/learn/first_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/error.h"
#include "core/rng.h"
#include "engine/loop/kernel.h"
#include "measure/store_fixture.h"
#include "rules/lower.h"

namespace deplo::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class FirstOptions : public ::testing::Test {
 protected:
  FirstOptions() {
    auto store = measure::Store::open(path());
    ids_ = measure::add_context(store);
    ids_.device = store.add_device(info_);
    ids_.run = store.add_run(
        {.device = ids_.device, .revision = "", .config = "", .searcher = "random", .seed = 0, .host = ""});
  }

  ir::Program loop(std::int64_t rows) const {
    return load_kernel("matmul", {{"M", rows}, {"N", 48}, {"K", 32}}, "test");
  }
  Trail heuristic(std::int64_t rows) const { return rules::heuristic(loop(rows), measure::target_of(info_)).trail(); }

  /// Adds trials of the heuristic's schedule and of random schedules, with the times that `time` returns.
  void add(const std::string& name, std::int64_t rows, const std::function<double(const Trail&)>& time) {
    auto store = measure::Store::open(path());
    ids_.kernel = store.add_kernel({name, print(loop(rows))});
    append(store, heuristic(rows), time);
    Rng rng(rows);
    for (int i = 0; i < 40; ++i) {
      rules::Lowering lowering(loop(rows), measure::target_of(info_));
      while (lowering.fork()) lowering.choose(rng.below(lowering.fork()->options.size()));
      append(store, lowering.trail(), time);
    }
  }
  std::string path() const { return folder_.file("s.db"); }

 private:
  void append(measure::Store& store, const Trail& trail, const std::function<double(const Trail&)>& time) {
    measure::TrialRecord trial = measure::some_trial(ids_, ordinal_++, print(trail), time(trail));
    trial.protocol = "samples=5";
    store.append(trial);
  }

  measure::TemporaryFolder folder_;
  const measure::DeviceInfo info_{"opencl", "a CPU", "vendor", "1", "platform", 2, 2000, 1 << 20, 64, true};
  measure::Ids ids_;
  std::int64_t ordinal_ = 0;
};

bool has(const Trail& trail, const Choice& choice) { return std::ranges::find(trail, choice) != trail.end(); }

TEST_F(FirstOptions, WhereAllSchedulesAreEqualNoneLoses) {
  add("even", 64, [](const Trail&) { return 10.0; });
  const std::vector<FirstOption> options = first_options(path());
  ASSERT_FALSE(options.empty());
  for (const FirstOption& option : options) {
    EXPECT_EQ(option.loss, 1) << option.knob;
    EXPECT_FALSE(option.loses()) << option.knob;
    EXPECT_THAT(option.extents, HasSubstr("=64"));
  }
}

TEST_F(FirstOptions, TheOneThatLosesIsNamedWithItsLoss) {
  // For each knob in turn, schedules with the heuristic's value take 1.5 times as long.
  const std::vector<FirstOption> even = [&] {
    add("even", 64, [](const Trail&) { return 10.0; });
    return first_options(path());
  }();
  ASSERT_GT(even.size(), 3U);
  std::int64_t rows = 96;
  for (const FirstOption& slow : even) {
    const Trail first = heuristic(rows);
    const auto choice = std::ranges::find(first, slow.knob, &Choice::knob);
    if (choice == first.end()) continue;
    const std::string name = "slow " + slow.knob;
    add(name, rows, [&](const Trail& trail) { return has(trail, *choice) ? 15.0 : 10.0; });
    rows += 16;
    const std::vector<FirstOption> options = first_options(path(), name);
    const auto found = std::ranges::find(options, slow.knob, &FirstOption::knob);
    if (found == options.end()) continue;  // no random schedule has another value
    EXPECT_DOUBLE_EQ(found->loss, 1.5) << slow.knob;
    EXPECT_TRUE(found->loses());
    EXPECT_EQ(found->first, deplo::print(choice->value));
    EXPECT_NE(found->best, found->first);
  }
  EXPECT_GT(rows, 96 + 3 * 16);
}

TEST_F(FirstOptions, AreSummedOverKernels) {
  add("c", 128, [](const Trail&) { return 10.0; });
  const std::string knob = first_options(path()).front().knob;
  const auto slow_first = [&](std::int64_t rows, double loss) {
    const Trail first = heuristic(rows);
    const Choice choice = *std::ranges::find(first, knob, &Choice::knob);
    return [=](const Trail& trail) { return has(trail, choice) ? 10.0 * loss : 10.0; };
  };
  add("a", 64, slow_first(64, 1.2));
  add("b", 96, slow_first(96, 1.8));
  const std::vector<FirstOption> options = first_options(path());
  const std::vector<FirstOptionSummary> sums = summarise(options);
  ASSERT_FALSE(sums.empty());
  EXPECT_EQ(sums[0].knob, knob) << "the largest loss over all kernels comes first";
  EXPECT_EQ(sums[0].kernels, 3);
  EXPECT_EQ(sums[0].loses, 2);
  EXPECT_NEAR(sums[0].mean_loss, std::cbrt(1.2 * 1.8), 1e-12);
  ASSERT_NE(sums[0].worst, nullptr);
  EXPECT_EQ(sums[0].worst->kernel, "b");
  EXPECT_THAT(sums[0].instead, HasSubstr(" -> "));
}

TEST_F(FirstOptions, BadRequestsAreOneLine) {
  add("a", 64, [](const Trail&) { return 10.0; });
  EXPECT_THAT([&] { first_options(path(), "b"); },
              ThrowsMessage<Error>(HasSubstr("expected a kernel that has Loop IR (a), found 'b'")));
  EXPECT_THAT([] { first_options("no.db"); }, ThrowsMessage<Error>(HasSubstr("found no such file")));
}

}  // namespace
}  // namespace deplo::engine
