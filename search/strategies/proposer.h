// What searchers share that propose trails one by one: nothing is asked twice, the space is asked to the end, every
// outcome is told once.
#pragma once
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/rng.h"
#include "search/searcher.h"
#include "search/strategies/tree.h"

namespace deplo::search::strategies {

/// A searcher makes wishes (made legal by replay) and learns of times. If a wish leads to a candidate with a known time,
/// the searcher learns of it at once, at no cost; after many such wishes in a row a random unseen candidate is asked.
class Proposer : public Searcher {
 public:
  Proposer(const Space& space, std::uint64_t seed) : space_(space), tree_(space), rng_(seed) {}
  std::vector<Candidate> ask(std::size_t n) final;
  void tell(const Candidate&, const Outcome&) final;

 protected:
  /// The next trail to try; none: a random unseen candidate.
  virtual std::optional<Trail> wish() = 0;
  /// The time of a candidate, infinite for a failure: every one that is told, and known ones that were wished for.
  virtual void learn(const Trail&, double time) = 0;

  const Space& space() const { return space_; }
  Rng& rng() { return rng_; }
  /// The fastest told.
  const std::optional<Trail>& best() const { return best_; }
  double best_time() const { return best_time_; }

 private:
  Candidate next();

  const Space& space_;
  Tree tree_;
  Rng rng_;
  std::unordered_map<std::string, std::optional<double>> times_;  // printed trail → its time; none: not told yet
  std::optional<Trail> best_;
  double best_time_ = std::numeric_limits<double>::infinity();
};

/// Fisher and Yates.
template <class T>
void shuffle(std::vector<T>& values, Rng& rng) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[rng.below(i)]);
}

}  // namespace deplo::search::strategies
