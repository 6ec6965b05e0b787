// Medians and their confidence intervals. They assume nothing about the distribution of the times.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace deplo::measure {

/// Returns the median of at least one value.
double median(std::vector<double> values);

struct Interval {
  double low = 0, high = 0;
};

/// Returns the largest k with P(Bin(n, 1/2) < k) <= 2.5 %. The median lies between the order statistics x(k) and
/// x(n + 1 - k) (counted from 1) with a probability of at least 95 %. k is 4 for 15 values. It is 0 for fewer than 6
/// values, for which no such interval exists. (David and Nagaraja, Order Statistics, 7.1.)
std::size_t median_rank(std::size_t n);
/// Returns the interval between the order statistics of median_rank(); -infinity to infinity for fewer than 6 values.
Interval median_interval(std::vector<double> values);
/// Returns the median_interval() of a[i] / b[i], where a[i] and b[i] are samples of the same round: they had the same
/// clock and the same disturbances by other programs.
Interval ratio_interval(std::span<const double> a, std::span<const double> b);

}  // namespace deplo::measure
