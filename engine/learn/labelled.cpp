#include "engine/learn/labelled.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/learn/store_keys.h"
#include "engine/learn/unpacked_store.h"
#include "engine/loop/kernel.h"
#include "rules/cost/features.h"

namespace deplo::engine {

using search::model::Labelled;

namespace {

Labelled label(measure::Store& store, const StoreKey& key, std::size_t max_trials) {
  const ir::Program loop = parse_kernel(key.text, {}, key.name);
  const Target target = measure::target_of(key.info);
  const rules::Ceilings ceilings = store.ceilings(key.device);
  Labelled set = empty_set(key.name, key.info.name);
  const std::vector<measure::KnownTrial> trials = valid_trials(store, key);
  const std::size_t count = std::min(trials.size(), max_trials);
  for (std::size_t i = 0; i < count; ++i) {
    const measure::TrialRecord& trial = trials[i * trials.size() / count].trial;
    const auto lowering = rules::follow(loop, target, parse_trail(trial.trail), rules::TrailIs::whole);
    if (!lowering.ok()) continue;  // the trail no longer fits the rules
    add_point(set, lowering.value(), ceilings);
    set.logs.push_back(std::log(trial.timing.median_us));
  }
  return set;
}

/// A number for each option of a knob: log2 of its value, or the value itself if some value is not positive, because a
/// switch's 0 and 1 must differ. If some value is text, the index of the option.
struct Column {
  bool numeric = true;
  std::vector<float> of_option;
};
Column column(const search::Knob& knob) {
  Column result;
  bool positive = true;
  for (const Value& value : knob.values) {
    const auto* const number = std::get_if<std::int64_t>(&value);
    result.numeric &= number != nullptr;
    positive &= number != nullptr && *number > 0;
    result.of_option.push_back(number != nullptr ? static_cast<float>(*number) : 0.0F);
  }
  if (!result.numeric)
    std::iota(result.of_option.begin(), result.of_option.end(), 0.0F);
  else if (positive)
    for (float& value : result.of_option) value = std::log2(value);
  return result;
}

}  // namespace

Labelled empty_set(const std::string& kernel, const std::string& device) {
  return {kernel, device, kernel, {rules::feature_names().size(), {}}, {}, {}};
}

void add_point(Labelled& set, const rules::Lowering& lowering, const rules::Ceilings& ceilings) {
  const rules::Features features = rules::features(lowering.program(), lowering.target());
  std::ranges::copy(rules::feature_vector(features), set.points.add());
  set.analytic.push_back(std::log(rules::roofline_us(features, lowering.target(), ceilings)));
}

std::vector<Labelled> label_store(const std::string& file, std::size_t min_records, std::size_t max_trials) {
  const UnpackedStore unpacked(file);
  const std::vector<StoreKey> keys = store_keys(unpacked.path());
  measure::Store store = measure::Store::open_to_read(unpacked.path());
  std::vector<Labelled> sets;
  for (const StoreKey& key : keys) {
    if (!key.text.starts_with("===")) continue;  // an imported kernel has no Loop IR
    Labelled set = label(store, key, max_trials);
    if (set.logs.size() >= min_records) sets.push_back(std::move(set));
  }
  return sets;
}

std::vector<Labelled> label_records(const search::Records& records, std::size_t min_records) {
  std::vector<Column> columns;
  for (const search::Knob& knob : records.knobs) columns.push_back(column(knob));
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t a = 0; a < columns.size(); ++a)
    for (std::size_t b = a + 1; b < columns.size(); ++b)
      if (columns[a].numeric && columns[b].numeric) pairs.emplace_back(a, b);
  const std::string kernel = records.objective == search::Objective{}
                                 ? records.kernel
                                 : fmt::format("{}: {}", records.kernel, label(records.objective));
  Labelled set{kernel, records.device, records.name, {columns.size() + 2 * pairs.size(), {}}, {}, {}};
  for (std::size_t i = 0; i < records.records.size(); ++i) {
    const Outcome& outcome = records.records[i].outcome;
    if (!outcome.ok() || !(outcome.microseconds > 0)) continue;
    const auto options = records.options_of(i);
    float* point = set.points.add();
    for (std::size_t k = 0; k < columns.size(); ++k) *point++ = columns[k].of_option[options[k]];
    const float* const values = point - columns.size();
    for (const auto& [a, b] : pairs) {
      *point++ = values[a] + values[b];
      *point++ = values[a] - values[b];
    }
    set.logs.push_back(std::log(outcome.microseconds));
  }
  if (set.logs.size() < min_records) return {};
  return {std::move(set)};
}

std::string print_points(const std::vector<Labelled>& sets) {
  std::string text = "kernel,device,us,analytic_us";
  for (const std::string_view name : rules::feature_names()) text += fmt::format(",{}", name);
  text += "\n";
  for (const Labelled& set : sets)
    for (std::size_t i = 0; i < set.logs.size(); ++i) {
      text += fmt::format("\"{}\",\"{}\",{:.6g},{:.6g}", set.kernel, set.device, std::exp(set.logs[i]),
                          std::exp(set.analytic[i]));
      for (std::size_t k = 0; k < set.points.dimensions; ++k)
        text += fmt::format(",{:.6g}", set.points.values[i * set.points.dimensions + k]);
      text += "\n";
    }
  return text;
}

}  // namespace deplo::engine
