// Charts with two axes: lines, bands, dots, bars and marks in a frame. Each line has its name at its end.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/report/scale.h"
#include "apps/report/svg.h"

namespace deplo::apps::report {

/// Values outside of the axes are drawn at their ends. Values that are not finite are left out. Labels are plain text.
class Chart {
 public:
  /// `name`, `title`: of the figure. Each axis must have low < high. `longest_label`: the width of the longest line
  /// label, in columns; 0: lines have no labels. The labels are at the ends of the lines if there is room, else below
  /// the chart.
  Chart(std::string name, std::string title, Axis x, Axis y, std::size_t longest_label);
  void line(const std::vector<double>& x, const std::vector<double>& y, std::size_t series, std::string_view label);
  /// Draws a step line: each value holds until the next one, and the last one until the end of the axis.
  void steps(const std::vector<double>& x, const std::vector<double>& y, std::size_t series, std::string_view label);
  void band(const std::vector<double>& x, const std::vector<double>& low, const std::vector<double>& high,
            std::size_t series);
  /// Draws at most 1,000 dots, chosen evenly.
  void dots(const std::vector<double>& x, const std::vector<double>& y, std::size_t series);
  /// Draws short strokes along the upper edge.
  void strokes(const std::vector<double>& x, std::size_t series);
  /// Draws a bar from the lower axis to `height`. `tip`: the tooltip.
  void bar(double left, double right, double height, std::size_t series, std::string_view tip, bool pale = false);
  /// rule() draws a thin horizontal line with its label above it, unless it is outside of the axis. mark() draws a thin
  /// vertical line with its label next to it.
  void rule(double y, std::string_view label = "");
  void mark(double x, std::string_view label);
  Figure figure() const;

 private:
  struct Label {
    double y;  // the wanted position
    std::size_t series;
    std::string text;
  };
  double at_x(double value) const;
  double at_y(double value) const;
  std::string points(const std::vector<double>& x, const std::vector<double>& y) const;
  void polyline(const std::string& points, std::size_t series, std::string_view label);
  std::string frame() const;
  bool names_beside() const;
  std::string names() const;
  std::string swatch(double x, double y, const Label&) const;
  std::string marks() const;

  std::string name_, title_;
  Axis x_, y_;
  std::size_t longest_label_;
  double right_;
  std::vector<Label> labels_;
  std::vector<std::pair<double, std::string>> marks_;
  std::string body_;
};

}  // namespace deplo::apps::report
