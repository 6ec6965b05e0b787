// What a user of `tune` sees: how far the best schedule is from the best known one after a few trials.
//
//   regret      time of the best schedule tried / best known time: 1 is the optimum
//   selection   time of the schedule that wins the final / time of the best one tried: 1 is the right choice
//
// Times are the recorded ones. For objectives that are better if higher, ratios are inverted. Means are geometric.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "search/compare/curve.h"
#include "search/compare/landscape.h"
#include "search/compare/statistics.h"

namespace deplo::search::compare {

inline constexpr std::array<std::size_t, 5> regret_trials = {5, 10, 20, 30, 60};

/// The regrets of one entrant on one space. Empty unless Contest::regret is set.
struct Regrets {
  std::vector<std::array<double, regret_trials.size()>> runs;  // per repeat: after regret_trials
  std::vector<double> selections;                              // per repeat: after the last of regret_trials
  std::vector<double> curve;                                   // mean over the repeats, after trial 1, 2, …
};

/// Runs that ended early keep their last regret. A run that has found no valid configuration has the regret of the
/// worst configuration.
Regrets regrets(const Landscape&, std::span<const Steps> runs);

/// The means over spaces, with 95 % intervals over repeats: each draw takes the repeats of each space with replacement.
struct RegretSummary {
  std::array<double, regret_trials.size()> regret{};
  std::array<Interval, regret_trials.size()> intervals{};
  double selection = 1;
  Interval selection_interval{1, 1};
};
RegretSummary summarise(std::span<const Regrets* const> spaces, Rng&);

double geometric_mean(std::span<const double> values);

}  // namespace deplo::search::compare
