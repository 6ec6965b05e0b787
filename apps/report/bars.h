// Plots of named rows: bars, factors, and a heat map.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "apps/report/scale.h"
#include "apps/report/svg.h"

namespace deplo::apps::report {

/// A bar up to `value`, with a whisker from `low` to `high` if low < high.
struct BarRow {
  std::string label;  // "": the bar belongs to the row above
  double value = 0, low = 0, high = 0;
  std::size_t series = 0;
  std::string text;  // a number that is shown next to the bar
  bool pale = false;
};
/// Draws a bar for each row. Bars start at 0 on a linear axis and at 1 on a logarithmic axis, and the axis must contain
/// that value. There must be at least one row.
Figure bars(std::string name, std::string title, const std::vector<BarRow>& rows, const Axis&);

/// A value of a knob, drawn as a dot at its factor on a logarithmic axis around 1. The rows of each group have a
/// heading.
struct FactorRow {
  std::string group, label;
  double factor = 1;
  std::size_t series = 0;
  std::string text;  // shown next to the dot
};
/// Draws a dot for each row. There must be at least one row.
Figure factors(std::string name, std::string title, const std::vector<FactorRow>& rows);

struct HeatMap {
  std::vector<std::string> rows, columns;
  std::vector<std::vector<double>> values;  // rows × columns; NaN: none
};
Figure heat_map(std::string name, std::string title, const HeatMap&);

}  // namespace deplo::apps::report
