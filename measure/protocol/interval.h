// Medians and what is known of them: intervals without an assumption on how the times are distributed.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace deplo::measure {

/// Of at least one value.
double median(std::vector<double> values);

struct Interval {
  double low = 0, high = 0;
};

/// The number k of the order statistics x(k) and x(n + 1 - k) (from 1) between which the median lies with a probability
/// of at least 95 %: the largest k with P(Bin(n, 1/2) < k) <= 2.5 %. 4 for 15 values; 0 below 6, where there is none.
/// (David and Nagaraja, Order Statistics, 7.1.)
std::size_t median_rank(std::size_t n);
/// These order statistics; of fewer than 6 values from -infinity to infinity.
Interval median_interval(std::vector<double> values);
/// Of the median of a[i] / b[i]: samples of the same round saw the same clock, the same neighbours.
Interval ratio_interval(std::span<const double> a, std::span<const double> b);

}  // namespace deplo::measure
