// A strategy's curve: the best result so far over time, as a rank in the landscape, from many repeats.
//   All repeats are pooled and fitted by an isotonic regression with bagging over repeats (Willemsen et al. 2024, see
//   landscape.h; Barlow et al., Statistical Inference under Order Restrictions, 1972).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/rng.h"
#include "search/compare/landscape.h"

namespace deplo::search::compare {

/// The state after an evaluation: the time when it ended, the rank of the best so far, and the highest rank of those
/// tried. The two differ if measurements are noisy. Ranks are 0 (the worst) until a configuration is valid.
struct Step {
  float seconds = 0, rank = 0, tried = 0;
};
using Steps = std::vector<Step>;

/// The steps of all repeats in order of time, which are fitted by pooling adjacent violators. If a run ended before
/// `limit`, its last rank is repeated until `limit`.
class PooledRuns {
 public:
  PooledRuns(std::span<const Steps> runs, double limit);
  std::size_t runs() const { return runs_; }
  /// The fitted ranks at ascending times; `weights` has the weight of each repeat. The rank at a time is the fit at the
  /// last step up to it, or at the first step if there is no earlier one.
  std::vector<double> fit(std::span<const double> weights, std::span<const double> times) const;
  /// The mean of the fits to `bags` draws of repeats with replacement.
  std::vector<double> bagged(std::size_t bags, std::span<const double> times, Rng&) const;
  /// The weights for one draw of repeats with replacement: how often each repeat was drawn.
  std::vector<double> draw(Rng&) const;

 private:
  struct Point {
    float seconds, rank;
    std::uint32_t run;
  };
  std::vector<Point> points_;
  std::size_t runs_;
};

/// The rank of one run's best so far at each of the ascending times; 0 before its first step.
std::vector<double> ranks_at(const Steps&, std::span<const double> times);

/// `count` equidistant times from `first` to `last`.
std::vector<double> equidistant(double first, double last, std::size_t count);

/// The score() of the rank at each time.
std::vector<double> scores(const Landscape&, std::span<const double> ranks, std::span<const double> times);
/// The mean of the scores that are not NaN; NaN if there are none.
double mean_score(std::span<const double> scores);

}  // namespace deplo::search::compare
