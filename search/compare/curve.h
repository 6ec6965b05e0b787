// A strategy's curve: the best so far of many runs over time, as a rank of the landscape.
//   All repeats are pooled, fitted by an isotonic regression with bagging over repeats (Willemsen et al. 2024, see
//   landscape.h; Barlow et al., Statistical Inference under Order Restrictions, 1972).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/rng.h"
#include "search/compare/landscape.h"

namespace deplo::search::compare {

/// After an evaluation: when it ended, and the rank of the best so far; 0 (the worst) while nothing was valid.
struct Step {
  float seconds = 0, rank = 0;
};
using Steps = std::vector<Step>;

/// Least squares of non-decreasing values (pool adjacent violators). Weights of at least 0, not all of them 0.
std::vector<double> isotonic(std::span<const double> values, std::span<const double> weights);

/// The steps of all repeats in order of time. A run that ended before `limit` goes on as it ended: see PooledRuns().
class PooledRuns {
 public:
  PooledRuns(std::span<const Steps> runs, double limit);
  std::size_t runs() const { return runs_; }
  /// Fitted ranks at the times (ascending), each repeat counted as often as its weight says: the fit at the last
  /// step before a time, at the first one before all of them.
  std::vector<double> fit(std::span<const double> weights, std::span<const double> times) const;
  /// The mean of fits to `bags` draws of repeats with replacement.
  std::vector<double> bagged(std::size_t bags, std::span<const double> times, Rng&) const;
  /// Weights of one draw of repeats with replacement.
  std::vector<double> draw(Rng&) const;

 private:
  struct Point {
    float seconds, rank;
    std::uint32_t run;
  };
  std::vector<Point> points_;
  std::size_t runs_;
};

/// The best so far of one run at each time; rank 0 before its first step.
std::vector<double> ranks_at(const Steps&, std::span<const double> times);

/// `count` equidistant times in [first, last].
std::vector<double> equidistant(double first, double last, std::size_t count);

/// Scores at each time, of ranks at the same times. See score().
std::vector<double> scores(const Landscape&, std::span<const double> ranks, std::span<const double> times);
/// The mean of those that are defined; NaN where none is.
double mean_score(std::span<const double> scores);

}  // namespace deplo::search::compare
