// The best of n trials gains about slope * ln(1 + n / first_trials): a few trials bring much of what many do. Of the
// kernels of suite84 (AVX2, screened times) the mean slope was 0.26, 0.17, 0.16, 0.22, 0.21 and 0.19 for n = 2, 4, 8,
// 16, 32 and 64. So the next second of a kernel gains slope / (first_trials + n) / (seconds a trial), and of two
// kernels that gain alike the one with more rows, or with fewer or cheaper trials so far, comes first. Ansor (Zheng et
// al., OSDI 2020, section 6) shares trials between tasks by such a gradient.
#include "engine/tune/shares.h"

#include <algorithm>
#include <cmath>

namespace deplo::engine {
namespace {

constexpr double first_trials = 4;    // with it the slopes above are nearly the same
constexpr double first_slope = 0.15;  // before any kernel is tuned: some of that is noise, which confirming takes back
constexpr double first_seconds = 1;   // of a trial: PoCL builds it in half of that
constexpr double least_seconds = 1e-3;  // of a trial whose time is not known yet

double spread(double trials) { return std::log1p(trials / first_trials); }

// The mean of what is expected and of what was seen, which counts for more the more trials there were. No kernel gains
// what its ceilings do not leave, and one time that a neighbour made long does not promise the time of all others.
double slope_of(const Prospect& kernel, double expected) {
  constexpr double weight = 1;  // of the expectation: as that of seven trials
  constexpr double most = 3;    // times what is expected
  const double seen = (weight * expected + kernel.gain) / (weight + spread(static_cast<double>(kernel.trials)));
  return std::min({seen, most * expected, std::max(kernel.room, 0.0)});
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
  double gain = 0, spreads = 0, seconds = 0;
  std::int64_t trials = 0;
  for (const Prospect& kernel : tuned) {
    gain += kernel.gain;
    spreads += spread(static_cast<double>(kernel.trials));
    seconds += kernel.seconds;
    trials += kernel.trials;
  }
  constexpr double weight = 3;  // of what is expected before any is tuned: as that of one kernel with 75 trials
  slope = (weight * first_slope + gain) / (weight + spreads);
  seconds_a_trial = std::max((first_seconds + seconds) / static_cast<double>(1 + trials), least_seconds);
}

double gain_per_second(const Prospect& kernel, const Expectation& expectation) {
  return kernel.count * slope_of(kernel, expectation.slope) /
         ((first_trials + static_cast<double>(kernel.trials)) * seconds_a_trial(kernel, expectation));
}

// A kernel that stops at the gain g of a second has taken count * slope / g - first_trials * (seconds a trial) of them,
// of which some are spent already. Those for which that is less than they have taken go on for no second.
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
  double low = 1e-12, high = 1e6;  // far outside of what a second can gain
  constexpr int halvings = 100;
  for (int i = 0; i < halvings; ++i) {
    const double middle = std::sqrt(low * high);
    (taken(middle) > seconds ? low : high) = middle;
  }
  return high;
}

}  // namespace deplo::engine
