#include "apps/report/bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text/text.h"

namespace deplo::apps::report {
namespace {

constexpr double above_bars = 24, bar_height = 19, numbers = 296;  // numbers: where the numbers next to the bars begin
constexpr std::size_t longest_beside = 27, text_length = 9;        // letters

/// The places of the labels of rows: all to the left of their bars, or all above their bars in lines of their own.
struct Labels {
  bool above = false;
  double end = 0;  // where the labels to the left end and the bars begin

  template <class Row>
  explicit Labels(const std::vector<Row>& rows) {
    std::size_t longest = 17;  // with this minimum the bars of most figures begin at the same place
    for (const Row& row : rows) longest = std::max(longest, columns(row.label));
    above = longest > longest_beside;
    end = above ? 4 : 7 + 7 * static_cast<double>(longest);
  }

  /// Draws the label of a row whose bar would be at y. A label above its bar moves y below the label.
  std::string draw(const std::string& label, double& y) const {
    if (!above) return text_at(end, y + 13, Anchor::end, label);
    if (label.empty()) return "";
    const std::vector<std::string> lines = wrap(label, Figure::letters);
    const double first = y + line_height;
    y += line_height * static_cast<double>(lines.size());
    return lines_at(4, first, Anchor::start, lines);
  }
};

std::string number_at(double y, const std::string& text) {
  return text_at(Figure::width - 2, y, Anchor::end, cut(text, text_length));
}

/// Returns the colour of a score: blue above 0, orange below, strongest at 1 and -1.
std::string heat(double score) {
  const double strength = std::clamp(std::abs(score), 0.0, 1.0);
  const auto mix = [&](double to) { return static_cast<int>(std::lround(255 + (to - 255) * strength)); };
  return score >= 0 ? fmt::format("#{:02x}{:02x}{:02x}", mix(86), mix(180), mix(233))
                    : fmt::format("#{:02x}{:02x}{:02x}", mix(230), mix(159), mix(0));
}

}  // namespace

Figure bars(std::string name, std::string title, const std::vector<BarRow>& rows, const Axis& axis) {
  const Labels labels(rows);
  const double start = labels.above ? 4 : labels.end + 6, below = labels.above ? 4.5 : 2.5,  // below: from y to the bar
      height = labels.above ? 10 : 13;
  const auto at = [&](double value) { return start + (numbers - start) * axis.share(value); };
  const double zero = at(axis.logarithmic ? 1 : 0);
  const std::vector<double> ticks = axis.logarithmic ? axis.ticks() : std::vector<double>();
  double y = above_bars;
  std::string body;
  for (const BarRow& row : rows) {
    body += labels.draw(row.label, y);
    // Grid lines cross the bars only, because labels may be above the bars.
    for (const double tick : ticks) body += line_at("grid", at(tick), y + 1, at(tick), y + bar_height - 1);
    body += line_at(axis.logarithmic ? "rule" : "grid", zero, y + 1, zero, y + bar_height - 1);
    body += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\" fill-opacity=\"{}\"><title>{}: "
        "{}</title></rect>",
        std::min(zero, at(row.value)), y + below, std::abs(at(row.value) - zero), height, colour(row.series),
        row.pale ? 0.45 : 1, escape(row.label), escape(row.text));
    if (row.low < row.high) body += line_at("whisker", at(row.low), y + 9, at(row.high), y + 9);
    body += number_at(y + (labels.above ? 13.5 : 13), row.text);
    y += bar_height;
  }
  if (axis.logarithmic) {
    double free = 0;  // end of the last number that was drawn
    for (const double tick : ticks) {
      const std::string text = fmt::format("{:.3g}×", tick);
      const double half = letter_width * static_cast<double>(columns(text)) / 2, middle = std::max(at(tick), 2 + half);
      if (middle - half < free) continue;
      body += text_at(middle, y + 13, Anchor::middle, text);
      free = middle + half + letter_width;
    }
    y += bar_height;
  }
  return {std::move(name), std::move(title), y + 6, std::move(body)};
}

Figure factors(std::string name, std::string title, const std::vector<FactorRow>& rows) {
  double reach = std::log(1.05);
  for (const FactorRow& row : rows) reach = std::max(reach, std::abs(std::log(row.factor)));
  const Axis axis{"", std::exp(-reach), std::exp(reach), true, Unit::none};
  const Labels labels(rows);
  const double start = labels.end + 6;
  const auto at = [&](double factor) { return start + 6 + (numbers - start - 12) * axis.share(factor); };
  double y = above_bars;
  std::string group, body;
  for (const FactorRow& row : rows) {
    if (row.group != group) {
      const std::vector<std::string> lines = wrap(row.group, Figure::letters);
      body += lines_at(4, y + 13, Anchor::start, lines);
      y += 6 + line_height * static_cast<double>(lines.size());
      group = row.group;
    }
    y -= 2;  // dots need less height than bars
    body += labels.draw(row.label, y) + line_at("grid", start, y + 9, numbers, y + 9);
    body +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"><title>{} {}: {}</title></circle>",
                    at(row.factor), y + 9, colour(row.series), escape(row.group), escape(row.label), escape(row.text));
    body += number_at(y + 13, row.text);
    y += 17;
  }
  return {std::move(name), std::move(title), y + 6, line_at("rule", at(1), above_bars + bar_height, at(1), y) + body};
}

Figure heat_map(std::string name, std::string title, const HeatMap& map) {
  // The row labels get the room that the longest one needs, but at most a third of the figure; longer labels are
  // wrapped. Columns with longer names get numbers, which a note explains.
  constexpr std::size_t max_letters = 18;
  constexpr double narrowest_with_number = 22, turned = 0.77;  // turned: the sine of 50 degrees
  std::size_t longest_row = 5, longest_column = 5;
  for (const std::string& row : map.rows) longest_row = std::max(longest_row, columns(row));
  for (const std::string& column : map.columns) longest_column = std::max(longest_column, columns(column));
  longest_row = std::min(longest_row, max_letters);
  const bool numbered = longest_column > max_letters;
  if (numbered) longest_column = 2;
  const double names = 8 + letter_width * static_cast<double>(longest_row);
  const double head = 14 + turned * letter_width * static_cast<double>(longest_column);
  const double cell =
      std::min(40.0, (Figure::width - names - 0.65 * letter_width * static_cast<double>(longest_column)) /
                         static_cast<double>(map.columns.size()));
  Figure figure{std::move(name), std::move(title), above_bars + head, ""};
  const auto x_of = [&](std::size_t column) { return names + cell * static_cast<double>(column); };
  for (std::size_t c = 0; c < map.columns.size(); ++c)
    figure.body += fmt::format("<g transform=\"translate({:.1f} {:.1f}) rotate(-50)\">{}</g>", x_of(c) + cell / 2 + 3,
                               above_bars + head - 4,
                               text_at(0, 0, Anchor::start, numbered ? fmt::format("{}", c + 1) : map.columns[c]));
  std::string cells;
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    const double y = figure.height;
    const std::vector<std::string> lines = wrap(map.rows[r], longest_row);
    figure.body += lines_at(names - 4, y + 13, Anchor::end, lines);
    const double height = bar_height + line_height * static_cast<double>(lines.size() - 1);
    figure.height += height;
    for (std::size_t c = 0; c < map.columns.size(); ++c) {
      const double value = map.values[r][c];
      if (std::isnan(value)) continue;
      cells += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"><title>{}, {}: "
          "{:.3f}</title></rect>",
          x_of(c) + 0.5, y, cell - 1, height - 1, heat(value), escape(map.rows[r]), escape(map.columns[c]), value);
      if (cell >= narrowest_with_number)
        cells += text_at(x_of(c) + cell / 2, y + height / 2 + 3, Anchor::middle, fmt::format("{:.2f}", value));
    }
  }
  figure.height += 6;
  figure.body += "<g class=\"cells\">" + cells + "</g>";
  for (std::size_t c = 0; numbered && c < map.columns.size(); ++c)
    figure.add_note(fmt::format("{}: {}", c + 1, map.columns[c]));
  return figure;
}

}  // namespace deplo::apps::report
