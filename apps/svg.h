// Small charts as inline SVG: readable at 360 pixels, in light and dark, without scripts.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::apps {

/// & < > " as entities; control characters as spaces.
std::string escape(std::string_view text);
/// Okabe and Ito's colours, which people with any colour vision tell apart; from the ninth series on they repeat,
/// dashed.
std::string colour(std::size_t series);
std::string dash(std::size_t series);

struct Axis {
  std::string title;
  double low = 0, high = 1;
  bool logarithmic = false;
};

/// Draws into a frame with axes; points outside are cut off. Text is escaped.
class Chart {
 public:
  Chart(std::string title, Axis x, Axis y);
  void line(const std::vector<double>& x, const std::vector<double>& y, std::size_t series, std::string_view label);
  void steps(const std::vector<double>& x, const std::vector<double>& y, std::size_t series, std::string_view label);
  void band(const std::vector<double>& x, const std::vector<double>& low, const std::vector<double>& high,
            std::size_t series);
  void bar(double left, double right, double height, std::size_t series, std::string_view label);
  void rule(double y);  // a thin line across
  std::string svg() const;

 private:
  double at_x(double value) const;
  double at_y(double value) const;
  void polyline(const std::string& points, std::size_t series, std::string_view label);
  std::string title_;
  Axis x_, y_;
  std::string body_;
};

/// Rows with a bar each, and whiskers where low < high. All values share the scale [least, most].
struct BarRow {
  std::string label;
  double value = 0, low = 0, high = 0;
  std::size_t series = 0;
};
std::string bars(std::string_view title, const std::vector<BarRow>& rows, double least, double most);

}  // namespace deplo::apps
