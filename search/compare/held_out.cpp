#include "search/compare/held_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "core/indices.h"
#include "core/rng.h"
#include "search/compare/rank_quality.h"
#include "search/compare/statistics.h"
#include "search/model/gp.h"
#include "search/model/regression_targets.h"
#include "search/quantile.h"

namespace deplo::search::compare {
namespace {

using model::add;
using model::Labelled;
using Rows = model::LabelledRows;

constexpr std::size_t max_fitted = 128, max_conditioned = 512;  // rows; fitting and conditioning take cubic time
constexpr int fit_steps = 24;
constexpr std::size_t folds = 5;  // number of parts of the rows, if there is only one set to learn from

struct Estimate {
  std::vector<double> mean, scale;
};
struct Learner {
  std::string_view name;
  Estimate (*learn)(const Rows& from, const Rows& at, std::uint64_t seed);
};

Rows pick(const Rows& rows, std::span<const std::size_t> numbers) {
  Rows out{rows.dimensions, {rows.points.dimensions, {}}, {}, {}, {}};
  for (const std::size_t i : numbers) {
    const auto first = rows.points.values.begin() + static_cast<std::ptrdiff_t>(i * rows.points.dimensions);
    std::copy_n(first, rows.points.dimensions, out.points.add());
    out.y.push_back(rows.y[i]);
    out.weights.push_back(rows.weights[i]);
    out.groups.push_back(rows.groups[i]);
  }
  return out;
}

Estimate by_analysis(const Rows&, const Rows& at, std::uint64_t) {
  return {std::vector<double>(at.size()), std::vector<double>(at.size(), 1)};
}

Estimate by_trees(const Rows& from, const Rows& at, std::uint64_t seed) {
  return {model::left_by_trees(from, at, seed), std::vector<double>(at.size(), 1)};
}

/// The second half of each point, divided by `deviations`.
model::Points scaled(const Rows& rows, const std::vector<float>& deviations) {
  model::Points out{rows.dimensions, {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    float* const point = out.add();
    for (std::size_t k = 0; k < rows.dimensions; ++k)
      point[k] = rows.points.values[i * rows.points.dimensions + rows.dimensions + k] / deviations[k];
  }
  return out;
}

std::vector<float> deviations(const Rows& rows) {
  std::vector<float> result(rows.dimensions, 1);
  for (std::size_t k = 0; k < rows.dimensions; ++k) {
    double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double x = rows.points.values[i * rows.points.dimensions + rows.dimensions + k];
      sum += x * x;
    }
    if (sum > 0) result[k] = static_cast<float>(std::sqrt(sum / static_cast<double>(rows.size())));
  }
  return result;
}

Estimate by_process(const Rows& from, const Rows& at, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::size_t> numbers = indices(from.size());
  shuffle(numbers, rng);
  numbers.resize(std::min(numbers.size(), max_conditioned));
  const Rows all = pick(from, numbers);
  const Rows sample = pick(from, std::span(numbers).first(std::min(numbers.size(), max_fitted)));
  const std::vector<float> sizes = deviations(all);
  std::vector<double> y = all.y;
  const double middle = mean(y), deviation = std::max(model::standardise(y), 1e-9);
  const std::vector<std::size_t> knobs = indices(from.dimensions);
  model::GaussianProcess process;
  process.fit(scaled(sample, sizes), std::span(y).first(sample.size()), knobs, knobs.size(), fit_steps);
  process.condition(scaled(all, sizes), knobs, y);
  process.predict(scaled(at, sizes));
  Estimate result;
  for (std::size_t i = 0; i < at.size(); ++i) {
    result.mean.push_back(middle + deviation * static_cast<double>(process.means()[i]));
    result.scale.push_back(std::max(deviation * static_cast<double>(process.deviations()[i]), 1e-6));
  }
  return result;
}

constexpr std::array learners = {Learner{"analytic", by_analysis}, Learner{"process", by_process},
                                 Learner{"trees", by_trees}};

/// The quantile of |error|/scale over rows that the model predicted without having learned from them
/// (cross-validation).
double half_width(const Learner& learner, const Rows& rows, std::uint64_t seed) {
  std::vector<std::size_t> fold = rows.groups;
  std::size_t count = 1 + *std::ranges::max_element(fold);
  if (std::ranges::adjacent_find(rows.groups, std::not_equal_to<>()) == rows.groups.end()) {
    count = std::min(folds, rows.size());
    for (std::size_t i = 0; i < fold.size(); ++i) fold[i] = i % count;
  }
  std::vector<double> errors;
  for (std::size_t f = 0; f < count; ++f) {
    std::vector<std::size_t> in, out;
    for (std::size_t i = 0; i < fold.size(); ++i) (fold[i] == f ? out : in).push_back(i);
    if (out.empty() || in.empty()) continue;
    const Rows at = pick(rows, out);
    const Estimate estimate = learner.learn(pick(rows, in), at, seed);
    for (std::size_t i = 0; i < at.size(); ++i)
      errors.push_back(std::abs(at.y[i] - estimate.mean[i]) / estimate.scale[i]);
  }
  return errors.empty() ? 0 : quantile(errors, interval_level);
}

bool teaches(const Labelled& one, const Labelled& other, LeaveOut what) {
  if (what == LeaveOut::kernel) return one.kernel != other.kernel;
  return one.kernel == other.kernel && one.device != other.device;
}

HeldOutScore judge(const Learner& learner, const Rows& from, const Labelled& set, const HeldOutOptions& options) {
  Rows at;
  add(at, set, 0);
  const Estimate estimate = learner.learn(from, at, options.seed);
  const double q = half_width(learner, from, options.seed);
  const std::vector<double> before = model::analytic_baseline(set);
  std::vector<double> predicted;
  HeldOutScore score;
  for (std::size_t i = 0; i < at.size(); ++i) {
    predicted.push_back(before[i] + estimate.mean[i]);
    score.coverage += std::abs(at.y[i] - estimate.mean[i]) <= q * estimate.scale[i] ? 1 : 0;
    score.width += 2 * q * estimate.scale[i];
  }
  score.coverage /= static_cast<double>(at.size());
  score.width = std::exp(score.width / static_cast<double>(at.size()));
  score.model = learner.name;
  score.spearman = spearman(set.logs, predicted);
  score.recall = top_recall(set.logs, predicted, options.top);
  score.regret = top_regret(set.logs, predicted, options.top);
  return score;
}

}  // namespace

LeaveOut parse_leave_out(std::string_view name) {
  if (name == "kernel") return LeaveOut::kernel;
  if (name == "device") return LeaveOut::device;
  throw Error(fmt::format("--leave-out: expected kernel or device, found '{}'", name));
}

std::vector<HeldOutScore> evaluate_held_out(std::span<const Labelled> sets, const HeldOutOptions& options) {
  std::vector<HeldOutScore> scores;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    Rows from;
    std::size_t count = 0;
    for (const Labelled& other : sets)
      if (teaches(sets[s], other, options.leave_out) && other.points.dimensions == sets[s].points.dimensions)
        add(from, other, count++);
    if (count == 0) continue;
    for (const Learner& learner : learners) {
      if (learner.name == "analytic" && sets[s].analytic.empty()) continue;
      HeldOutScore score = judge(learner, from, sets[s], options);
      score.set = s;
      score.sets = count;
      scores.push_back(std::move(score));
    }
  }
  return scores;
}

}  // namespace deplo::search::compare
