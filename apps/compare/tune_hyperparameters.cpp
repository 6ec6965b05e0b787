#include "apps/compare/tune_hyperparameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/error.h"
#include "core/interrupt.h"
#include "search/records/formats/space_files.h"

namespace deplo::apps {

namespace compare = search::compare;

namespace {

std::set<std::string> canonical(const std::vector<std::string>& paths) {
  std::set<std::string> files;
  const search::SpaceFiles found(paths);
  for (const search::SpaceFile& file : found.files()) {
    std::error_code unreadable;  // reading the file will report the error
    const auto path = std::filesystem::canonical(file.path, unreadable);
    files.insert(unreadable ? file.path : path.string());
  }
  return files;
}

void refuse_overlap(const std::vector<std::string>& training, const std::vector<std::string>& scored) {
  const std::set<std::string> trained_on = canonical(training);
  for (const std::string& file : canonical(scored))
    if (trained_on.contains(file)) throw Error(file + ": --score-on must name spaces that --spaces does not");
}

const search::SearcherKind& only_strategy(const CompareFlags& flags) {
  const std::vector<compare::Entrant> entrants = parse_entrants(flags.search, flags.set);
  if (entrants.size() != 1 || !entrants[0].options.parameters.empty())
    throw Error("--tune-hyperparameters: expected one strategy in --search, without parameters");
  const search::SearcherKind& kind = search::find_searcher(entrants[0].name);
  if (kind.takes_any)
    throw Error(fmt::format("--tune-hyperparameters: expected a strategy of deplo, whose values are known, found '{}'",
                            entrants[0].name));
  if (kind.parameters.empty())
    throw Error(fmt::format("--search {}: expected a strategy that has parameters", kind.name));
  return kind;
}

/// Throws Error if a scored space is a training space in another format: both have the same kernel, device and number
/// of configurations.
void refuse_overlap(const std::vector<compare::SpaceResult>& training,
                    const std::vector<compare::SpaceResult>& scored) {
  for (const compare::SpaceResult& a : training)
    for (const compare::SpaceResult& b : scored)
      if (!a.kernel.empty() && a.kernel == b.kernel && a.device == b.device &&
          a.difficulty.configurations == b.difficulty.configurations)
        throw Error(fmt::format("{}: --score-on must name spaces that --spaces does not, found the same space as {}",
                                b.name, a.name));
}

std::string value_of(const search::Hyperparameter& parameter, const Parameters& set) {
  const auto found = set.find(std::string(parameter.name));
  return found == set.end() ? std::string(parameter.fallback) : found->second;
}

}  // namespace

std::string label(const std::string& strategy, const Parameters& parameters) {
  std::string text = strategy;
  for (const auto& [name, value] : parameters) text += fmt::format(":{}={}", name, value);
  return text;
}

std::vector<Parameters> single_changes(const search::SearcherKind& kind, const Parameters& from) {
  std::vector<Parameters> changes;
  for (const search::Hyperparameter& parameter : kind.parameters)
    for (const std::string& value : grid(parameter)) {
      if (value == value_of(parameter, from)) continue;
      Parameters changed = from;
      changed[std::string(parameter.name)] = value;
      if (value == parameter.fallback) changed.erase(std::string(parameter.name));
      changes.push_back(std::move(changed));
    }
  return changes;
}

TunedParameters tune_hyperparameters(const CompareFlags& flags, const std::vector<std::string>& scored_spaces,
                                     std::size_t max_rounds, Progress& progress) {
  const search::SearcherKind& kind = only_strategy(flags);
  const std::string strategy(kind.name);
  if (!scored_spaces.empty()) refuse_overlap(flags.spaces, scored_spaces);
  TunedParameters tuned;
  CompareFlags one = flags;
  one.orders.resize(1);
  std::vector<compare::SpaceResult> training;
  while (tuned.rounds.size() < max_rounds) {
    std::vector<Parameters> tried = single_changes(kind, tuned.best);
    tried.insert(tried.begin(), tuned.best);
    one.search.clear();
    for (const Parameters& parameters : tried) one.search.push_back(label(strategy, parameters));
    const Comparison comparison = compare_strategies(one, progress);
    if (comparison.interrupted) break;
    std::vector<double> scores;
    for (const compare::Standing& standing : comparison.orders[0].standings) scores.push_back(standing.score);
    const auto best = static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
    tuned.rounds.push_back({one.search, scores});
    training = comparison.orders[0].spaces;
    if (best == 0) break;
    tuned.best = tried[best];
  }
  if (scored_spaces.empty() || interrupted() != 0) return tuned;
  one.spaces = scored_spaces;
  one.search = {strategy};
  if (!tuned.best.empty()) one.search.push_back(label(strategy, tuned.best));
  tuned.scored = compare_strategies(one, progress);
  refuse_overlap(training, tuned.scored.orders[0].spaces);
  return tuned;
}

std::string print_tuned(const TunedParameters& tuned, const CompareFlags& flags, std::size_t width) {
  std::string text;
  for (std::size_t round = 0; round < tuned.rounds.size(); ++round) {
    text += fmt::format("round {}: mean score on the training spaces, {} repeats\n", round + 1, flags.contest.repeats);
    const auto& [labels, scores] = tuned.rounds[round];
    for (std::size_t i = 0; i < labels.size(); ++i) text += fmt::format("  {:7.3f}  {}\n", scores[i], labels[i]);
  }
  if (interrupted() != 0) text += "interrupted: the unfinished round is not shown\n";
  text += "best: " + (tuned.best.empty() ? "the defaults" : label("", tuned.best).substr(1)) + "\n";
  if (!tuned.scored.orders.empty())
    text += "\non the spaces of --score-on:\n" + print_comparison(tuned.scored, flags.verbose, width);
  return text;
}

}  // namespace deplo::apps
