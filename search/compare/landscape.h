// Properties of a recorded space for rating searches: budgets, and the results of random search in closed form.
//   Willemsen, Schoonhoven, Filipovič, Tørring, van Nieuwpoort, van Werkhoven: A methodology for comparing optimization
//   algorithms for auto-tuning, FGCS 159 (2024) 489–504, doi 10.1016/j.future.2024.05.021
// Values are ordered from worst to best: d_0 >= … >= d_{N-1} = f_opt, over the N valid configurations.
#pragma once
#include <cstdint>
#include <vector>

#include "search/records/table_space.h"

namespace deplo::search::compare {

/// Immutable. Values are Records::loss(), in µs if the objective is a duration. Costs are in seconds.
class Landscape {
 public:
  /// Throws Error if no configuration is valid, or if evaluations cost nothing.
  explicit Landscape(const TableSpace&);

  const std::vector<double>& values() const { return values_; }  // d
  double optimum() const { return values_.back(); }
  /// The value that is `percent` % worse than the optimum. If higher is better, 10 % worse is 0.9 of the optimum.
  double within(double percent) const;
  /// optimum / value, or value / optimum if higher is better: 1 at the optimum. If the values have both signs, the
  /// share of the distance from the worst value to the optimum. In [0, 1].
  double quality(double value) const;
  double median() const { return median_; }
  /// The rank of a record (by its index) among the values, from 0 for the worst. Records with equal values share their
  /// mean rank. Below 0: the record is not valid.
  double rank(std::uint32_t record) const { return ranks_[record]; }
  /// The value at a rank, which is rounded to an integer and clamped to the range.
  double value_at(double rank) const;

  /// The number of evaluations that random search is expected to need for the target of p:
  /// M*(p) = max(1, ceil(i / (N + 1 - i))), i = min{i : d_i <= f_opt + (f_med - f_opt)(1 - p)}.
  std::int64_t evaluations(double p) const;
  /// T(p) = M*(p) x median cost: over all configurations, including invalid ones; over those with a recorded cost if it
  /// would be 0.
  double seconds(double p) const { return static_cast<double>(evaluations(p)) * median_cost_; }

  /// The expected best value of random search after M evaluations:
  /// F_rand(M) = d at min(N - 1, round(M (N + 1) / (M + 1))).
  double random_value(double evaluations) const;
  /// The expected best value of random search after a time: M = max(1, round(seconds / tau)), with tau = mean cost of a
  /// valid configuration + share of invalid ones x mean cost of an invalid configuration.
  double random_at(double seconds) const;

 private:
  std::vector<double> values_;
  std::vector<float> ranks_;  // by record index
  double median_ = 0, median_cost_ = 0, tau_ = 0;
};

/// P = (f - f_rand) / (f_opt - f_rand): 0 is random search, 1 the optimum. NaN if random search is at the optimum.
double score(double value, double random, double optimum);

}  // namespace deplo::search::compare
