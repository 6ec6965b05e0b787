#include "engine/learn/prior.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "engine/learn/labelled.h"
#include "engine/loop/kernel.h"
#include "measure/device.h"
#include "rules/lower.h"
#include "search/count.h"

namespace deplo::engine {

using search::model::Labelled;

namespace {

Trail trail_of(const search::Records& records, std::size_t row) {
  Trail trail;
  for (std::size_t k = 0; k < records.knobs.size(); ++k)
    if (const Value& value = records.value(row, k); value != Value(std::string(absent)))
      trail.push_back({records.knobs[k].name, value});
  return trail;
}

/// Returns the heuristic's trail under the current rules. Returns nullopt if no rules decide about the kernel, or if
/// its text is of another version.
std::optional<Trail> todays_heuristic(const StoredSpace& space) {
  if (!space.kernel_text.starts_with("===")) return std::nullopt;
  try {
    const ir::Program loop = parse_kernel(space.kernel_text, {}, space.records.kernel);
    return rules::heuristic(loop, measure::target_of(space.info)).trail();
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

Prior analytic_prior() {
  return [](const Labelled& set) { return set.analytic; };
}

Prior learned_prior(std::vector<Labelled> sets, std::uint64_t seed) {
  return [sets = std::move(sets), seed](const Labelled& set) {
    std::vector<Labelled> others;
    for (const Labelled& other : sets)
      if (other.kernel != set.kernel) others.push_back(other);
    return others.empty() ? std::vector<double>() : search::model::predict_by_trees(others, set, seed);
  };
}

search::SourceTask prior_source(const KernelSpace& space, const rules::Ceilings& ceilings, std::size_t count,
                                std::uint64_t seed, const Prior& prior) {
  Rng rng(seed);
  search::SourceTask source;
  Labelled set = empty_set("");
  std::set<std::string> seen;
  const auto note = [&](const search::Candidate& candidate) {
    if (!seen.insert(print(candidate->trail())).second) return;
    add_point(set, KernelSpace::lowering(*candidate), ceilings);
    source.push_back({candidate->trail()});
  };
  note(search::heuristic(space));
  for (std::size_t i = 0; i < count; ++i) note(search::random_path(space, rng).leaf);
  const std::vector<double> logs = prior(set);
  if (logs.empty()) return {};
  for (std::size_t i = 0; i < source.size(); ++i) source[i].microseconds = std::exp(logs[i]);
  return source;
}

std::optional<std::uint32_t> untuned_record(const StoredSpace& space) {
  const search::Records& records = space.records;
  const auto record_of = [&](const Trail& trail) -> std::optional<std::uint32_t> {
    for (std::size_t row = 0; row < records.records.size(); ++row)
      if (trail_of(records, row) == trail) return static_cast<std::uint32_t>(row);
    return std::nullopt;
  };
  if (is_imported(space.kernel_text)) return std::nullopt;
  if (const auto untuned = todays_heuristic(space))
    if (const auto row = record_of(*untuned)) return row;
  return record_of(parse_trail(space.first_trail));
}

std::shared_ptr<const search::Records> prior_records(const StoredSpace& space, const Prior& prior,
                                                     std::string_view name) {
  if (!space.kernel_text.starts_with("===")) return nullptr;  // an imported kernel has no Loop IR
  const search::Records& records = space.records;
  const rules::Lowering root(parse_kernel(space.kernel_text, {}, records.kernel), measure::target_of(space.info));
  search::Records believed;
  believed.name = fmt::format("{}/{}", records.name, name);
  believed.kernel = records.kernel;
  believed.device = fmt::format("the {} model of {}", name, records.device);
  believed.knobs = records.knobs;
  Labelled set = empty_set(records.kernel);
  for (std::size_t row = 0; row < records.records.size(); ++row) {
    const auto lowered = rules::follow(root, trail_of(records, row), rules::TrailIs::whole);
    if (!lowered.ok()) continue;
    const auto options = records.options_of(row);
    believed.options.insert(believed.options.end(), options.begin(), options.end());
    add_point(set, lowered.value(), space.ceilings);
  }
  for (const double log : prior(set)) believed.records.emplace_back().outcome = {Status::ok, std::exp(log), {}};
  return believed.records.empty() ? nullptr : std::make_shared<const search::Records>(std::move(believed));
}

}  // namespace deplo::engine
