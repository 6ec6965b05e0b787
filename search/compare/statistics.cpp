#include "search/compare/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/indices.h"
#include "search/quantile.h"

namespace deplo::search::compare {
namespace {

constexpr std::size_t max_exact = 40;  // 2^40 sign patterns are still exact as doubles

// Twice the mid-ranks of the magnitudes, so that they are whole numbers.
std::vector<std::size_t> double_ranks(const std::vector<double>& differences) {
  std::vector<double> sorted;
  for (const double d : differences) sorted.push_back(std::abs(d));
  std::ranges::sort(sorted);
  std::vector<std::size_t> ranks;
  for (const double d : differences) {
    // clang 14 (`make lint`) does not compile std::ranges::equal_range.
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), std::abs(d));
    ranks.push_back(static_cast<std::size_t>(first - sorted.begin() + (last - sorted.begin()) + 1));
  }
  return ranks;
}

// Counts the sign patterns by the sum of their positive ranks.
double exact_p(const std::vector<std::size_t>& ranks, std::size_t positive) {
  const std::size_t total = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  std::vector<double> patterns(total + 1, 0);
  patterns[0] = 1;
  for (const std::size_t rank : ranks)
    for (std::size_t sum = total; sum >= rank; --sum) patterns[sum] += patterns[sum - rank];
  const std::size_t smaller = std::min(positive, total - positive);
  const double tail =
      std::accumulate(patterns.begin(), patterns.begin() + static_cast<std::ptrdiff_t>(smaller) + 1, 0.0);
  return std::min(1.0, 2 * tail / std::ldexp(1.0, static_cast<int>(ranks.size())));
}

double normal_p(const std::vector<std::size_t>& ranks, std::size_t positive) {
  // the variance of the rank sum is a quarter of the squared ranks' sum, with and without ties
  double total = 0, squares = 0;
  for (const std::size_t rank : ranks) {
    total += static_cast<double>(rank) / 2;
    squares += static_cast<double>(rank * rank) / 4;
  }
  const double away = std::abs(static_cast<double>(positive) / 2 - total / 2);
  return std::erfc(std::max(0.0, away - 0.5) / std::sqrt(squares / 4) / std::sqrt(2.0));
}

}  // namespace

double mean(std::span<const double> values) {
  CHECK(!values.empty());
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double wilcoxon(std::span<const double> differences) {
  std::vector<double> kept;
  for (const double d : differences)
    if (d != 0) kept.push_back(d);
  if (kept.empty()) return 1;
  const std::vector<std::size_t> ranks = double_ranks(kept);
  std::size_t positive = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) positive += kept[i] > 0 ? ranks[i] : 0;
  return kept.size() <= max_exact ? exact_p(ranks, positive) : normal_p(ranks, positive);
}

std::vector<double> holm(std::span<const double> p) {
  const std::vector<std::size_t> order = indices_by(p.size(), [&](std::size_t i) { return p[i]; });
  std::vector<double> corrected(p.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, std::min(1.0, p[order[i]] * static_cast<double>(p.size() - i)));
    corrected[order[i]] = largest;
  }
  return corrected;
}

double a12(std::span<const double> a, std::span<const double> b) {
  CHECK(!a.empty() && !b.empty());
  double wins = 0;
  for (const double x : a)
    for (const double y : b) wins += x > y ? 1 : x == y ? 0.5 : 0;
  return wins / static_cast<double>(a.size() * b.size());
}

std::vector<Reached> reached(std::vector<Event> events) {
  // Events precede censorings of the same time, because a subject that is censored then was still under observation.
  std::ranges::sort(events, {}, [](const Event& e) { return std::pair(e.at, e.censored); });
  std::vector<Reached> steps;
  double surviving = 1;
  for (std::size_t i = 0; i < events.size();) {
    std::size_t end = i, happened = 0;
    for (; end < events.size() && events[end].at == events[i].at; ++end) happened += events[end].censored ? 0 : 1;
    if (happened > 0) {
      surviving *= 1 - static_cast<double>(happened) / static_cast<double>(events.size() - i);
      steps.push_back({events[i].at, 1 - surviving});
    }
    i = end;
  }
  return steps;
}

double time_to_share(std::span<const Reached> steps, double q) {
  constexpr double rounding = 1e-12;
  const auto first = std::ranges::find_if(steps, [&](const Reached& step) { return step.share >= q - rounding; });
  return first == steps.end() ? std::numeric_limits<double>::infinity() : first->at;
}

Bootstrap hierarchical_bootstrap(std::span<const std::vector<double>> replicates, std::size_t draws, Rng& rng) {
  if (replicates.empty()) return {};
  std::vector<double> means, medians, drawn(replicates.size());
  for (std::size_t i = 0; i < draws; ++i) {
    for (double& value : drawn) {
      const std::vector<double>& group = replicates[rng.below(replicates.size())];
      value = group[rng.below(group.size())];
    }
    means.push_back(mean(drawn));
    medians.push_back(quantile(drawn, 0.5));
  }
  const auto interval = [](const std::vector<double>& values) {
    return Interval{quantile(values, 0.025), quantile(values, 0.975)};
  };
  return {interval(means), interval(medians)};
}

}  // namespace deplo::search::compare
