#include "engine/tune/warm_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "engine/compile/shape_distance.h"
#include "engine/learn/store_keys.h"
#include "measure/store/store.h"
#include "search/trails.h"

namespace deplo::engine {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Near {
  StoreKey key;
  double distance;
};

std::vector<Near> nearest(const std::string& store, const std::string& text) {
  std::vector<Near> found;
  for (StoreKey& key : store_keys(store))
    if (const double distance = shape_distance(text, key.text); std::isfinite(distance))
      found.push_back({std::move(key), distance});
  std::ranges::stable_sort(found, {}, &Near::distance);
  return found;
}

search::SourceTask source_of(const std::vector<measure::KnownTrial>& trials) {
  search::SourceTask source;
  for (const measure::KnownTrial& known : trials) {
    search::Experience experience{parse_trail(known.trial.trail), infinity};
    if (known.trial.status == Status::ok && known.trial.timing.median_us > 0)
      experience.microseconds = known.trial.timing.median_us;
    source.push_back(std::move(experience));
  }
  return source;
}

// Returns the fastest trials that exist in the space, in the order of their times. Of equal times, the trial that was
// stored first comes first.
std::vector<search::Candidate> fastest_of(const search::SourceTask& trials, const search::Space& space,
                                          std::size_t limit) {
  std::vector<const search::Experience*> valid;
  for (const search::Experience& trial : trials)
    if (std::isfinite(trial.microseconds)) valid.push_back(&trial);
  std::ranges::stable_sort(valid, {}, &search::Experience::microseconds);
  std::vector<search::Candidate> found;
  for (const search::Experience* trial : valid) {
    if (found.size() == limit) break;
    if (auto position = space.find(trial->trail)) found.push_back(std::move(position));
  }
  return found;
}

}  // namespace

std::vector<WarmSource> warm_sources(const std::string& path, const std::string& kernel_text, std::size_t limit) {
  const std::vector<Near> near = nearest(path, kernel_text);
  measure::Store store = measure::Store::open_to_read(path);
  std::vector<WarmSource> sources;
  for (const auto& [key, distance] : near) {
    if (sources.size() == limit) break;
    search::SourceTask trials = source_of(store.known_trials(key.kernel, key.device, key.protocol));
    const auto valid = [](const search::Experience& experience) { return std::isfinite(experience.microseconds); };
    if (std::ranges::count_if(trials, valid) < 2) continue;  // too few to learn from
    sources.push_back({key.name, key.info.name, distance, std::move(trials)});
  }
  return sources;
}

std::vector<search::Candidate> fastest(const std::vector<WarmSource>& sources, const search::Space& space,
                                       std::size_t per_source) {
  std::vector<std::vector<search::Candidate>> columns;
  for (const WarmSource& source : sources) columns.push_back(fastest_of(source.trials, space, per_source));
  std::vector<search::Candidate> result;
  std::set<std::string> seen;
  for (std::size_t place = 0; place < per_source; ++place)
    for (const auto& column : columns)
      if (place < column.size() && seen.insert(print(column[place]->trail())).second) result.push_back(column[place]);
  return result;
}

std::vector<search::Candidate> replayed(const std::vector<Winner>& winners, const search::Space& space,
                                        const Trail& heuristic, const ir::Work& work, std::size_t limit) {
  const auto knobs = [](const Trail& trail) {
    std::set<std::string> names;
    for (const auto& choice : trail) names.insert(choice.knob);
    return names;
  };
  const std::set<std::string> own = knobs(heuristic);
  const auto distance = [&](const Winner& winner) {
    std::vector<std::string> apart;
    std::ranges::set_symmetric_difference(own, knobs(winner.trail), std::back_inserter(apart));
    const auto times = [](double a, double b) { return std::abs(std::log(std::max(a, 1.0) / std::max(b, 1.0))); };
    return static_cast<double>(apart.size()) + times(winner.work.flops, work.flops) +
           times(winner.work.bytes, work.bytes);
  };
  std::vector<std::pair<double, const Winner*>> near;
  for (const Winner& winner : winners)
    if (!heuristic.empty() && !winner.trail.empty() && winner.trail.front().knob == heuristic.front().knob)
      near.emplace_back(distance(winner), &winner);
  std::ranges::stable_sort(near, {}, [](const auto& entry) { return entry.first; });
  std::vector<search::Candidate> result;
  std::set<std::string> seen{print(heuristic)};
  for (const auto& [apart, winner] : near) {
    if (result.size() == limit) break;
    search::Candidate candidate = search::replay(space, winner->trail);
    if (seen.insert(print(candidate->trail())).second) result.push_back(std::move(candidate));
  }
  return result;
}

std::string describe(const std::vector<WarmSource>& sources) {
  std::string text;
  for (const WarmSource& source : sources)
    text += fmt::format("{}{} trials of {}{} on {}", text.empty() ? "" : "; ", source.trials.size(), source.kernel,
                        source.distance > 0 ? " in another shape" : "", source.device);
  return text;
}

}  // namespace deplo::engine
