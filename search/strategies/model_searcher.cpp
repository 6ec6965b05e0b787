#include "search/strategies/model_searcher.h"

#include <algorithm>

namespace deplo::search::strategies {
ModelSearcher::ModelSearcher(const Space& space, const Settings& settings)
    : space_(space),
      tree_(space),
      surrogate_(space, settings),
      design_(settings.integer("design")),
      batch_(settings.number("batch")),
      random_(settings.number("random")) {}

std::vector<Candidate> ModelSearcher::ask(std::size_t n) {
  std::vector<Candidate> candidates;
  while (candidates.size() < n) {
    if (queue_.empty()) {
      if (!candidates.empty() && needs_results()) break;
      fill(n - candidates.size());
    }
    Candidate candidate = next();
    if (!candidate) break;
    surrogate_.asked(candidate);
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

void ModelSearcher::tell(const Candidate& candidate, const Outcome& outcome) {
  tree_.tell(candidate, reward(outcome));
  surrogate_.tell(candidate, outcome);
}

Candidate ModelSearcher::next() {
  while (!queue_.empty()) {
    const model::SamplePtr sample = std::move(queue_.front());
    queue_.pop_front();
    if (surrogate_.pool().seen(*sample)) continue;  // told in the meantime without being asked
    Candidate candidate = follow(space_, *sample);
    tree_.tell(candidate, 0);
    return candidate;
  }
  return tree_.draw(surrogate_.rng());
}

// Whether the design is complete, but too few results are known to learn from.
bool ModelSearcher::needs_results() const { return !surrogate_.ready() && surrogate_.pool().count_asked() >= design_; }

void ModelSearcher::fill(std::size_t wanted) {
  if (tree_.root().finished) return;
  std::vector<model::SamplePtr> round = surrogate_.beginning();
  if (round.empty() && surrogate_.ready()) {
    const double batch = batch_ * static_cast<double>(surrogate_.count_told());
    round = propose(std::max(wanted, static_cast<std::size_t>(std::clamp(batch, 1.0, max_batch))));
  }
  queue_.assign(round.begin(), round.end());
}

}  // namespace deplo::search::strategies
