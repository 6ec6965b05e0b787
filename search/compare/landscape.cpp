#include "search/compare/landscape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "search/quantile.h"

namespace deplo::search::compare {
namespace {

/// The median of all costs. In a table of times, failures have no recorded cost. If they are the majority, their zeros
/// would give a budget of no time, so the median is that of the recorded costs.
double median_cost_of(std::vector<double> costs) {
  const double median = quantile(costs, 0.5);
  if (median > 0) return median;
  std::erase(costs, 0);
  return costs.empty() ? 0 : quantile(std::move(costs), 0.5);
}

}  // namespace

Landscape::Landscape(const TableSpace& space) {
  const Records& records = space.records();
  std::vector<double> costs;
  double valid_cost = 0, invalid_cost = 0;
  for (const std::uint32_t row : space.rows()) {
    const Record& record = records.records[row];
    costs.push_back(record.cost());
    (record.outcome.ok() ? valid_cost : invalid_cost) += record.cost();
    if (record.outcome.ok()) values_.push_back(records.loss(row));
  }
  if (values_.empty()) throw Error(fmt::format("{}: expected a valid configuration, found none", records.name));
  const auto valid = static_cast<double>(values_.size());
  const double invalid = static_cast<double>(space.size()) - valid;
  std::ranges::sort(values_, std::greater());
  median_ = quantile(values_, 0.5);
  median_cost_ = median_cost_of(std::move(costs));
  const double invalid_share = invalid / static_cast<double>(space.size());
  tau_ = valid_cost / valid + (invalid > 0 ? invalid_share * invalid_cost / invalid : 0);
  if (!(tau_ > 0))
    throw Error(fmt::format("{}: expected costs of evaluations above 0, found {} s", records.name, tau_));
  ranks_.assign(records.records.size(), -1);
  for (const std::uint32_t row : space.rows()) {
    const Record& record = records.records[row];
    if (!record.outcome.ok()) continue;
    // clang 14 (`make lint`) does not compile std::ranges::equal_range.
    const auto [first, last] = std::equal_range(values_.begin(), values_.end(), records.loss(row), std::greater());
    ranks_[row] = static_cast<float>(first - values_.begin() + last - values_.begin() - 1) / 2;
  }
}

double Landscape::within(double percent) const { return optimum() * (1 + std::copysign(percent, optimum()) / 100); }

double Landscape::quality(double value) const {
  if (optimum() > 0) return optimum() / value;
  const double worst = values_.front();
  if (worst < 0) return value / optimum();
  return worst > optimum() ? (worst - value) / (worst - optimum()) : 1;
}

double Landscape::value_at(double rank) const {
  const double last = static_cast<double>(values_.size() - 1);
  return values_[static_cast<std::size_t>(std::clamp(std::nearbyint(rank), 0.0, last))];
}

std::int64_t Landscape::evaluations(double p) const {
  const double target = optimum() + (median_ - optimum()) * (1 - p);
  const auto first = std::ranges::lower_bound(values_, target, std::greater());
  const auto i = std::min(static_cast<std::size_t>(first - values_.begin()), values_.size() - 1);
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(static_cast<double>(i) / static_cast<double>(values_.size() + 1 - i))));
}

double Landscape::random_value(double evaluations) const {
  return value_at(evaluations * static_cast<double>(values_.size() + 1) / (evaluations + 1));
}

double Landscape::random_at(double seconds) const {
  return random_value(std::max(1.0, std::nearbyint(seconds / tau_)));
}

double score(double value, double random, double optimum) {
  if (random <= optimum) return std::numeric_limits<double>::quiet_NaN();
  return (value - random) / (optimum - random);
}

}  // namespace deplo::search::compare
