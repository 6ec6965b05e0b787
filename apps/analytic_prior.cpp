#include "apps/analytic_prior.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "apps/kernel.h"
#include "measure/device.h"
#include "measure/roofline.h"
#include "rules/features.h"
#include "rules/lower.h"
#include "search/count.h"

namespace deplo::apps {
namespace {

double analytic_us(const rules::Lowering& lowering, const measure::Ceilings& ceilings) {
  const rules::Features features = rules::features(lowering.program(), lowering.target());
  return measure::roofline_us(features, lowering.target(), ceilings);
}

/// The record's choices, whatever their order is; nullopt: not all of them are offered, or others are.
std::optional<rules::Lowering> lower(rules::Lowering lowering, const search::Records& records, std::size_t row) {
  std::map<std::string_view, const Value*> open;
  for (std::size_t k = 0; k < records.knobs.size(); ++k)
    if (const Value& value = records.value(row, k); value != Value(std::string(absent)))
      open[records.knobs[k].name] = &value;
  while (lowering.fork()) {
    const auto choice = open.find(lowering.fork()->knob);
    if (choice == open.end()) return std::nullopt;
    const auto option = search::option_of(*lowering.fork(), {lowering.fork()->knob, *choice->second});
    if (!option) return std::nullopt;
    lowering.choose(*option);
    open.erase(choice);
  }
  return open.empty() ? std::optional(std::move(lowering)) : std::nullopt;
}

}  // namespace

search::Source analytic_source(const KernelSpace& space, const measure::Ceilings& ceilings, std::size_t count,
                               std::uint64_t seed) {
  Rng rng(seed);
  search::Source source;
  std::set<std::string> seen;
  const auto add = [&](const search::Candidate& candidate) {
    if (seen.insert(print(candidate->trail())).second)
      source.push_back({candidate->trail(), analytic_us(KernelSpace::lowering(*candidate), ceilings)});
  };
  add(search::heuristic(space));
  for (std::size_t i = 0; i < count; ++i) add(search::random_path(space, rng).leaf);
  return source;
}

std::shared_ptr<const search::Records> analytic_records(const StoredSpace& space) {
  if (!space.kernel_text.starts_with("===")) return nullptr;  // imported
  const search::Records& records = space.records;
  const Target target = measure::target_of(space.info);
  const rules::Lowering root(parse_kernel(space.kernel_text, {}, records.kernel), target);
  search::Records analytic;
  analytic.name = records.name + "/analytic";
  analytic.kernel = records.kernel;
  analytic.device = "the analytic model of " + records.device;
  analytic.knobs = records.knobs;
  for (std::size_t row = 0; row < records.records.size(); ++row) {
    const std::optional<rules::Lowering> lowered = lower(root, records, row);
    if (!lowered) continue;
    const auto options = records.options_of(row);
    analytic.options.insert(analytic.options.end(), options.begin(), options.end());
    analytic.records.emplace_back().outcome = {Status::ok, analytic_us(*lowered, space.ceilings), {}};
  }
  return analytic.records.empty() ? nullptr : std::make_shared<const search::Records>(std::move(analytic));
}

}  // namespace deplo::apps
