#include "search/model/labelled.h"

#include "search/model/boosted_trees.h"
#include "search/quantile.h"

namespace deplo::search::model {
namespace {

std::vector<double> centred(std::vector<double> values) {
  const double middle = quantile(values, 0.5);
  for (double& value : values) value -= middle;
  return values;
}

}  // namespace

std::vector<double> analytic_baseline(const Labelled& set) {
  return set.analytic.empty() ? std::vector<double>(set.logs.size()) : centred(set.analytic);
}

void add(LabelledRows& rows, const Labelled& set, std::size_t group) {
  const std::size_t d = set.points.dimensions, n = set.logs.size();
  rows.dimensions = d;
  rows.points.dimensions = 2 * d;
  std::vector<float> middle(d);
  for (std::size_t k = 0; k < d; ++k) {
    std::vector<double> column(n);
    for (std::size_t i = 0; i < n; ++i) column[i] = set.points.values[i * d + k];
    middle[k] = static_cast<float>(quantile(column, 0.5));
  }
  const std::vector<double> logs = centred(set.logs), before = analytic_baseline(set);
  for (std::size_t i = 0; i < n; ++i) {
    float* const point = rows.points.add();
    for (std::size_t k = 0; k < d; ++k) {
      point[k] = set.points.values[i * d + k];
      point[d + k] = point[k] - middle[k];
    }
    rows.y.push_back(logs[i] - before[i]);
    rows.weights.push_back(100.0 / static_cast<double>(n));
    rows.groups.push_back(group);
  }
}

std::vector<double> left_by_trees(const LabelledRows& from, const LabelledRows& at, std::uint64_t seed) {
  BoostedTrees trees;
  TreeOptions options;
  options.seed = seed;
  trees.fit(from.points, from.y, from.weights, options);
  const std::vector<float> left = trees.predict(at.points);
  return {left.begin(), left.end()};
}

std::vector<double> predict_by_trees(std::span<const Labelled> others, const Labelled& set, std::uint64_t seed) {
  LabelledRows from, at;
  for (std::size_t i = 0; i < others.size(); ++i) add(from, others[i], i);
  Labelled asked = set;
  asked.logs.assign(set.points.size(), 0);
  add(at, asked, 0);
  std::vector<double> result = analytic_baseline(asked);
  const std::vector<double> left = left_by_trees(from, at, seed);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] += left[i];
  return result;
}

}  // namespace deplo::search::model
