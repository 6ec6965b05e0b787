#include "search/compare/sources.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "core/indices.h"

namespace deplo::search::compare {
namespace {

std::set<std::string> knob_names(const Records& records) {
  std::set<std::string> names;
  for (const Knob& knob : records.knobs) names.insert(knob.name);
  return names;
}

}  // namespace

Sources sources_of(const Records& records, const Sources& all) {
  Sources found;
  for (const auto& other : all)
    if (!records.kernel.empty() && other->kernel == records.kernel && other->device != records.device &&
        other->objective == records.objective && knob_names(*other) == knob_names(records))
      found.push_back(other);
  return found;
}

SourceTask draw(const Records& records, std::size_t count, Rng& rng) {
  std::vector<std::size_t> rows = indices(records.records.size());
  SourceTask source;
  for (std::size_t i = 0; i < std::min(count, rows.size()); ++i) {
    std::swap(rows[i], rows[i + rng.below(rows.size() - i)]);
    const Record& record = records.records[rows[i]];
    Trail trail;
    for (std::size_t k = 0; k < records.knobs.size(); ++k)
      trail.push_back({records.knobs[k].name, records.value(rows[i], k)});
    const double speed = reward(record.outcome);
    source.push_back({std::move(trail), speed > 0 ? 1 / speed : std::numeric_limits<double>::infinity()});
  }
  return source;
}

}  // namespace deplo::search::compare
