// The base of searchers with a learned model. It evaluates a design first, then rounds of `batch` evaluations. It asks
// no candidate twice, and asks until the space is exhausted. An ask returns fewer candidates than wanted if the next
// ones depend on results that are not told yet.
#pragma once
#include <deque>

#include "search/model/surrogate.h"
#include "search/strategies/model_parameters.h"
#include "search/strategies/tree.h"

namespace deplo::search::strategies {

class ModelSearcher : public Searcher {
 public:
  ModelSearcher(const Space&, const Settings&);
  std::vector<Candidate> ask(std::size_t n) final;
  void tell(const Candidate&, const Outcome&) final;
  bool learns() const final { return true; }
  bool warm_start(std::span<const SourceTask> sources) final { return surrogate_.warm_start(sources); }

 protected:
  /// Proposes the next round, the best first. The caller skips candidates that were seen in the meantime. Called only
  /// if the surrogate is ready().
  virtual std::vector<model::SamplePtr> propose(std::size_t count) = 0;

  const Space& space() const { return space_; }
  model::Surrogate& surrogate() { return surrogate_; }
  double random_share() const { return random_; }

 private:
  Candidate next();
  bool needs_results() const;
  void fill(std::size_t wanted);

  const Space& space_;
  Tree tree_;
  model::Surrogate surrogate_;
  std::size_t design_;
  double batch_, random_;
  std::deque<model::SamplePtr> queue_;
};

}  // namespace deplo::search::strategies
