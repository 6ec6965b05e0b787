// How a run's time is shared between its kernels: the next second goes where it is expected to gain most.
#pragma once
#include <cstdint>
#include <limits>
#include <span>

namespace deplo::engine {

/// Of a kernel's time; the rest is for confirmation.
inline constexpr double search_share = 0.8;

/// What is known of a kernel's tuning. Gains are logarithms of ratios of times, so that sums of them are what a
/// geometric mean over rows gains.
struct Prospect {
  double count = 1;                                       // rows that it stands for
  double gain = 0;                                        // of its best over its heuristic
  double room = std::numeric_limits<double>::infinity();  // that the device's ceilings leave behind its best
  std::int64_t trials = 0;
  double seconds = 0;  // that its trials took
};

/// What kernels gain, and what a trial of them takes, by those that have been tuned: what is expected of the next one.
struct Expectation {
  double slope = 0;  // of the gain over ln(1 + trials / first_trials)
  double seconds_a_trial = 0;
  explicit Expectation(std::span<const Prospect>);
};

/// The expected gain of the next second of a kernel, for all its rows.
double gain_per_second(const Prospect&, const Expectation&);

/// The gain of a second at which each of the kernels should stop, so that together they take so many seconds: where all
/// gain the same by another second, no other division of the time is expected to gain more.
double gain_to_stop_at(std::span<const Prospect>, const Expectation&, double seconds);

}  // namespace deplo::engine
