#include "search/strategies/proposer.h"

#include "search/trails.h"

namespace deplo::search::strategies {
namespace {

constexpr int max_known = 100;  // wishes in a row for known candidates, after which the searcher makes no progress

}  // namespace

std::vector<Candidate> Proposer::ask(std::size_t n) {
  return ask_each(n, [this] {
    Candidate candidate = next();
    if (candidate) times_.try_emplace(deplo::print(candidate->trail()));
    return candidate;
  });
}

Candidate Proposer::next() {
  if (tree_.root().finished) return nullptr;
  for (int known = 0; known < max_known; ++known) {
    const std::optional<Trail> wanted = wish();
    if (!wanted) break;
    Candidate candidate = replay(space_, *wanted);
    const auto seen = times_.find(deplo::print(candidate->trail()));
    if (seen == times_.end()) {
      tree_.tell(candidate, 0);
      return candidate;
    }
    if (seen->second) learn(candidate->trail(), *seen->second);
  }
  return tree_.draw(rng_);
}

void Proposer::tell(const Candidate& candidate, const Outcome& outcome) {
  const double speed = reward(outcome);
  tree_.tell(candidate, speed);
  std::optional<double>& known = times_[deplo::print(candidate->trail())];
  if (known) return;
  known = speed > 0 ? 1 / speed : std::numeric_limits<double>::infinity();
  if (*known < best_time_) {
    best_time_ = *known;
    best_ = candidate->trail();
  }
  learn(candidate->trail(), *known);
}

}  // namespace deplo::search::strategies
