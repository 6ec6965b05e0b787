// Charts with two axes: lines, bands, dots, bars and marks in a frame, each line named at its end.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/report/scale.h"
#include "apps/report/svg.h"

namespace deplo::apps::report {

/// What is outside of the axes is drawn at their ends. Values that are no numbers are left out. Labels are text.
class Chart {
 public:
  /// `name` and `title` of the figure; low < high. `longest_label`, in columns: of lines; 0: none has one. They stand
  /// at the ends of the lines where there is room, else below.
  Chart(std::string name, std::string title, Axis x, Axis y, std::size_t longest_label);
  void line(const std::vector<double>& x, const std::vector<double>& y, std::size_t series, std::string_view label);
  /// A value holds until the next one, the last one to the end of the axis.
  void steps(const std::vector<double>& x, const std::vector<double>& y, std::size_t series, std::string_view label);
  void band(const std::vector<double>& x, const std::vector<double>& low, const std::vector<double>& high,
            std::size_t series);
  /// At most some hundred of them are drawn, evenly chosen.
  void dots(const std::vector<double>& x, const std::vector<double>& y, std::size_t series);
  /// Short strokes along the upper edge.
  void strokes(const std::vector<double>& x, std::size_t series);
  /// From the lower axis to `height`; the tip is shown by a pointer.
  void bar(double left, double right, double height, std::size_t series, std::string_view tip, bool pale = false);
  /// A thin line across, its label above it, if it is within the axis; one from bottom to top with its label beside it.
  void rule(double y, std::string_view label = "");
  void mark(double x, std::string_view label);
  Figure figure() const;

 private:
  struct Label {
    double y;  // where it should be
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
