#include "search/compare/rank_quality.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "core/error.h"
#include "core/indices.h"

namespace deplo::search::compare {
namespace {

std::vector<std::size_t> in_order(std::span<const double> values) {
  return indices_by(values.size(), [&](std::size_t i) { return values[i]; });
}

std::vector<double> ranks(std::span<const double> values) {
  const std::vector<std::size_t> order = in_order(values);
  std::vector<double> result(values.size());
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    for (end = first; end < order.size() && values[order[end]] == values[order[first]];) ++end;
    for (std::size_t i = first; i < end; ++i) result[order[i]] = static_cast<double>(first + end - 1) / 2;
  }
  return result;
}

std::vector<std::size_t> fastest(std::span<const double> values, std::size_t count) {
  std::vector<std::size_t> order = in_order(values);
  order.resize(std::min(count, order.size()));
  return order;
}

}  // namespace

double spearman(std::span<const double> a, std::span<const double> b) {
  CHECK(a.size() == b.size());
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double middle = (static_cast<double>(a.size()) - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - middle) * (y[i] - middle);
    xx += (x[i] - middle) * (x[i] - middle);
    yy += (y[i] - middle) * (y[i] - middle);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

double top_recall(std::span<const double> logs, std::span<const double> predicted, std::size_t count) {
  CHECK(logs.size() == predicted.size() && !logs.empty() && count > 0);
  const std::vector<std::size_t> best = fastest(logs, count), tried = fastest(predicted, count);
  const std::set<std::size_t> among(tried.begin(), tried.end());
  const auto found = std::ranges::count_if(best, [&](std::size_t i) { return among.contains(i); });
  return static_cast<double>(found) / static_cast<double>(best.size());
}

double top_regret(std::span<const double> logs, std::span<const double> predicted, std::size_t count) {
  CHECK(logs.size() == predicted.size() && !logs.empty() && count > 0);
  double best = std::numeric_limits<double>::infinity();
  for (const std::size_t i : fastest(predicted, count)) best = std::min(best, logs[i]);
  return std::exp(best - *std::ranges::min_element(logs)) - 1;
}

}  // namespace deplo::search::compare
