// Divides a run's time among its kernels: the next second goes to the kernel that is expected to gain most from it.
#pragma once
#include <cstdint>
#include <limits>
#include <span>

namespace deplo::engine {

/// The share of a kernel's time that is spent on the search. The rest is for confirmation.
inline constexpr double search_share = 0.8;

/// What is known about tuning a kernel. Gains are logarithms of ratios of times, so the sum of the rows' gains is the
/// gain of their geometric mean.
struct Prospect {
  double count = 1;  // number of rows that the kernel stands for; below 1 if a graph may not need it
  double gain = 0;   // gain of its best schedule over its heuristic schedule
  double room = std::numeric_limits<double>::infinity();  // further gain that the device's ceilings allow
  std::int64_t trials = 0;
  double seconds = 0;  // time that its trials took
  // Time for the rest of its first turn: inputs, reference, the heuristic's schedule, finals and proof. 0: no turn yet.
  double frame_seconds = 0;
  double least_us = 0;  // the shortest time of a launch that the device's ceilings allow; 0: unknown
};

/// Returns Prospect::room of a kernel whose best time is best_us, if the device's ceilings allow no time below least_us
/// (0: unknown). If best_us is below least_us, the ceilings were measured while the device was busy, and the room is
/// unknown: infinity.
double room_for(double best_us, double least_us);

/// The expected gain of a kernel and the expected times of a trial and of a turn's frame, judging by the kernels tuned
/// so far.
struct Expectation {
  double slope = 0;  // slope of the gain as a function of ln(1 + trials / first_trials)
  double seconds_a_trial = 0;
  double frame_launches = 0;  // the part of Prospect::frame_seconds that grows with the launches, in launches
  explicit Expectation(std::span<const Prospect>);
};

/// Returns the gain that a kernel's next second is expected to bring, summed over all its rows.
double gain_per_second(const Prospect&, const Expectation&);

/// Returns the part of the `left` seconds that is kept for the frames of kernels that have had no turn: their expected
/// time, but at most half of `left`, so that a short run still searches.
double reserve(std::span<const Prospect>, const Expectation&, double left);

/// Returns the gain per second at which each kernel should stop, so that all kernels together take `seconds`. If the
/// next second gains the same for all kernels, no other division of the time is expected to gain more.
double gain_to_stop_at(std::span<const Prospect>, const Expectation&, double seconds);

}  // namespace deplo::engine
