// A recorded space as a target for searches: budgets, and random search in closed form.
//   Willemsen, Schoonhoven, Filipovič, Tørring, van Nieuwpoort, van Werkhoven: A methodology for comparing optimization
//   algorithms for auto-tuning, FGCS 159 (2024) 489–504, doi 10.1016/j.future.2024.05.021
// Values are ordered from worst to best: d_0 >= … >= d_{N-1} = f_opt, over the N valid configurations.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/records/table_space.h"

namespace deplo::search::compare {

/// Immutable. Values are Records::loss(), µs if the objective is a duration; costs in seconds.
class Landscape {
 public:
  /// Of the space's configurations. Throws Error where none is valid or evaluations cost nothing.
  explicit Landscape(const TableSpace&);

  const std::vector<double>& values() const { return values_; }  // d
  double optimum() const { return values_.back(); }
  /// The value that is so many percent worse than the optimum: where higher is better, 10 % are 0.9 of the best.
  double within(double percent) const;
  /// The optimum as a share of the value, or where higher is better the value as a share of the optimum: 1 at the optimum.
  /// If values have both signs, the share of the way from the worst value. In [0, 1].
  double quality(double value) const;
  double median() const { return median_; }
  double invalid_share() const { return invalid_share_; }
  /// Where a record (by its number) stands among the values, from 0; equal ones share the middle of their places.
  /// Below 0: it is not valid.
  double rank(std::uint32_t record) const { return ranks_[record]; }
  /// The value at a rank, rounded to whole ones and into the range.
  double value_at(double rank) const;

  /// M*(p) = max(1, ceil(i / (N + 1 - i))), i = min{i : d_i <= f_opt + (f_med - f_opt)(1 - p)}: so many evaluations
  /// random search is expected to need for the target.
  std::int64_t evaluations(double p) const;
  /// T(p) = M*(p) x median cost.
  double seconds(double p) const { return static_cast<double>(evaluations(p)) * median_cost_; }
  /// Of a configuration, the invalid ones included.
  double median_cost() const { return median_cost_; }

  /// F_rand(M) = d at min(N - 1, round(M (N + 1) / (M + 1))).
  double random_value(double evaluations) const;
  /// The same on the time axis: M = max(1, round(seconds / tau)), tau = mean cost of a valid one + share of invalid
  /// ones x mean cost of an invalid one.
  double random_at(double seconds) const;

 private:
  std::vector<double> values_;
  std::vector<float> ranks_;  // by record number
  double median_ = 0, invalid_share_ = 0, median_cost_ = 0, tau_ = 0;
};

/// P = (f - f_rand) / (f_opt - f_rand): 0 is random search, 1 the optimum. NaN where random search is at the optimum.
double score(double value, double random, double optimum);

}  // namespace deplo::search::compare
