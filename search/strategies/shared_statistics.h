// Statistics that the branches of a decision tree share. A result counts for every candidate, with a weight that grows
// with the similarity of the candidate.
//
//   similarity   s(a, b) = exp(-|a - b|² / 2 radius²), with a and b the points of candidates (model/encoding.h)
//   reward       max(0, 1 - r/(q n)) for rank r among n results (0: the fastest); 0 for a failure. q is 1 for up to 4
//                results and falls to 0.5 at 32: results slower than the median count as equally slow
//   visits       N(x) = Σ s(x, result),   value Q(x) = (Σ s(x, result) reward + N₀ mean reward) / (N(x) + N₀)
//   upper bound  Q(x) + c / √(N(x) + N₀)
//
// AMAF and RAVE (Gelly and Silver, ICML 2007) share the statistics of a choice among all branches, GRAVE (Cazenave,
// IJCAI 2015) among the branches below an ancestor. Here similarity decides, as in KR-UCT: Yee, Lisý and Bowling, Monte
// Carlo Tree Search in Continuous Action Spaces with Execution Uncertainty, IJCAI 2016. Nothing is fitted.
#pragma once
#include <cstddef>
#include <unordered_map>
#include <vector>

#include "core/rng.h"
#include "search/model/encoding.h"
#include "search/model/gp.h"
#include "search/model/pool.h"

namespace deplo::search::strategies {

/// Keeps at most 2,048 results. If there are more, it keeps the fastest 512 and 512 of the others. Not thread-safe.
/// Deterministic.
class SharedStatistics {
 public:
  /// The encoding and the generator must outlive this object. radius > 0.
  SharedStatistics(model::Encoding& encoding, Rng& rng, double radius, double exploration)
      : encoding_(encoding), rng_(rng), radius_(radius), exploration_(exploration) {}

  /// An outstanding candidate counts as visited, with the mean reward, until its time is told.
  void ask(const model::Codes&);
  /// `time` > 0; infinite: a failure. Later times of the same candidate are ignored.
  void tell(const model::Codes&, double time);
  /// The upper bound of each sample.
  std::vector<double> bounds(const std::vector<model::SamplePtr>&);
  /// Up to `count` of the samples of the latest bounds(). The first has the highest bound. Each further sample has the
  /// highest bound after the samples before it were visited. With probability `random`, a sample is drawn at random
  /// instead.
  std::vector<model::SamplePtr> pick(const std::vector<model::SamplePtr>&, std::size_t count, double random);

 private:
  struct Result {
    model::Codes codes;
    double time;  // NaN: outstanding
  };
  /// A sample's similarity to each result.
  struct Similar {
    model::SamplePtr sample;  // keeps its address, which is the key, from being reused
    std::vector<float> weights;
    double visits = 0;
    std::size_t round = 0;  // the latest round that needed it
  };
  void add(const model::Codes&, double time);
  void refresh();
  void forget_some();
  std::vector<float> rewards() const;
  void place(const model::Codes&, model::Points&);
  void extend(Similar&, const float* point);
  double bound(std::size_t sample) const;
  void visit(std::size_t sample);

  model::Encoding& encoding_;
  Rng& rng_;
  double radius_, exploration_;
  std::vector<Result> results_;
  std::unordered_map<model::Codes, std::size_t, model::CodesHash> numbers_;  // indices in results_
  std::vector<double> times_;  // times of all results that were told, ascending
  model::Points points_;       // points of the results, divided by the radius
  std::unordered_map<const model::Sample*, Similar> similar_;
  std::size_t version_ = 0, round_ = 0;
  // State for the samples of the latest bounds():
  model::Points samples_;
  std::vector<double> sums_, visits_;  // Σ s reward, N
  double mean_ = 0;                    // mean reward
};

}  // namespace deplo::search::strategies
