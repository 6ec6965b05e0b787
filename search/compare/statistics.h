// Statistics for comparisons. Pure functions, each with its literature.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/rng.h"

namespace deplo::search::compare {

double mean(std::span<const double> values);

/// The p-value of Wilcoxon's two-sided signed-rank test of paired samples: the probability of differences that are at
/// least as one-sided if each is equally likely positive or negative. Zeros are dropped (Wilcoxon 1945); equal
/// magnitudes share ranks. Exact for up to 40 pairs, also with ties. For more pairs, uses the normal approximation with
/// corrections for ties and continuity. 1 if there are no pairs.
double wilcoxon(std::span<const double> differences);

/// Holm's step-down correction (1979) of p-values that are tested together. The results have the order of `p`.
std::vector<double> holm(std::span<const double> p);

/// Vargha and Delaney's A12 (2000): the probability that a draw from `a` is larger than one from `b`; ties count half.
double a12(std::span<const double> a, std::span<const double> b);

/// The time of an event. If `censored`, the event had not happened by this time.
struct Event {
  double at = 0;
  bool censored = false;
};

/// The share of subjects whose event happened by a time: 1 minus the estimate of Kaplan and Meier (1958), which
/// right-censored subjects do not bias. reached() returns one entry for each distinct time of an event, in ascending
/// order.
struct Reached {
  double at = 0, share = 0;
};
std::vector<Reached> reached(std::vector<Event> events);
/// The first time at which the share is at least q; infinity if there is none.
double time_to_share(std::span<const Reached>, double q);

struct Interval {
  double low = 0, high = 0;
};

/// 95 % percentile intervals of the mean and the median over groups. Each draw takes groups with replacement, and from
/// each group one of its replicates, which are statistics of the group's members, drawn with replacement (Davison and
/// Hinkley, Bootstrap Methods and their Application (1997), 3.8). Without groups: [0, 0].
struct Bootstrap {
  Interval mean, median;
};
Bootstrap hierarchical_bootstrap(std::span<const std::vector<double>> replicates, std::size_t draws, Rng&);

}  // namespace deplo::search::compare
