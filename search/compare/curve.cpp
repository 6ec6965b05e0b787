#include "search/compare/curve.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace deplo::search::compare {
namespace {

/// Points that share one fitted value. `first`: the index of the first of them.
struct Block {
  double sum, weight;
  std::size_t first;
  double value() const { return sum / weight; }
};

// Merges the new last block into the blocks before it, as long as its value is not higher than theirs.
void settle(std::vector<Block>& blocks) {
  while (blocks.size() > 1) {
    const Block last = blocks.back();
    Block& before = blocks[blocks.size() - 2];
    if (last.sum * before.weight > before.sum * last.weight) return;
    before = {before.sum + last.sum, before.weight + last.weight, before.first};
    blocks.pop_back();
  }
}

}  // namespace

// A run that has ended would no longer count in the mean. A hundred repeated points per run keep its place.
PooledRuns::PooledRuns(std::span<const Steps> runs, double limit) : runs_(runs.size()) {
  constexpr int held = 100;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (runs[run].empty()) continue;
    for (const Step& step : runs[run]) points_.push_back({step.seconds, step.rank, static_cast<std::uint32_t>(run)});
    const Step last = runs[run].back();
    const double rest = limit - static_cast<double>(last.seconds);
    for (int i = 1; rest > 0 && i <= held; ++i)
      points_.push_back({static_cast<float>(static_cast<double>(last.seconds) + rest * i / held), last.rank,
                         static_cast<std::uint32_t>(run)});
  }
  // Equal times are ordered by run: the order must not depend on the library's sort.
  std::ranges::stable_sort(points_, {}, &Point::seconds);
}

std::vector<double> PooledRuns::fit(std::span<const double> weights, std::span<const double> times) const {
  CHECK(weights.size() == runs_);
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const double weight = weights[points_[i].run];
    if (weight == 0) continue;
    blocks.push_back({static_cast<double>(points_[i].rank) * weight, weight, i});
    settle(blocks);
  }
  if (blocks.empty()) return std::vector<double>(times.size(), 0);
  std::vector<double> ranks;
  std::size_t point = 0, block = 0;
  for (const double time : times) {
    while (point < points_.size() && static_cast<double>(points_[point].seconds) <= time) ++point;
    // The block of the last point up to that time that has a weight.
    while (block + 1 < blocks.size() && blocks[block + 1].first < point) ++block;
    ranks.push_back(blocks[block].value());
  }
  return ranks;
}

std::vector<double> PooledRuns::draw(Rng& rng) const {
  std::vector<double> weights(runs_, 0);
  for (std::size_t i = 0; i < runs_; ++i) ++weights[rng.below(runs_)];
  return weights;
}

std::vector<double> PooledRuns::bagged(std::size_t bags, std::span<const double> times, Rng& rng) const {
  CHECK(bags > 0 && runs_ > 0);
  std::vector<double> sum(times.size(), 0);
  for (std::size_t bag = 0; bag < bags; ++bag) {
    const std::vector<double> ranks = fit(draw(rng), times);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += ranks[i];
  }
  for (double& rank : sum) rank /= static_cast<double>(bags);
  return sum;
}

std::vector<double> ranks_at(const Steps& run, std::span<const double> times) {
  std::vector<double> ranks;
  std::size_t next = 0;
  for (const double time : times) {
    while (next < run.size() && static_cast<double>(run[next].seconds) <= time) ++next;
    ranks.push_back(next > 0 ? static_cast<double>(run[next - 1].rank) : 0);
  }
  return ranks;
}

std::vector<double> equidistant(double first, double last, std::size_t count) {
  CHECK(count > 1);
  std::vector<double> times;
  for (std::size_t i = 0; i < count; ++i)
    times.push_back(std::lerp(first, last, static_cast<double>(i) / static_cast<double>(count - 1)));
  return times;
}

std::vector<double> scores(const Landscape& landscape, std::span<const double> ranks, std::span<const double> times) {
  CHECK(ranks.size() == times.size());
  std::vector<double> out;
  for (std::size_t i = 0; i < times.size(); ++i)
    out.push_back(score(landscape.value_at(ranks[i]), landscape.random_at(times[i]), landscape.optimum()));
  return out;
}

double mean_score(std::span<const double> scores) {
  double sum = 0;
  std::size_t count = 0;
  for (const double value : scores) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace deplo::search::compare
