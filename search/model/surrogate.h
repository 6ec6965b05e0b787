// What the searchers with a learned model share: the evaluations so far, a Gaussian process of their log times
// (encoding.h, gp.h), and unseen candidates to choose from.
//
//   target       log time; a failure is the slowest valid one; clipped from above at a quantile q of what was seen (the
//                shape of the slow half is of no use): q = 1 up to 4 evaluations, falling to `clip` at 32; standardised
//   acquisition  mean - kappa σ + cost sd(log seconds) z, z the predicted standardised log seconds; the least is best:
//                lower confidence bound (Cox and John 1992) and the price of finding out (Snoek et al., NeurIPS 2012)
//   warm start   the target is what the prior mean m of other devices (transfer.h) leaves: clip(log time) - clip(m), in
//                the sources' deviations; m comes back into the mean
//   batch        σ shrinks after each pick as if the value were known (Desautels, Krause and Burdick, JMLR 15, 2014)
#pragma once
#include <cstdint>
#include <limits>
#include <unordered_set>
#include <vector>

#include "core/rng.h"
#include "search/model/encoding.h"
#include "search/model/gp.h"
#include "search/model/pool.h"
#include "search/model/transfer.h"
#include "search/searcher.h"

namespace deplo::search::model {

/// Reads kappa, cost, clip, pool and mutants (model_parameters.h). Not thread-safe.
class Surrogate {
 public:
  Surrogate(const Space&, const Settings&);

  void asked(const Candidate&);
  void tell(const Candidate&, const Outcome&);
  std::size_t count_told() const { return told_.size(); }
  /// Before all else; false: the sources say nothing.
  bool warm_start(std::span<const SourceTask>);
  bool warm() const { return !transfer_.empty(); }
  /// Two valid times or more among three evaluations or more: below that there is nothing to learn from. A warm one is.
  bool ready() const;
  /// The fastest told, the best first.
  std::vector<Trail> best(std::size_t count) const;

  /// What was not asked yet.
  Pool& pool() { return pool_; }
  /// Unseen candidates for the next round.
  std::vector<SamplePtr> candidates() { return pool_.candidates(best(Pool::parents)); }

  /// The acquisition of each sample. ready().
  std::vector<double> rank(const std::vector<SamplePtr>&);
  /// Numbers of those of the latest rank(), the best first; each is drawn at random with probability `random`.
  std::vector<std::size_t> pick(std::size_t count, double random);

  Rng& rng() { return rng_; }

 private:
  struct Told {
    Codes codes;
    Trail trail;
    double time, cost;  // logs; infinite: a failure; NaN: not known
  };
  using Numbers = std::vector<std::size_t>;

  Points points(const Numbers&);
  std::vector<double> targets();
  std::vector<double> residuals(std::vector<double> logs);
  void find_prior(const std::vector<SamplePtr>&);
  std::vector<double> costs() const;
  void fit(const std::vector<double>& targets);
  void condition(const std::vector<double>& targets);
  void learn();
  double acquisition(std::size_t sample) const;

  Rng rng_;
  double kappa_, cost_, clip_;
  Encoding encoding_;
  Pool pool_;
  GaussianProcess process_;
  Transfer transfer_;
  double limit_ = std::numeric_limits<double>::infinity();  // log time: the latest clip
  std::vector<double> prior_;                               // of the latest rank(), in units of the target
  std::vector<Told> told_;
  Numbers by_time_;  // told_, the fastest first
  std::unordered_set<Codes, CodesHash> known_;
  std::size_t fitted_ = 0, version_ = 0;                  // evaluations and encoding at the latest fit
  std::size_t learned_ = SIZE_MAX, learned_version_ = 0;  // and when values were last taken as known
  double cost_weight_ = 0;
  std::size_t ranked_ = 0;
};

}  // namespace deplo::search::model
