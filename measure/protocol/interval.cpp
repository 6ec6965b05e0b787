#include "measure/protocol/interval.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace deplo::measure {

double median(std::vector<double> values) {
  CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::size_t median_rank(std::size_t n) {
  constexpr double tail = 0.025;
  double term = std::exp2(-static_cast<double>(n)), below = 0;  // P(Bin = k), P(Bin < k)
  std::size_t k = 0;
  for (; k < n && below + term <= tail; ++k) {
    below += term;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return k;
}

Interval median_interval(std::vector<double> values) {
  const std::size_t rank = median_rank(values.size());
  if (rank == 0) return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  std::sort(values.begin(), values.end());
  return {values[rank - 1], values[values.size() - rank]};
}

Interval ratio_interval(std::span<const double> a, std::span<const double> b) {
  CHECK(a.size() == b.size());
  std::vector<double> ratios(a.size());
  std::transform(a.begin(), a.end(), b.begin(), ratios.begin(), [](double x, double y) { return x / y; });
  return median_interval(std::move(ratios));
}

}  // namespace deplo::measure
