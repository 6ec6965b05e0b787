// The best of n trials gains about slope * ln(1 + n / first_trials): the first trials bring most of the gain. On the
// kernels of suite84 (AVX2, screened times), the mean slope was 0.26, 0.17, 0.16, 0.22, 0.21 and 0.19 for n = 2, 4, 8,
// 16, 32 and 64. So the next second of a kernel gains slope / (first_trials + n) / (seconds a trial). Of two kernels
// with the same gain, the one with more rows, or with fewer or cheaper trials so far, comes first. Ansor (Zheng et al.,
// OSDI 2020, section 6) divides trials among tasks by such a gradient.
#include "engine/tune/shares.h"

#include <algorithm>
#include <cmath>

namespace deplo::engine {
namespace {

constexpr double first_trials = 4;  // chosen so that the slopes above are nearly equal
// Slope before any kernel is tuned. It is lower than the slopes above, because a part of the screened gain is noise,
// which confirmation removes.
constexpr double first_slope = 0.15;
// seconds a trial before any kernel is tuned; PoCL builds a candidate in half of that
constexpr double first_seconds = 1;
constexpr double least_seconds = 1e-3;  // lower bound on the seconds a trial

// The frame of a small kernel takes frame_base seconds, above all for the proof. The frame of a large kernel takes the
// time of first_frame_launches launches, for the check and the finals (suite84 on PoCL, two cores of Zen 3: 0.2 to 2 s,
// and 40 launches of 0.4 s). The observed number of launches has the weight of the kernels' least times; the prior has
// the weight of one launch of 10 ms.
constexpr double frame_base = 1;
constexpr double first_frame_launches = 40;
constexpr double weight_of_first_us = 10'000;

double spread(double trials) { return std::log1p(trials / first_trials); }

// Returns the mean of the expected and the observed slope. The weight of the observed slope grows with the number of
// trials. The slope is bounded by the room that the ceilings leave. It is also bounded relative to the expectation, so
// that one time inflated by another load on the machine does not claim the time of all other kernels.
double slope_of(const Prospect& kernel, double expected) {
  constexpr double weight = 1;        // weight of the expectation, equal to that of seven trials
  constexpr double max_multiple = 3;  // upper bound, as a multiple of the expectation
  const double seen = (weight * expected + kernel.gain) / (weight + spread(static_cast<double>(kernel.trials)));
  return std::min({seen, max_multiple * expected, std::max(kernel.room, 0.0)});
}

double seconds_a_trial(const Prospect& kernel, const Expectation& expectation) {
  if (kernel.trials == 0) return expectation.seconds_a_trial;
  return std::max(kernel.seconds / static_cast<double>(kernel.trials), least_seconds);
}

}  // namespace

double room_for(double best_us, double least_us) {
  if (least_us <= 0 || best_us < least_us) return std::numeric_limits<double>::infinity();
  return std::log(best_us / least_us);
}

Expectation::Expectation(std::span<const Prospect> tuned) {
  double gain = 0, spreads = 0, seconds = 0, frames_us = first_frame_launches * weight_of_first_us;
  double launches_us = weight_of_first_us;
  std::int64_t trials = 0;
  for (const Prospect& kernel : tuned) {
    gain += kernel.gain;
    spreads += spread(static_cast<double>(kernel.trials));
    seconds += kernel.seconds;
    trials += kernel.trials;
    if (kernel.frame_seconds <= 0) continue;
    frames_us += std::max(0.0, kernel.frame_seconds - frame_base) * 1e6;
    launches_us += kernel.least_us;
  }
  frame_launches = frames_us / launches_us;
  constexpr double weight = 3;  // weight of the prior, equal to that of one kernel with 75 trials
  slope = (weight * first_slope + gain) / (weight + spreads);
  seconds_a_trial = std::max((first_seconds + seconds) / static_cast<double>(1 + trials), least_seconds);
}

double gain_per_second(const Prospect& kernel, const Expectation& expectation) {
  return kernel.count * slope_of(kernel, expectation.slope) /
         ((first_trials + static_cast<double>(kernel.trials)) * seconds_a_trial(kernel, expectation));
}

double reserve(std::span<const Prospect> kernels, const Expectation& expectation, double left) {
  double seconds = 0;
  for (const Prospect& kernel : kernels)
    if (kernel.frame_seconds <= 0) seconds += frame_base + expectation.frame_launches * kernel.least_us * 1e-6;
  constexpr double max_share = 0.5;
  return std::min(seconds, max_share * std::max(left, 0.0));
}

// A kernel that stops at a gain per second of g takes count * slope / g - first_trials * (seconds a trial) seconds,
// including those that it has spent already. A kernel that has spent more gets no further second.
double gain_to_stop_at(std::span<const Prospect> kernels, const Expectation& expectation, double seconds) {
  const auto taken = [&](double gain) {
    double sum = 0;
    for (const Prospect& kernel : kernels) {
      const double trial = seconds_a_trial(kernel, expectation);
      sum += std::max(0.0, kernel.count * slope_of(kernel, expectation.slope) / gain -
                               (first_trials + static_cast<double>(kernel.trials)) * trial);
    }
    return sum;
  };
  double low = 1e-12, high = 1e6;  // far outside the possible range of a gain per second
  constexpr int halvings = 100;
  for (int i = 0; i < halvings; ++i) {
    const double middle = std::sqrt(low * high);
    (taken(middle) > seconds ? low : high) = middle;
  }
  return high;
}

}  // namespace deplo::engine
