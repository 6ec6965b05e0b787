#include "search/strategies/shared_statistics.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/indices.h"
#include "search/model/regression_targets.h"

namespace deplo::search::strategies {
namespace {

constexpr double visits_before = 0.1;  // N₀
constexpr double clip = 0.5;           // q for 32 or more results
constexpr std::size_t max_results = 2048, kept_results = 1024;
constexpr std::size_t rounds_kept = 32;  // similarities are dropped if this many rounds did not need them

Eigen::Map<const Eigen::ArrayXf> array(const std::vector<float>& values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

float similarity(const model::Points& points, std::size_t number, const float* point) {
  const auto size = static_cast<Eigen::Index>(points.dimensions);
  const float* const other = points.values.data() + number * points.dimensions;
  const Eigen::Map<const Eigen::ArrayXf> a(other, size), b(point, size);
  return std::exp(-(a - b).square().sum() / 2);
}

}  // namespace

void SharedStatistics::ask(const model::Codes& codes) { add(codes, std::numeric_limits<double>::quiet_NaN()); }

void SharedStatistics::tell(const model::Codes& codes, double time) {
  const auto known = numbers_.find(codes);
  if (known != numbers_.end() && !std::isnan(results_[known->second].time)) return;
  if (known == numbers_.end())
    add(codes, time);
  else
    results_[known->second].time = time;
  times_.insert(std::ranges::upper_bound(times_, time), time);
}

void SharedStatistics::add(const model::Codes& codes, double time) {
  if (results_.size() == max_results) forget_some();
  if (numbers_.try_emplace(codes, results_.size()).second) results_.push_back({codes, time});
}

void SharedStatistics::forget_some() {
  const auto time = [&](std::size_t i) { return std::isnan(results_[i].time) ? 0.0 : results_[i].time; };
  std::vector<std::size_t> kept = model::subset(indices_by(results_.size(), time), kept_results, rng_);
  std::ranges::sort(kept);
  std::vector<Result> results;
  for (const std::size_t i : kept) results.push_back(std::move(results_[i]));
  results_ = std::move(results);
  numbers_.clear();
  for (std::size_t i = 0; i < results_.size(); ++i) numbers_[results_[i].codes] = i;
  points_.values.clear();
  similar_.clear();
}

/// Computes all points again if the encoding has met a new value, and adds the points of new results.
void SharedStatistics::refresh() {
  const std::size_t dimensions = encoding_.dimensions().size();
  if (version_ != encoding_.version()) {
    version_ = encoding_.version();
    points_ = {dimensions, {}};
    similar_.clear();
  }
  for (std::size_t i = points_.size(); i < results_.size() && dimensions > 0; ++i) place(results_[i].codes, points_);
}

void SharedStatistics::place(const model::Codes& codes, model::Points& points) {
  float* const point = points.add();
  encoding_.point(codes, point);
  for (std::size_t d = 0; d < points.dimensions; ++d) point[d] /= static_cast<float>(radius_);
}

std::vector<float> SharedStatistics::rewards() const {
  const auto n = static_cast<double>(times_.size());
  const double q = model::clip_quantile(times_.size(), clip);
  std::vector<float> result;
  double sum = 0, told = 0;
  for (const Result& trial : results_) {
    const auto rank = static_cast<double>(std::ranges::lower_bound(times_, trial.time) - times_.begin());
    result.push_back(std::isfinite(trial.time) ? static_cast<float>(std::max(0.0, 1 - rank / (q * n))) : 0);
    sum += static_cast<double>(result.back());
    told += std::isnan(trial.time) ? 0 : 1;
  }
  for (std::size_t i = 0; i < result.size(); ++i)
    if (std::isnan(results_[i].time)) result[i] = static_cast<float>(told > 0 ? sum / told : 0);
  return result;
}

void SharedStatistics::extend(Similar& similar, const float* point) {
  for (std::size_t i = similar.weights.size(); i < results_.size(); ++i) {
    similar.weights.push_back(similarity(points_, i, point));
    similar.visits += static_cast<double>(similar.weights.back());
  }
}

double SharedStatistics::bound(std::size_t sample) const {
  const double visits = visits_[sample] + visits_before;
  return (sums_[sample] + visits_before * mean_) / visits + exploration_ / std::sqrt(visits);
}

std::vector<double> SharedStatistics::bounds(const std::vector<model::SamplePtr>& samples) {
  refresh();
  ++round_;
  const std::vector<float> reward = rewards();
  mean_ = reward.empty() ? 0 : static_cast<double>(array(reward).mean());
  samples_ = {points_.dimensions, {}};
  sums_.clear();
  visits_.clear();
  std::vector<double> result;
  for (const model::SamplePtr& sample : samples) {
    place(sample->codes, samples_);
    Similar& similar = similar_[sample.get()];
    if (similar.sample == nullptr) similar.sample = sample;
    similar.round = round_;
    extend(similar, samples_.values.data() + samples_.values.size() - samples_.dimensions);
    sums_.push_back(static_cast<double>((array(similar.weights) * array(reward)).sum()));
    visits_.push_back(similar.visits);
    result.push_back(bound(result.size()));
  }
  if (round_ % rounds_kept == 0)
    std::erase_if(similar_, [&](const auto& entry) { return entry.second.round + rounds_kept <= round_; });
  return result;
}

std::vector<model::SamplePtr> SharedStatistics::pick(const std::vector<model::SamplePtr>& samples, std::size_t count,
                                                     double random) {
  return model::pick(
      samples, count, random, rng_, [this](std::size_t sample) { return -bound(sample); },
      [this](std::size_t sample) { visit(sample); });
}

void SharedStatistics::visit(std::size_t sample) {
  const float* const point = samples_.values.data() + sample * samples_.dimensions;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const auto weight = static_cast<double>(similarity(samples_, i, point));
    sums_[i] += weight * mean_;
    visits_[i] += weight;
  }
}

}  // namespace deplo::search::strategies
