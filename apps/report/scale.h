// An axis: converts values to positions, and chooses ticks.
#pragma once
#include <string>
#include <vector>

namespace deplo::apps::report {

/// count: a number of things, so ticks are whole numbers. percent: a share of a whole, so no tick is above 100 %.
enum class Unit { none, count, seconds, microseconds, percent };

/// Formats a value with three significant digits (six if the unit is none or count): "20", "1.5 ms", "2 h", "35 %".
std::string print(double value, Unit unit);
/// Formats a factor: "1.83×", "12.3×", "123×", "1.2e+06×".
std::string print_factor(double factor);

struct Axis {
  std::string title;
  double low = 0, high = 1;
  bool logarithmic = false;  // then low > 0
  Unit unit = Unit::none;

  /// Returns the position of a value: 0 at low, 1 at high, clamped outside.
  double share(double value) const;
  /// Returns three to seven round values within [low, high], ascending; fewer for a short axis of counts.
  std::vector<double> ticks() const;
};

/// Returns an axis that shows [low, high], with extra room if it is logarithmic, or if low and high are (almost) equal.
/// A logarithmic axis requires low > 0.
Axis around(std::string title, double low, double high, bool logarithmic, Unit unit);

}  // namespace deplo::apps::report
