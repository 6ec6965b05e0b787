#include "apps/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace deplo::apps {
namespace {

constexpr double width = 360, height = 230, left = 44, right = 350, top = 34, bottom = 192;
// https://jfly.uni-koeln.de/color: vermillion last but one, yellow (weak on white) last.
constexpr std::array colours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6d00", "#666666"};

double share(const Axis& axis, double value) {
  if (axis.logarithmic) return std::log(value / axis.low) / std::log(axis.high / axis.low);
  return (value - axis.low) / (axis.high - axis.low);
}

// 1, 2 or 5 times a power of ten, so that there are three to seven.
std::vector<double> ticks(const Axis& axis) {
  std::vector<double> out;
  if (axis.logarithmic) {
    for (double tick = std::pow(10, std::ceil(std::log10(axis.low) - 1e-9)); tick <= axis.high * (1 + 1e-9); tick *= 10)
      out.push_back(tick);
    return out;
  }
  const double span = axis.high - axis.low, power = std::pow(10, std::floor(std::log10(span / 4)));
  const double rest = span / 4 / power, step = power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
  for (double tick = std::ceil(axis.low / step - 1e-9) * step; tick <= axis.high + step * 1e-9; tick += step)
    out.push_back(std::abs(tick) < step * 1e-9 ? 0 : tick);
  return out;
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor, escape(text));
}

std::string open(std::string_view title, double tall) {
  return fmt::format("<svg viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"{}\">", width, tall, escape(title)) +
         fmt::format("<text class=\"title\" x=\"4\" y=\"14\">{}</text>", escape(title));
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out;
}

std::string colour(std::size_t series) { return colours[series % colours.size()]; }

std::string dash(std::size_t series) {
  return series < colours.size() ? "none" : series < 2 * colours.size() ? "5 3" : "2 3";
}

Chart::Chart(std::string title, Axis x, Axis y) : title_(std::move(title)), x_(std::move(x)), y_(std::move(y)) {
  CHECK(x_.high > x_.low && y_.high > y_.low);
}

double Chart::at_x(double value) const { return left + (right - left) * std::clamp(share(x_, value), 0.0, 1.0); }
double Chart::at_y(double value) const { return bottom - (bottom - top) * std::clamp(share(y_, value), 0.0, 1.0); }

void Chart::polyline(const std::string& points, std::size_t series, std::string_view label) {
  body_ += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" "
      "stroke-dasharray=\"{}\"><title>{}</title>"
      "</polyline>",
      points, colour(series), dash(series), escape(label));
}

void Chart::line(const std::vector<double>& x, const std::vector<double>& y, std::size_t series,
                 std::string_view label) {
  std::string points;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::isfinite(y[i])) points += fmt::format("{:.1f},{:.1f} ", at_x(x[i]), at_y(y[i]));
  polyline(points, series, label);
}

void Chart::steps(const std::vector<double>& x, const std::vector<double>& y, std::size_t series,
                  std::string_view label) {
  std::string points;
  double before = y_.low;
  for (std::size_t i = 0; i < x.size(); ++i) {
    points += fmt::format("{0:.1f},{1:.1f} {0:.1f},{2:.1f} ", at_x(x[i]), at_y(before), at_y(y[i]));
    before = y[i];
  }
  polyline(points + fmt::format("{:.1f},{:.1f}", right, at_y(before)), series, label);
}

void Chart::band(const std::vector<double>& x, const std::vector<double>& low, const std::vector<double>& high,
                 std::size_t series) {
  std::string points;
  for (std::size_t i = 0; i < x.size(); ++i) points += fmt::format("{:.1f},{:.1f} ", at_x(x[i]), at_y(high[i]));
  for (std::size_t i = x.size(); i-- > 0;) points += fmt::format("{:.1f},{:.1f} ", at_x(x[i]), at_y(low[i]));
  body_ += fmt::format("<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"0.15\"/>", points, colour(series));
}

void Chart::bar(double from, double to, double value, std::size_t series, std::string_view label) {
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"><title>{}</title></rect>",
      at_x(from), at_y(value), std::max(0.5, at_x(to) - at_x(from) - 0.5), bottom - at_y(value), colour(series),
      escape(label));
}

void Chart::rule(double y) {
  body_ += fmt::format("<line class=\"rule\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", left, right, at_y(y),
                       at_y(y));
}

std::string Chart::svg() const {
  std::string out = open(title_, height);
  for (const double tick : ticks(y_))
    out += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", left, right,
                       at_y(tick), at_y(tick)) +
           text_at(left - 5, at_y(tick) + 4, "end", fmt::format("{:g}", tick));
  for (const double tick : ticks(x_))
    out += fmt::format("<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\"/>", at_x(tick), at_x(tick),
                       top, bottom) +
           text_at(at_x(tick), bottom + 15, "middle", fmt::format("{:g}", tick));
  out += text_at((left + right) / 2, bottom + 32, "middle", x_.title) + text_at(left, top - 5, "start", y_.title);
  return out + body_ + "</svg>";
}

std::string bars(std::string_view title, const std::vector<BarRow>& rows, double least, double most) {
  constexpr double line = 22, names = 130, numbers = 312;
  const Axis axis{"", std::min(least, 0.0), std::max(most, least + 1e-9), false};
  const auto at = [&](double value) { return names + (numbers - names) * std::clamp(share(axis, value), 0.0, 1.0); };
  std::string out = open(title, top + line * static_cast<double>(rows.size()) + 6);
  double y = top;
  for (const BarRow& row : rows) {
    out += text_at(names - 6, y + 13, "end", cut(row.label, 19));
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"14\" fill=\"{}\"><title>{}</title></rect>",
        std::min(at(0), at(row.value)), y + 2, std::abs(at(row.value) - at(0)), colour(row.series), escape(row.label));
    if (row.low < row.high)
      out += fmt::format("<line class=\"whisker\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
                         at(row.low), at(row.high), y + 9, y + 9);
    out += text_at(width - 4, y + 13, "end", fmt::format("{:.3f}", row.value));
    y += line;
  }
  return out + "</svg>";
}

}  // namespace deplo::apps
