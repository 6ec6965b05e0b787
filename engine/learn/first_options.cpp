#include "engine/learn/first_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "core/text/select_names.h"
#include "core/trail.h"
#include "engine/learn/recorded.h"
#include "engine/learn/store_keys.h"
#include "engine/loop/kernel.h"
#include "ir/walk.h"
#include "measure/device.h"
#include "measure/protocol/protocol.h"
#include "rules/lower.h"

namespace deplo::engine {
namespace {

std::string extents_of(const ir::Program& loop) {
  std::string text;
  ir::for_each(loop.body, [&](const ir::Stmt& stmt) {
    if (const auto* nest = stmt.as<ir::Loop>())
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", nest->axis.name, nest->axis.extent);
  });
  return text;
}

std::string value_of(const Trail& trail, std::string_view knob) {
  const auto found = std::ranges::find(trail, knob, &Choice::knob);
  return found == trail.end() ? std::string(absent) : deplo::print(found->value);
}

/// Returns one option for each knob of the heuristic's schedule that was tried both with its value and with other
/// values.
std::vector<FirstOption> options_of(const StoreKey& key, const std::vector<measure::KnownTrial>& trials) {
  const ir::Program loop = parse_kernel(key.text, {}, key.name);
  const Trail heuristic = rules::heuristic(loop, measure::target_of(key.info)).trail();
  std::vector<Trail> trails;
  for (const measure::KnownTrial& known : trials) trails.push_back(parse_trail(known.trial.trail));
  std::vector<FirstOption> options;
  for (const Choice& choice : heuristic) {
    FirstOption option{choice.knob, key.name, key.info.name, extents_of(loop), deplo::print(choice.value), ""};
    double with_first = std::numeric_limits<double>::infinity(), fastest = with_first;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const std::string value = value_of(trails[i], choice.knob);
      const double us = trials[i].trial.timing.median_us;
      const bool is_first = value == option.first;
      ++(is_first ? option.trials : option.others);
      if (is_first) with_first = std::min(with_first, us);
      if (us < fastest) {
        fastest = us;
        option.best = value;
      }
    }
    option.loss = with_first / fastest;
    if (option.trials > 0 && option.others > 0) options.push_back(std::move(option));
  }
  return options;
}

}  // namespace

bool FirstOption::loses() const { return loss > 1 + measure::Protocol().tie; }

std::vector<FirstOption> first_options(const std::string& file, const std::string& kernel) {
  std::vector<StoreKey> keys = store_keys(file);
  // kernels without Loop IR have no rules of deplo
  std::erase_if(keys, [](const StoreKey& key) { return !key.text.starts_with("==="); });
  std::vector<std::string> names;
  for (const StoreKey& key : keys) names.push_back(key.name);
  measure::Store store = measure::Store::open_to_read(file);
  std::vector<FirstOption> options;
  for (const std::size_t i : select_names(file, "a kernel that has Loop IR", kernel, names))
    std::ranges::move(options_of(keys[i], valid_trials(store, keys[i])), std::back_inserter(options));
  return options;
}

std::vector<FirstOptionSummary> summarise(const std::vector<FirstOption>& options) {
  struct Sum {
    FirstOptionSummary summary;
    double logs = 0;
    std::map<std::string, std::int64_t> changes;
  };
  std::map<std::string, Sum> sums;
  for (const FirstOption& option : options) {
    auto& [summary, logs, changes] = sums[option.knob];
    summary.knob = option.knob;
    ++summary.kernels;
    logs += std::log(option.loss);
    if (summary.worst == nullptr || option.loss > summary.worst->loss) summary.worst = &option;
    if (!option.loses()) continue;
    ++summary.loses;
    ++changes[fmt::format("{} -> {}", option.first, option.best)];
  }
  std::vector<std::pair<double, FirstOptionSummary>> ranked;
  for (auto& [knob, sum] : sums) {
    sum.summary.mean_loss = std::exp(sum.logs / static_cast<double>(sum.summary.kernels));
    const auto commonest_change =
        std::ranges::max_element(sum.changes, {}, [](const auto& change) { return change.second; });
    if (commonest_change != sum.changes.end())
      sum.summary.instead = fmt::format("{} ({})", commonest_change->first, commonest_change->second);
    ranked.emplace_back(sum.logs, std::move(sum.summary));
  }
  std::ranges::stable_sort(ranked, std::greater<>(), [](const auto& entry) { return entry.first; });
  std::vector<FirstOptionSummary> summaries;
  for (auto& [logs, summary] : ranked) summaries.push_back(std::move(summary));
  return summaries;
}

}  // namespace deplo::engine
