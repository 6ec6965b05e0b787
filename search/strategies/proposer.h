// The base of searchers that propose trails one by one. It asks no candidate twice, asks until the space is exhausted,
// and passes each outcome on once.
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

/// The derived searcher makes wishes, which replay makes legal, and learns times. If a wish leads to a candidate with a
/// known time, the searcher learns this time again at once, without a measurement. After many such wishes in a row, a
/// random unseen candidate is asked.
class Proposer : public Searcher {
 public:
  Proposer(const Space& space, std::uint64_t seed) : space_(space), tree_(space), rng_(seed) {}
  std::vector<Candidate> ask(std::size_t n) final;
  void tell(const Candidate&, const Outcome&) final;

 protected:
  /// The next trail to try; nullopt: a random unseen candidate.
  virtual std::optional<Trail> wish() = 0;
  /// Learns the time of a candidate; infinite for a failure. Called for every candidate that is told, and for wishes
  /// with a known time.
  virtual void learn(const Trail&, double time) = 0;

  const Space& space() const { return space_; }
  Rng& rng() { return rng_; }
  /// The fastest candidate told.
  const std::optional<Trail>& best() const { return best_; }
  double best_time() const { return best_time_; }

 private:
  Candidate next();

  const Space& space_;
  Tree tree_;
  Rng rng_;
  std::unordered_map<std::string, std::optional<double>> times_;  // printed trail → its time; nullopt: not told yet
  std::optional<Trail> best_;
  double best_time_ = std::numeric_limits<double>::infinity();
};

}  // namespace deplo::search::strategies
