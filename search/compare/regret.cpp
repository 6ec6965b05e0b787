#include "search/compare/regret.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "search/quantile.h"

namespace deplo::search::compare {
namespace {

constexpr std::size_t draws = 2000;

/// The 95 % interval of the geometric mean over spaces. `spaces`: for each space, the values of its repeats.
Interval interval(std::vector<std::vector<double>> spaces, Rng& rng) {
  for (std::vector<double>& values : spaces)
    for (double& value : values) value = std::log(value) / static_cast<double>(values.size());
  std::vector<double> means;
  for (std::size_t draw = 0; draw < draws; ++draw) {
    double sum = 0;
    for (const std::vector<double>& logs : spaces)
      for (std::size_t i = 0; i < logs.size(); ++i) sum += logs[rng.below(logs.size())];
    means.push_back(std::exp(sum / static_cast<double>(spaces.size())));
  }
  return {quantile(means, 0.025), quantile(means, 0.975)};
}

double mean_over(std::span<const std::vector<double>> spaces) {
  std::vector<double> means;
  for (const std::vector<double>& values : spaces) means.push_back(geometric_mean(values));
  return geometric_mean(means);
}

/// The ratio of the value at a rank (the best tried, or the one that was chosen) to the optimum; at least 1.
double ratio(const Landscape& landscape, double rank) { return 1 / landscape.quality(landscape.value_at(rank)); }

}  // namespace

double geometric_mean(std::span<const double> values) {
  CHECK(!values.empty());
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

Regrets regrets(const Landscape& landscape, std::span<const Steps> runs) {
  const auto after = [&](const Steps& run, std::size_t trials) {
    return run.empty() ? Step{} : run[std::min(trials, run.size()) - 1];
  };
  Regrets result;
  for (const Steps& run : runs) {
    auto& ratios = result.runs.emplace_back();
    for (std::size_t i = 0; i < ratios.size(); ++i)
      ratios[i] = ratio(landscape, static_cast<double>(after(run, regret_trials[i]).tried));
    const Step last = after(run, regret_trials.back());
    result.selections.push_back(ratio(landscape, static_cast<double>(last.rank)) / ratios.back());
  }
  for (std::size_t trials = 1; trials <= regret_trials.back(); ++trials) {
    std::vector<double> values;
    for (const Steps& run : runs) values.push_back(ratio(landscape, static_cast<double>(after(run, trials).tried)));
    result.curve.push_back(geometric_mean(values));
  }
  return result;
}

RegretSummary summarise(std::span<const Regrets* const> spaces, Rng& rng) {
  RegretSummary summary;
  std::vector<std::vector<double>> values(spaces.size());
  for (std::size_t i = 0; i < regret_trials.size(); ++i) {
    for (std::size_t s = 0; s < spaces.size(); ++s) {
      values[s].clear();
      for (const auto& run : spaces[s]->runs) values[s].push_back(run[i]);
    }
    summary.regret[i] = mean_over(values);
    summary.intervals[i] = interval(values, rng);
  }
  for (std::size_t s = 0; s < spaces.size(); ++s) values[s] = spaces[s]->selections;
  summary.selection = mean_over(values);
  summary.selection_interval = interval(values, rng);
  return summary;
}

}  // namespace deplo::search::compare
