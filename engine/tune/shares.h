// Shares a run's time between its kernels: the next second goes to the kernel that is expected to gain most from it.
#pragma once
#include <cstdint>
#include <limits>
#include <span>

namespace deplo::engine {

/// The share of a kernel's time that the search gets; the rest is for confirmation.
inline constexpr double search_share = 0.8;

/// What is known about the tuning of a kernel. Gains are logarithms of ratios of times, so that the sum of the rows'
/// gains is the gain of their geometric mean.
struct Prospect {
  double count = 1;  // rows that the kernel stands for; below 1 if a graph may do without it
  double gain = 0;   // of its best over its heuristic
  double room = std::numeric_limits<double>::infinity();  // further gain that the device's ceilings allow
  std::int64_t trials = 0;
  double seconds = 0;  // that its trials took
};

/// Prospect::room of a kernel whose best takes best_us, if the device's ceilings allow none below least_us (0: not
/// known). A best below that shows that the ceilings were measured in a busy moment: then nothing is known.
double room_for(double best_us, double least_us);

/// What is expected of a kernel, judging by the kernels that were tuned so far: its gain, and the time of a trial.
struct Expectation {
  double slope = 0;  // of the gain as a function of ln(1 + trials / first_trials)
  double seconds_a_trial = 0;
  explicit Expectation(std::span<const Prospect>);
};

/// The gain that the next second of a kernel is expected to bring, for all its rows.
double gain_per_second(const Prospect&, const Expectation&);

/// The gain per second at which each of the kernels should stop, so that together they take `seconds`. If another
/// second gains the same for all kernels, no other division of the time is expected to gain more.
double gain_to_stop_at(std::span<const Prospect>, const Expectation&, double seconds);

}  // namespace deplo::engine
