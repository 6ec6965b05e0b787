#include "apps/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text/text.h"

namespace deplo::apps::report {
namespace {

constexpr double chart_height = 234, left = 52, top = 40, bottom = 194;
constexpr std::size_t max_beside = 16;  // letters; longer labels are below the chart
constexpr std::size_t max_dots = 1000;  // more cannot be told apart, and a page of 100 kernels would take 10 MB

double text_width(std::size_t letters) { return letter_width * static_cast<double>(letters); }

double right_end(std::size_t longest_label) {
  if (longest_label == 0 || longest_label > max_beside) return Figure::width - 10;
  return Figure::width - 20 - text_width(longest_label);
}

}  // namespace

Chart::Chart(std::string name, std::string title, Axis x, Axis y, std::size_t longest_label)
    : name_(std::move(name)),
      title_(std::move(title)),
      x_(std::move(x)),
      y_(std::move(y)),
      longest_label_(longest_label),
      right_(right_end(longest_label)) {
  CHECK(x_.high > x_.low && y_.high > y_.low);
}

double Chart::at_x(double value) const { return left + (right_ - left) * x_.share(value); }
double Chart::at_y(double value) const { return bottom - (bottom - top) * y_.share(value); }

std::string Chart::points(const std::vector<double>& x, const std::vector<double>& y) const {
  std::string text;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::isfinite(y[i])) text += fmt::format("{:.1f},{:.1f} ", at_x(x[i]), at_y(y[i]));
  return text;
}

void Chart::polyline(const std::string& points, std::size_t series, std::string_view label) {
  body_ += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" stroke-dasharray=\"{}\">"
      "<title>{}</title></polyline>",
      points, colour(series), dash(series), escape(label));
}

void Chart::line(const std::vector<double>& x, const std::vector<double>& y, std::size_t series,
                 std::string_view label) {
  polyline(points(x, y), series, label);
  const auto last = std::find_if(y.rbegin(), y.rend(), [](double value) { return std::isfinite(value); });
  if (last != y.rend()) labels_.push_back({at_y(*last), series, std::string(label)});
}

void Chart::steps(const std::vector<double>& x, const std::vector<double>& y, std::size_t series,
                  std::string_view label) {
  std::string text;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i > 0) text += fmt::format("{:.1f},{:.1f} ", at_x(x[i]), at_y(y[i - 1]));
    text += fmt::format("{:.1f},{:.1f} ", at_x(x[i]), at_y(y[i]));
  }
  if (x.empty()) return;
  polyline(text + fmt::format("{:.1f},{:.1f}", right_, at_y(y.back())), series, label);
  labels_.push_back({at_y(y.back()), series, std::string(label)});
}

void Chart::band(const std::vector<double>& x, const std::vector<double>& low, const std::vector<double>& high,
                 std::size_t series) {
  std::vector<double> around_x(x), around_y(high);
  around_x.insert(around_x.end(), x.rbegin(), x.rend());
  around_y.insert(around_y.end(), low.rbegin(), low.rend());
  body_ += fmt::format("<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"0.15\"/>", points(around_x, around_y),
                       colour(series));
}

void Chart::dots(const std::vector<double>& x, const std::vector<double>& y, std::size_t series) {
  const std::size_t step = x.size() / max_dots + 1;
  std::string path;
  for (std::size_t i = 0; i < x.size(); i += step)
    if (std::isfinite(y[i])) path += fmt::format("M{:.1f} {:.1f}h0", at_x(x[i]), at_y(y[i]));
  body_ += fmt::format(
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"3.4\" stroke-linecap=\"round\" "
      "stroke-opacity=\"0.6\"/>",
      path, colour(series));
}

void Chart::strokes(const std::vector<double>& x, std::size_t series) {
  const std::size_t step = x.size() / max_dots + 1;
  std::string path;
  for (std::size_t i = 0; i < x.size(); i += step) path += fmt::format("M{:.1f} {:.1f}v6", at_x(x[i]), top);
  body_ += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.2\"/>", path, colour(series));
}

void Chart::bar(double from, double to, double value, std::size_t series, std::string_view tip, bool pale) {
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" fill-opacity=\"{}\">"
      "<title>{}</title></rect>",
      at_x(from), at_y(value), std::max(0.5, at_x(to) - at_x(from) - 0.5), bottom - at_y(value), colour(series),
      pale ? 0.55 : 1, escape(tip));
}

void Chart::rule(double y, std::string_view label) {
  if (y < y_.low || y > y_.high) return;
  body_ += line_at("rule", left, at_y(y), right_, at_y(y));
  if (!label.empty()) body_ += "<g class=\"strong\">" + text_at(right_ - 2, at_y(y) - 4, Anchor::end, label) + "</g>";
}

void Chart::mark(double x, std::string_view label) { marks_.emplace_back(at_x(x), label); }

std::string Chart::frame() const {
  std::string out;
  for (const double tick : y_.ticks())
    out += line_at("grid", left, at_y(tick), right_, at_y(tick)) +
           text_at(left - 5, at_y(tick) + 4, Anchor::end, print(tick, y_.unit));
  double free = 0;  // where the last number ends; the next one must begin after it
  for (const double tick : x_.ticks()) {
    out += line_at("grid", at_x(tick), top, at_x(tick), bottom);
    const std::string text = print(tick, x_.unit);
    const double half = text_width(columns(text)) / 2, middle = std::min(at_x(tick), Figure::width - 2 - half);
    if (middle - half < free) continue;
    out += text_at(middle, bottom + 15, Anchor::middle, text);
    free = middle + half + letter_width;
  }
  return out + text_at((left + right_) / 2, bottom + 32, Anchor::middle, x_.title) +
         text_at(left - 44, top - 10, Anchor::start, y_.title);
}

constexpr double least_apart = 12;  // minimum distance between the names of lines

bool Chart::names_beside() const {
  const auto count = static_cast<double>(labels_.size());
  return longest_label_ <= max_beside && count * least_apart <= bottom - top + least_apart;
}

std::string Chart::swatch(double x, double y, const Label& label) const {
  return fmt::format(
             "<line x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\" stroke-width=\"3\" "
             "stroke-dasharray=\"{4}\"/>",
             x, x + 10, y, colour(label.series), label.series < 7 ? "none" : "3 1.5") +
         lines_at(x + 13, y + 4, Anchor::start, wrap(label.text, Figure::letters - 9));
}

// Draws the names at the ends of their lines. Names that would overlap are moved apart.
std::string Chart::names() const {
  std::vector<Label> labels = labels_;
  std::ranges::stable_sort(labels, {}, &Label::y);
  double free = top - least_apart / 2;
  for (Label& label : labels) free = (label.y = std::max(label.y, free)) + least_apart;
  double limit = bottom - 2;  // above the numbers of the lower axis
  std::string out;
  for (std::size_t i = labels.size(); i-- > 0;) limit = (labels[i].y = std::min(labels[i].y, limit)) - least_apart;
  for (const Label& label : labels) out += swatch(right_ + 3, label.y, label);
  return out;
}

std::string Chart::marks() const {
  std::string out;
  double y = top + 9;
  for (const auto& [x, label] : marks_) {
    const bool on_left = x > (left + right_) / 2;
    out += line_at("rule", x, top, x, bottom) + "<g class=\"strong\">" +
           text_at(on_left ? x - 4 : x + 4, y, on_left ? Anchor::end : Anchor::start, label) + "</g>";
    y += 12;
  }
  return out;
}

Figure Chart::figure() const {
  Figure figure{name_, title_, chart_height, frame() + body_ + marks()};
  if (longest_label_ == 0) return figure;
  if (names_beside()) {
    figure.body += names();
    return figure;
  }
  for (const Label& label : labels_) {
    figure.body += swatch(left, figure.height + line_height / 2, label);
    figure.height += line_height * static_cast<double>(wrap(label.text, Figure::letters - 9).size());
  }
  figure.height += 4;
  return figure;
}

}  // namespace deplo::apps::report
