// Plots of named rows: bars, factors, and a heat map.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "apps/report/scale.h"
#include "apps/report/svg.h"

namespace deplo::apps::report {

/// A bar to its value, with a whisker where low < high.
struct BarRow {
  std::string label;  // none: it belongs to the row above
  double value = 0, low = 0, high = 0;
  std::size_t series = 0;
  std::string text;  // beside it: a number
  bool pale = false;
};
/// The bars of a linear axis start at 0, those of a logarithmic one at 1; both within it. At least one row.
Figure bars(std::string name, std::string title, const std::vector<BarRow>& rows, const Axis&);

/// Values of a knob: a dot at its factor, on a logarithmic axis around 1; a heading stands above the rows of each
/// group.
struct FactorRow {
  std::string group, label;
  double factor = 1;
  std::size_t series = 0;
  std::string text;  // beside it
};
/// At least one row.
Figure factors(std::string name, std::string title, const std::vector<FactorRow>& rows);

/// Blue above 0, orange below; strongest at 1 and -1.
std::string heat(double score);

struct HeatMap {
  std::vector<std::string> rows, columns;
  std::vector<std::vector<double>> values;  // rows × columns; NaN: none
};
Figure heat_map(std::string name, std::string title, const HeatMap&);

}  // namespace deplo::apps::report
