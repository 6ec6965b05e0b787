// The protocol under every disturbance that devices show: of two candidates that are 2 % apart, the faster one must
// win.
#include <gtest/gtest.h>

#include <limits>

#include "measure/protocol/sampling.h"
#include "measure/scripted.h"
#include "measure/simulated.h"

namespace deplo::measure::contest_test {
namespace {

constexpr int contests = 1000;
constexpr double none = std::numeric_limits<double>::infinity();

ir::Program small_copy() {
  return ir::parse(
      "=== loop: copy ===\n"
      "input a: f32[16]\n"
      "output b: f32[16]\n"
      "for a0 in 0..16: # free\n"
      "  in0 = load a[a0]\n"
      "  b[a0] = in0\n");
}

/// Returns a candidate whose name is its time.
KernelCode candidate(double us) {
  KernelCode result;
  result.source.entry = std::to_string(us);
  return result;
}
double named_time(const KernelCode& candidate) { return std::stod(candidate.source.entry); }

/// Screens both candidates and confirms those that remain, as a tuning does. Returns true if the faster candidate has
/// the smaller time.
bool right_one_wins(const Disturbances& disturbances, std::uint64_t seed) {
  const ir::Program loop = small_copy();
  SimulatedDevice device(loop, named_time, disturbances, seed);
  Rng rng(seed);
  Problem problem(loop, device, 1);
  const Protocol protocol;
  const double fast = 60, slow = fast * 1.02;
  const bool fast_first = rng.below(2) == 0;
  std::vector<std::unique_ptr<Executable>> executables;
  for (const double us : {fast_first ? fast : slow, fast_first ? slow : fast})
    executables.push_back(std::move(device.build(candidate(us)).value()));
  double best = none;
  std::vector<Contender> contenders;
  for (const auto& executable : executables) {
    const auto timing = screen(*executable, {1, 1}, problem, protocol, best);
    if (!timing.ok() || timing.value().stopped) continue;
    best = std::min(best, timing.value().median_us);
    contenders.push_back({executable.get(), {1, 1}});
  }
  const auto results = confirm(contenders, problem, protocol, {.seed = seed, .seconds = none, .cancelled = {}});
  for (const auto& result : results)
    if (!result.ok()) return ADD_FAILURE() << status_name(result.failure().status) << result.failure().message, false;
  std::size_t winner = 0;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i].value().median_us < results[winner].value().median_us) winner = i;
  return contenders[winner].executable == executables[fast_first ? 0 : 1].get();
}

int wins(const Disturbances& disturbances) {
  int count = 0;
  for (int i = 0; i < contests; ++i) count += right_one_wins(disturbances, static_cast<std::uint64_t>(i));
  std::printf("%d of %d\n", count, contests);
  return count;
}

constexpr int enough = contests * 95 / 100;

TEST(Contest, WithoutDisturbance) { EXPECT_EQ(wins({}), contests); }
TEST(Contest, Noise) { EXPECT_GE(wins({.noise = 0.05}), enough); }
TEST(Contest, Drift) { EXPECT_GE(wins({.noise = 0.02, .drift = 0.05}), enough); }
TEST(Contest, Outliers) { EXPECT_GE(wins({.noise = 0.02, .outliers = 0.02}), enough); }
TEST(Contest, Throttling) { EXPECT_GE(wins({.noise = 0.02, .throttle = 0.2}), enough); }
TEST(Contest, ThrottlingOfADeviceThatDoesNotSayItsClock) {
  EXPECT_GE(wins({.noise = 0.02, .throttle = 0.2, .says_clock = false}), enough);
}
TEST(Contest, FirstLaunches) { EXPECT_GE(wins({.noise = 0.02, .first_launch = 0.5}), enough); }
TEST(Contest, AllTogether) {
  EXPECT_GE(wins({.noise = 0.03, .drift = 0.03, .outliers = 0.01, .throttle = 0.2, .first_launch = 0.1}), enough);
}

}  // namespace
}  // namespace deplo::measure::contest_test
