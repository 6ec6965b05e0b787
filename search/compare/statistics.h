// Statistics of comparisons. Pure functions; sources beside each.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "core/rng.h"

namespace deplo::search::compare {

double mean(std::span<const double> values);

/// Wilcoxon's signed-rank test of paired samples, two-sided: the probability of differences at least as one-sided if
/// each were as likely positive as negative. Zeros are dropped (Wilcoxon 1945), equal ones share ranks. Exact up to 40
/// pairs, equal ranks or not; above the normal approximation with corrections for ties and continuity. 1 without pairs.
double wilcoxon(std::span<const double> differences);

/// Holm's step-down correction (1979) of p-values tested together, in their order.
std::vector<double> holm(std::span<const double> p);

/// Vargha and Delaney's A12 (2000): the probability that a draw from `a` is larger than one from `b`, ties half.
double a12(std::span<const double> a, std::span<const double> b);

/// When something happened, or, censored, until when it had not.
struct Event {
  double at = 0;
  bool censored = false;
};

/// The share that it had happened to by each distinct time of an event, ascending: 1 - the estimate of Kaplan and Meier
/// (1958), which right-censored ones do not bias.
struct Reached {
  double at = 0, share = 0;
};
std::vector<Reached> reached(std::vector<Event> events);
/// The first time at which the share is at least q; infinity where it never is.
double time_to_share(std::span<const Reached>, double q);

struct Interval {
  double low = 0, high = 0;
};

/// 95 %, by percentiles, of the mean and the median over groups: each time groups are drawn with replacement, and of
/// each one of its replicates (statistics of its members, themselves drawn with replacement): Davison and Hinkley,
/// Bootstrap Methods and their Application (1997), 3.8. No groups: [0, 0].
struct Bootstrap {
  Interval mean, median;
};
Bootstrap hierarchical_bootstrap(std::span<const std::vector<double>> replicates, std::size_t draws, Rng&);

}  // namespace deplo::search::compare
