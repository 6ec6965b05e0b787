#include "measure/store/pareto_front.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace deplo::measure {
namespace {

bool is_better(double a, double b, const Quantity& quantity) { return a * (1 + quantity.tie) < b; }

/// Returns true if `a` is better in at least one objective.
bool is_better(const Point& a, const Point& b, const Objectives& objectives) {
  for (std::size_t i = 0; i < objectives.size(); ++i)
    if (is_better(a.values[i], b.values[i], *objectives[i])) return true;
  return false;
}

/// Returns true if `a` dominates `b`. If at most two objectives are noisy, domination has no cycles, so some points are
/// always undominated. Proof: take the logarithm of a noisy objective in units of its tie, and a cycle in which each
/// point dominates the next. In a step where a point is better in this objective, the value rises by more than 1. In
/// any other step it falls by at most 1. The cycle closes, so fewer than half of the steps are of the first kind. But
/// in each step the point is better in one of the two objectives. (Values without noise never fall, so they stay
/// equal.)
bool dominates(const Point& a, const Point& b, const Objectives& objectives) {
  return is_better(a, b, objectives) && !is_better(b, a, objectives);
}

bool is_equal(const Point& a, const Point& b, const Objectives& objectives) {
  return !is_better(a, b, objectives) && !is_better(b, a, objectives);
}

}  // namespace

std::vector<std::size_t> pareto_front(std::span<const Point> points, const Objectives& objectives) {
  std::vector<std::size_t> candidates, front;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (std::ranges::none_of(points, [&](const Point& other) { return dominates(other, points[i], objectives); }))
      candidates.push_back(i);
  std::ranges::sort(candidates, {}, [&](std::size_t i) {
    return std::tuple(points[i].changes < 0, points[i].changes, std::string_view(points[i].trail));
  });
  for (const std::size_t i : candidates)
    if (std::ranges::none_of(front, [&](std::size_t kept) { return is_equal(points[kept], points[i], objectives); }))
      front.push_back(i);
  std::ranges::sort(front, {}, [&](std::size_t i) { return std::tie(points[i].values, points[i].trail); });
  return front;
}

Front front_of(std::vector<TrialRecord> valid, const Objectives& objectives) {
  Front front{objectives, 0, {}};
  if (objectives.empty()) return front;
  const auto is_screened = [](const TrialRecord& trial) { return trial.stage != Stage::confirm; };
  std::erase_if(valid, [&](const TrialRecord& trial) { return !values_of(trial, objectives); });
  front.valid = valid.size();
  if (!std::ranges::all_of(valid, is_screened)) std::erase_if(valid, is_screened);
  std::vector<Point> points;
  for (const TrialRecord& trial : valid) points.push_back({*values_of(trial, objectives), trial.changes, trial.trail});
  for (const std::size_t i : pareto_front(points, objectives)) front.trials.push_back(std::move(valid[i]));
  return front;
}

}  // namespace deplo::measure
