#include "search/model/regression_targets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace deplo::search::model {

double standardise(std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (double& v : values) {
    v -= mean;
    squares += v * v;
  }
  const double deviation = std::sqrt(squares / n);
  for (double& v : values) v /= deviation > 0 ? deviation : 1;
  return deviation;
}

void replace_failures(std::vector<double>& logs) {
  double worst = -std::numeric_limits<double>::infinity();
  for (const double log : logs)
    if (std::isfinite(log)) worst = std::max(worst, log);
  for (double& log : logs) log = std::min(log, worst);
}

double clip_quantile(std::size_t n, double last) {
  return 1 + (last - 1) * (std::clamp(static_cast<double>(n), 4.0, 32.0) - 4) / 28;
}

std::vector<std::size_t> subset(std::vector<std::size_t> numbers, std::size_t max_count, Rng& rng) {
  if (numbers.size() <= max_count) return numbers;
  for (std::size_t i = max_count / 2; i < max_count; ++i)
    std::swap(numbers[i], numbers[i + rng.below(numbers.size() - i)]);
  numbers.resize(max_count);
  return numbers;
}

std::vector<double> at(std::span<const double> values, std::span<const std::size_t> numbers) {
  std::vector<double> result;
  for (const std::size_t i : numbers) result.push_back(values[i]);
  return result;
}

}  // namespace deplo::search::model
