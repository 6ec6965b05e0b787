#include "engine/tune/aim.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "measure/store/pareto_front.h"

namespace deplo::engine {
namespace {

std::string label(const measure::Quantity& quantity) {
  return quantity.unit.empty() ? std::string(quantity.name) : fmt::format("{} ({})", quantity.name, quantity.unit);
}

}  // namespace

std::size_t searches_of(const measure::Objectives& objectives) {
  return objectives.size() < 2 ? 1 : objectives.size() + 1;
}

Aim::Aim(const measure::Objectives& objectives, std::size_t number, std::span<const std::vector<double>> values)
    : number_(number) {
  CHECK(number < searches_of(objectives));
  is_positive_ = objectives.empty() || (number < objectives.size() && objectives[number]->is_noisy());
  text_ = objectives.empty()           ? "time (µs)"
          : number < objectives.size() ? label(*objectives[number])
                                       : "a compromise of " + print(objectives);
  if (number < objectives.size() || objectives.empty()) return;
  std::vector<measure::Point> points;
  for (const std::vector<double>& point : values) points.push_back({point});
  if (points.empty()) points.push_back({std::vector<double>(objectives.size(), 0)});
  std::vector<double> maximum(objectives.size(), -std::numeric_limits<double>::infinity());
  minimum_.assign(objectives.size(), std::numeric_limits<double>::infinity());
  for (const std::size_t i : measure::pareto_front(points, objectives))
    for (std::size_t o = 0; o < objectives.size(); ++o) {
      minimum_[o] = std::min(minimum_[o], points[i].values[o]);
      maximum[o] = std::max(maximum[o], points[i].values[o]);
    }
  for (std::size_t o = 0; o < objectives.size(); ++o)
    range_.push_back(maximum[o] > minimum_[o] ? maximum[o] - minimum_[o] : minimum_[o] > 0 ? minimum_[o] : 1.0);
}

double Aim::operator()(std::span<const double> values) const {
  if (number_ == values.size()) return compromise(values);
  return is_positive_ ? values[number_] : 1 + values[number_];  // a count of 0, such as of spills, becomes 1
}

/// Returns the augmented Chebyshev distance from the point that is best in each objective (Knowles, "ParEGO", IEEE
/// Transactions on Evolutionary Computation 10(1), 2006, equation 2, with its 0.05). The weights are equal: unequal
/// weights would lead to the ends of the front, which have searches of their own.
double Aim::compromise(std::span<const double> values) const {
  constexpr double augmentation = 0.05;
  double largest = 0, sum = 0;
  for (std::size_t o = 0; o < values.size(); ++o) {
    const double distance = std::max((values[o] - minimum_[o]) / range_[o], 0.0);
    largest = std::max(largest, distance);
    sum += distance;
  }
  return 1 + largest + augmentation * sum;
}

}  // namespace deplo::engine
