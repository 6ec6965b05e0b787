// The learned model that several searchers share: the evaluations so far, a Gaussian process of their log times
// (encoding.h, gp.h), and unseen candidates to choose from.
//
//   target       log time, standardised. A failure counts as the slowest valid time. Times are clipped from above at a
//                quantile q of the times so far, because the shape of the slow half does not help: q = 1 up to 4
//                evaluations, falling to `clip` at 32
//   acquisition  mean - kappa σ + cost sd(log seconds) z, with z the predicted standardised log seconds; the least is
//                best. Lower confidence bound (Cox and John 1992) plus the cost of an evaluation (Snoek et al., NeurIPS
//                2012)
//   warm start   the target is the residual of the prior mean m from other devices (transfer.h): clip(log time) -
//                clip(m), in units of the sources' deviation; m is added to the mean again
//   batch        σ shrinks after each pick as if the value were known (Desautels, Krause and Burdick, JMLR 15, 2014)
#pragma once
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

/// Reads kappa, cost, clip, pool and mutants (model_parameters.h). Half of the methods are steps of a round of a
/// searcher; the private half fits and conditions the model on the same records. Not thread-safe.
class Surrogate {
 public:
  Surrogate(const Space&, const Settings&);

  void asked(const Candidate&);
  void tell(const Candidate&, const Outcome&);
  std::size_t count_told() const { return told_.size(); }
  /// Must be called before asked() and tell(). Returns false if no source has anything to learn from.
  bool warm_start(std::span<const SourceTask>);
  bool warm() const { return !transfer_.empty(); }
  /// True after at least three evaluations with at least two valid times, or after a warm start. Otherwise there is too
  /// little to learn from.
  bool ready() const;
  /// The `count` fastest candidates told, the fastest first.
  std::vector<Trail> best(std::size_t count) const;

  /// The source of unseen candidates.
  Pool& pool() { return pool_; }
  const Pool& pool() const { return pool_; }
  /// The next samples of the first evaluations; empty: these evaluations are over. After a warm start, the neighbour of
  /// the best that ranks first.
  std::vector<SamplePtr> beginning();
  /// Unseen candidates for the next round.
  std::vector<SamplePtr> candidates() { return pool_.candidates(best(Pool::parents)); }

  /// The acquisition of each sample. Requires ready().
  std::vector<double> rank(const std::vector<SamplePtr>&);
  /// `count` of the samples of the latest rank(), the best first. Each is drawn at random instead with probability
  /// `random`.
  std::vector<SamplePtr> pick(const std::vector<SamplePtr>& ranked, std::size_t count, double random);

  Rng& rng() { return rng_; }

 private:
  struct Told {
    Codes codes;
    Trail trail;
    double time, cost;  // logs; time infinite: a failure; cost NaN: not known
  };
  using Numbers = std::vector<std::size_t>;

  Points points(const Numbers&);
  std::vector<double> targets();
  std::vector<double> residuals(std::vector<double> logs);
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
  double limit_ = std::numeric_limits<double>::infinity();  // the log time at which times were last clipped
  std::vector<double> prior_;                               // prior means of the latest rank(), in units of the target
  std::vector<Told> told_;
  Numbers by_time_;  // indices into told_, the fastest first
  std::unordered_set<Codes, CodesHash> known_;
  std::size_t fitted_ = 0, version_ = 0;  // number of evaluations and encoding version, at the latest fit
  std::size_t learned_ = SIZE_MAX, learned_version_ = 0;  // the same numbers at the latest conditioning
  double cost_weight_ = 0;
  std::size_t ranked_ = 0;
};

}  // namespace deplo::search::model
