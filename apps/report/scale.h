// An axis: from values to pixels, and where its ticks are.
#pragma once
#include <string>
#include <vector>

namespace deplo::apps::report {

/// count: of whole things, ticks are whole numbers. percent: of a share of a whole, no tick stands beyond 100 %.
enum class Unit { none, count, seconds, microseconds, percent };

/// "20", "1.5 ms", "2 h", "35 %": three significant digits.
std::string print(double value, Unit unit);
/// "1.83×", "12.3×", "123×", "1.2e+06×".
std::string print_factor(double factor);

struct Axis {
  std::string title;
  double low = 0, high = 1;
  bool logarithmic = false;  // then low > 0
  Unit unit = Unit::none;

  /// 0 at low, 1 at high; cut off outside.
  double share(double value) const;
  /// Three to seven round values within [low, high], ascending; of a short axis of counts fewer.
  std::vector<double> ticks() const;
};

/// An axis that shows all of [low, high] with a little room, also where they are the same. low > 0 where logarithmic.
Axis around(std::string title, double low, double high, bool logarithmic, Unit unit);

}  // namespace deplo::apps::report
