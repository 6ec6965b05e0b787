#include "engine/tune/kernel_sets.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "engine/source/experiment_kernels.h"
#include "engine/source/load.h"
#include "engine/tune/ties.h"

namespace deplo::engine {
namespace {

double sum_of(const KernelSet& set, const KernelSets::TimeOf& time_of) {
  double sum = 0;
  for (const std::string& kernel : set.kernels) {
    const double us = time_of(kernel);
    if (us <= 0) return 0;
    sum += us;
  }
  return sum;
}

/// Returns the union of both changes; nullopt if they contradict each other.
std::optional<Trail> joined(Trail changes, const Trail& more) {
  for (const Choice& choice : more) {
    const auto known = std::ranges::find(changes, choice.knob, &Choice::knob);
    if (known == changes.end())
      changes.push_back(choice);
    else if (known->value != choice.value)
      return std::nullopt;
  }
  return changes;
}

}  // namespace

KernelSets::KernelSets(const GraphCase& graph, const Target& target, Experiment& experiment)
    : case_(graph), target_(target), source_(graph.source, target), name_(graph.name), key_(source_.key()) {
  for (const KernelCase& kernel : experiment.kernels) names_.try_emplace(identity(kernel), kernel.name);
  for (Alternative& alternative : source_.all())
    if (allows(graph.restrictions, alternative.changes)) add(std::move(alternative), experiment);
}

std::vector<KernelCase> KernelSets::kernels_of(const Trail& trail) const {
  Source source = case_.source;
  source.decisions = trail;
  std::vector<Inputs> inputs = case_.inputs;
  std::vector<Inputs*> given;
  for (Inputs& one : inputs) given.push_back(&one);
  std::vector<KernelCase> kernels;
  for (LoadedKernel& loaded : load(source, target_, given, case_.place)) {
    const std::string name = loaded.opaque ? case_.name : case_.name + "." + loaded.loop.name;
    KernelCase kernel{name, case_.place, std::move(loaded.loop), case_.restrictions};
    kernel.files = std::move(loaded.files);
    kernel.tile = std::move(loaded.tile);
    kernel.opaque = std::move(loaded.opaque);
    kernel.objectives = case_.objectives;
    kernel.alternative = true;
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

void KernelSets::add(Alternative alternative, Experiment& experiment) {
  std::vector<std::string> names;
  for (KernelCase& kernel : kernels_of(alternative.trail)) {
    for (const Choice& choice : alternative.changes) {
      const std::string text = print(Trail{choice});
      kernel.name += text.substr(text.find('.'));  // the decision without its group: ".form=blocks"
    }
    const auto [known, is_new] = names_.try_emplace(identity(kernel), kernel.name);
    names.push_back(known->second);
    if (is_new) experiment.kernels.push_back(std::move(kernel));
  }
  sets_.push_back({std::move(alternative), std::move(names)});
}

std::optional<KernelSet> KernelSets::known(const Trail& changes) const {
  Result<Alternative> alternative = source_.follow(changes);
  if (!alternative.ok()) return std::nullopt;
  KernelSet set{std::move(alternative.value()), {}};
  for (const KernelCase& kernel : kernels_of(set.trail)) {
    const auto found = names_.find(identity(kernel));
    if (found == names_.end()) return std::nullopt;
    set.kernels.push_back(found->second);
  }
  return set;
}

std::optional<KernelSets::Chosen> KernelSets::choose(const TimeOf& time_of) const {
  const double heuristic_us = sum_of(sets_[0], time_of);
  if (heuristic_us <= 0) return std::nullopt;
  std::vector<std::pair<double, KernelSet>> timed;
  for (const KernelSet& set : sets_)
    if (const double us = sum_of(set, time_of); us > 0) timed.emplace_back(us, set);
  const std::size_t count = timed.size();
  std::ranges::stable_sort(timed, {}, [](const auto& one) { return one.first; });
  std::pair<double, KernelSet> best = timed[0];
  for (std::size_t i = 1; i < count && timed[i].first < heuristic_us; ++i) {
    const auto changes = joined(best.second.changes, timed[i].second.changes);
    const std::optional<KernelSet> both = changes ? known(*changes) : std::nullopt;
    const double us = both ? sum_of(*both, time_of) : 0;
    if (us > 0 && us < best.first) best = timed.emplace_back(us, *both);
  }
  std::vector<Timed> sums;
  for (const auto& [us, set] : timed) sums.push_back({us, std::ssize(set.changes), print(set.trail)});
  auto& [us, set] = timed[winner(sums)];
  return Chosen{std::move(set), count, heuristic_us, us};
}

std::map<std::string, double> KernelSets::weights(const TimeOf& time_of) const {
  double min_us = 0;
  for (const KernelSet& set : sets_)
    if (const double us = sum_of(set, time_of); us > 0 && (min_us == 0 || us < min_us)) min_us = us;
  std::map<std::string, double> weights;
  for (const KernelSet& set : sets_) {
    const double us = sum_of(set, time_of);
    const double speed = us > 0 ? min_us / us : 1;  // a set without a time may turn out to be the fastest
    const double weight = speed * max_behind < 1 ? 0 : speed * speed / static_cast<double>(set.kernels.size());
    for (const std::string& kernel : set.kernels) weights[kernel] = std::max(weights[kernel], weight);
  }
  return weights;
}

std::vector<KernelSets> add_kernel_sets(Experiment& experiment, const Target& target) {
  std::set<std::string> names;
  for (const KernelCase& kernel : experiment.kernels) {
    names.insert(kernel.name);
    names.insert(kernel.same.begin(), kernel.same.end());
  }
  std::vector<KernelSets> result;
  for (const GraphCase& graph : experiment.graphs) {
    if (!std::ranges::all_of(graph.kernels, [&](const std::string& name) { return names.contains(name); })) continue;
    KernelSets sets(graph, target, experiment);
    if (sets.sets().size() > 1) result.push_back(std::move(sets));
  }
  return result;
}

}  // namespace deplo::engine
