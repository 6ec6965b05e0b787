#include "search/model/transfer.h"

#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/indices.h"
#include "search/model/regression_targets.h"
#include "search/quantile.h"

namespace deplo::search::model {
namespace {

// max_fitted is as in surrogate.cpp. Conditioning is done once, so it may use more records. Its time is cubic in their
// number. On the six spaces, it scored 0.949 with 256 of all records, 0.961 with 512, and 0.955 with 768 (12 to 16
// repeats).
constexpr std::size_t max_fitted = 128, max_conditioned = 512;
constexpr int fit_steps = 24;
constexpr double source_clip = 0.5;
constexpr std::size_t max_best = 32;  // number of candidates taken from each source
constexpr double strength = 5;        // evaluations that the prior of equal slopes is worth

Points points(const std::vector<Codes>& codes, Encoding& encoding) {
  Points result{encoding.dimensions().size(), {}};
  result.values.reserve(result.dimensions * codes.size());
  for (const Codes& candidate : codes) encoding.point(candidate, result.add());
  return result;
}

}  // namespace

void Transfer::learn(std::span<const SourceTask> sources, Encoding& encoding, Rng& rng) {
  for (const SourceTask& source : sources) add(source, encoding, rng);
  slopes_.assign(origins_.size(), 1 / static_cast<double>(std::max<std::size_t>(origins_.size(), 1)));
}

void Transfer::add(const SourceTask& source, Encoding& encoding, Rng& rng) {
  std::vector<double> logs;
  for (const Experience& experience : source) logs.push_back(std::log(experience.microseconds));
  if (std::ranges::count_if(logs, [](double log) { return std::isfinite(log); }) < 2) return;
  const std::vector<std::size_t> by_time = indices_by(logs.size(), [&](std::size_t i) { return logs[i]; });
  replace_failures(logs);
  const double limit = quantile(logs, source_clip);
  for (double& log : logs) log = std::min(log, limit);

  Origin origin;
  origin.deviation = standardise(logs);
  for (const std::size_t i : subset(by_time, max_conditioned, rng)) {
    origin.codes.push_back(encoding.codes(source[i].trail));
    origin.values.push_back(logs[i]);
  }
  for (std::size_t i = 0; i < std::min(max_best, by_time.size()); ++i) best_.push_back(source[by_time[i]].trail);
  origins_.push_back(std::move(origin));
}

double Transfer::deviation() const {
  double sum = 0;
  for (const Origin& origin : origins_) sum += origin.deviation;
  return sum / static_cast<double>(origins_.size());
}

void Transfer::refresh(Encoding& encoding) {
  if (version_ == encoding.version()) return;
  version_ = encoding.version();
  known_.clear();
  cache_.clear();
  for (Origin& origin : origins_) {
    const Points all = points(origin.codes, encoding);
    if (!origin.process) {
      origin.process = std::make_unique<GaussianProcess>();
      std::vector<Codes> sample;
      std::vector<double> values;
      const std::size_t stride = (origin.codes.size() + max_fitted - 1) / max_fitted;
      for (std::size_t i = 0; i < origin.codes.size(); i += stride) {
        sample.push_back(origin.codes[i]);
        values.push_back(origin.values[i]);
      }
      origin.process->fit(points(sample, encoding), values, encoding.dimensions(), encoding.knobs(), fit_steps);
    }
    origin.process->condition(all, encoding.dimensions(), origin.values);
  }
}

std::vector<double> Transfer::predictions(const std::vector<Codes>& codes, Encoding& encoding) {
  refresh(encoding);
  std::vector<Codes> fresh;
  for (const Codes& candidate : codes)
    if (known_.try_emplace(candidate, known_.size()).second) fresh.push_back(candidate);
  const Points at = points(fresh, encoding);
  const std::size_t before = cache_.size();
  cache_.resize(before + fresh.size() * origins_.size());
  for (std::size_t s = 0; !fresh.empty() && s < origins_.size(); ++s) {
    const std::vector<float> means = origins_[s].process->mean(at);
    for (std::size_t i = 0; i < fresh.size(); ++i)
      cache_[before + i * origins_.size() + s] = origins_[s].deviation * static_cast<double>(means[i]);
  }
  std::vector<double> rows;
  for (const Codes& candidate : codes) {
    const auto row = cache_.begin() + static_cast<std::ptrdiff_t>(known_.at(candidate) * origins_.size());
    rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(origins_.size()));
  }
  return rows;
}

// Solves (Fᵀ F + Λ) a = Fᵀ y + Λ/S, where F and y are reduced by their means and Λ = strength x the sources' variances.
void Transfer::match(const std::vector<Codes>& codes, std::span<const double> logs, Encoding& encoding) {
  if (codes.empty()) return;
  const std::vector<double> rows = predictions(codes, encoding);
  const auto n = static_cast<Eigen::Index>(codes.size()), s = static_cast<Eigen::Index>(origins_.size());
  Eigen::MatrixXd f = Eigen::Map<const Eigen::MatrixXd>(rows.data(), s, n).transpose();
  const Eigen::RowVectorXd centre = f.colwise().mean();
  f.rowwise() -= centre;
  const Eigen::Map<const Eigen::VectorXd> y(logs.data(), n);
  Eigen::VectorXd weight(s);
  for (Eigen::Index i = 0; i < s; ++i) {
    const double deviation = origins_[static_cast<std::size_t>(i)].deviation;
    weight(i) = strength * std::max(deviation * deviation, 1e-12);
  }
  Eigen::MatrixXd normal = f.transpose() * f;
  normal.diagonal() += weight;
  const Eigen::VectorXd a =
      normal.ldlt().solve(f.transpose() * (y.array() - y.mean()).matrix() + weight / static_cast<double>(s));
  slopes_.assign(a.data(), a.data() + s);
  offset_ = y.mean() - centre.dot(a);
}

std::vector<double> Transfer::means(const std::vector<Codes>& codes, Encoding& encoding) {
  const std::vector<double> rows = predictions(codes, encoding);
  std::vector<double> result;
  for (std::size_t i = 0; i < codes.size(); ++i)
    result.push_back(std::inner_product(slopes_.begin(), slopes_.end(),
                                        rows.begin() + static_cast<std::ptrdiff_t>(i * slopes_.size()), offset_));
  return result;
}

}  // namespace deplo::search::model
