#include "search/model/effects.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace deplo::search::model {
namespace {

constexpr std::size_t least_per_pair = 5;  // records per pair of values on average; with fewer, the share is chance

struct Group {
  double count = 0, sum = 0;  // number and sum of log times minus their mean
};

/// Log times of the valid records, minus their mean.
struct Times {
  std::vector<std::size_t> rows;
  std::vector<double> logs;
  double squares = 0;
};

Times valid_times(const Records& records) {
  Times times;
  double sum = 0;
  for (std::size_t row = 0; row < records.records.size(); ++row) {
    const Outcome& outcome = records.records[row].outcome;
    if (!outcome.ok() || !(outcome.microseconds > 0)) continue;
    times.rows.push_back(row);
    times.logs.push_back(std::log(outcome.microseconds));
    sum += times.logs.back();
  }
  for (double& log : times.logs) {
    log -= sum / static_cast<double>(times.logs.size());
    times.squares += log * log;
  }
  return times;
}

/// Groups the times by the number that `key` returns for their row.
std::map<std::size_t, Group> group(const Times& times, const std::function<std::size_t(std::size_t)>& key) {
  std::map<std::size_t, Group> groups;
  for (std::size_t i = 0; i < times.rows.size(); ++i) {
    Group& own = groups[key(times.rows[i])];
    ++own.count;
    own.sum += times.logs[i];
  }
  return groups;
}

double epsilon_squared(const Times& times, const std::map<std::size_t, Group>& groups) {
  const auto n = static_cast<double>(times.rows.size()), k = static_cast<double>(groups.size());
  if (times.squares <= 0 || n <= k) return 0;
  double between = 0;
  for (const auto& [key, own] : groups) between += own.sum * own.sum / own.count;
  return std::max(0.0, 1 - (n - 1) / (n - k) * (times.squares - between) / times.squares);
}

std::function<std::size_t(std::size_t)> option_of(const Records& records, std::size_t knob) {
  return [&records, knob](std::size_t row) { return std::size_t{records.options_of(row)[knob]}; };
}

}  // namespace

std::vector<KnobEffect> knob_effects(const Records& records) {
  const Times times = valid_times(records);
  std::vector<KnobEffect> effects;
  for (std::size_t knob = 0; knob < records.knobs.size(); ++knob) {
    const auto groups = group(times, option_of(records, knob));
    if (groups.size() < 2) continue;
    KnobEffect effect{records.knobs[knob].name, epsilon_squared(times, groups), {}};
    for (const auto& [option, own] : groups)
      effect.values.push_back(
          {records.knobs[knob].values[option], static_cast<std::size_t>(own.count), std::exp(own.sum / own.count)});
    effects.push_back(std::move(effect));
  }
  std::ranges::stable_sort(effects, std::greater(), &KnobEffect::share);
  return effects;
}

std::vector<PairEffect> pair_effects(const Records& records, std::size_t max_count) {
  const Times times = valid_times(records);
  std::vector<double> alone;
  for (std::size_t knob = 0; knob < records.knobs.size(); ++knob)
    alone.push_back(epsilon_squared(times, group(times, option_of(records, knob))));
  std::vector<PairEffect> pairs;
  for (std::size_t a = 0; a < records.knobs.size(); ++a)
    for (std::size_t b = a + 1; b < records.knobs.size(); ++b) {
      const auto both = [&](std::size_t row) {
        const auto options = records.options_of(row);
        return std::size_t{options[a]} << 16 | options[b];  // an option takes 16 bits
      };
      const auto groups = group(times, both);
      if (groups.size() * least_per_pair > times.rows.size()) continue;
      const double share = epsilon_squared(times, groups) - alone[a] - alone[b];
      if (share > 0) pairs.push_back({records.knobs[a].name, records.knobs[b].name, share});
    }
  std::ranges::stable_sort(pairs, std::greater(), &PairEffect::share);
  if (pairs.size() > max_count) pairs.resize(max_count);
  return pairs;
}

}  // namespace deplo::search::model
