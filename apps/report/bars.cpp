#include "apps/report/bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace deplo::apps {
namespace {

constexpr double top = 24, row_height = 19, names = 132, numbers = 296;
constexpr std::size_t names_length = 17, longest_name = 27, text_length = 9;  // letters of DejaVu Sans at 11 pixels

double bars_start(std::size_t letters) { return 13 + 7 * static_cast<double>(letters); }

double y_of(std::size_t row) { return top + row_height * static_cast<double>(row); }

/// `letters` of the label have room.
std::string bar_row(const BarRow& row, const Axis& axis, double y, std::size_t letters) {
  const double start = bars_start(letters);
  const auto at = [&](double value) { return start + (numbers - start) * axis.share(value); };
  std::string out = text_at(start - 6, y + 13, Anchor::end, shorten(row.label, letters));
  out += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"13\" fill=\"{}\"><title>{}: {}</title></rect>",
      std::min(at(0), at(row.value)), y + 2.5, std::abs(at(row.value) - at(0)), colour(row.series), escape(row.label),
      escape(row.text));
  if (row.low < row.high) out += line_at("whisker", at(row.low), y + 9, at(row.high), y + 9);
  return out + text_at(Figure::width - 2, y + 13, Anchor::end, cut(row.text, text_length));
}

}  // namespace

Figure bars(std::string name, std::string title, const std::vector<BarRow>& rows, double least, double most) {
  const Axis axis{"", std::min(least, 0.0), std::max(most, least + 1e-9), false, Unit::none};
  Figure figure{std::move(name), std::move(title), y_of(rows.size()) + 6, ""};
  std::size_t letters = names_length;
  for (const BarRow& row : rows) letters = std::max(letters, std::min(columns(row.label), longest_name));
  const double start = bars_start(letters), zero = start + (numbers - start) * axis.share(0);
  figure.body += line_at("grid", zero, top, zero, y_of(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) figure.body += bar_row(rows[i], axis, y_of(i), letters);
  return figure;
}

Figure factors(std::string name, std::string title, const std::vector<FactorRow>& rows) {
  double reach = std::log(1.05);
  for (const FactorRow& row : rows) reach = std::max(reach, std::abs(std::log(row.factor)));
  const Axis axis{"", std::exp(-reach), std::exp(reach), true, Unit::none};
  const auto at = [&](double factor) { return names + 6 + (numbers - names - 12) * axis.share(factor); };
  Figure figure{std::move(name), std::move(title), 0, ""};
  double y = top;
  std::string group, body;
  for (const FactorRow& row : rows) {
    if (row.group != group) body += text_at(4, y + 13, Anchor::start, shorten(row.group, names_length + 10));
    if (row.group != group) y += row_height;
    group = row.group;
    body += text_at(names - 6, y + 11, Anchor::end, shorten(row.label, names_length)) +
            line_at("grid", names, y + 7, numbers, y + 7);
    body +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"><title>{} {}: {}</title></circle>",
                    at(row.factor), y + 7, colour(row.series), escape(row.group), escape(row.label), escape(row.text));
    body += text_at(Figure::width - 2, y + 11, Anchor::end, cut(row.text, text_length));
    y += 15;
  }
  figure.height = y + 6;
  figure.body = line_at("rule", at(1), top + row_height, at(1), y) + body;
  return figure;
}

std::string heat(double score) {
  const double strength = std::clamp(std::abs(score), 0.0, 1.0);
  const auto mix = [&](double to) { return static_cast<int>(std::lround(255 + (to - 255) * strength)); };
  return score >= 0 ? fmt::format("#{:02x}{:02x}{:02x}", mix(86), mix(180), mix(233))
                    : fmt::format("#{:02x}{:02x}{:02x}", mix(230), mix(159), mix(0));
}

Figure heat_map(std::string name, std::string title, const HeatMap& map) {
  constexpr double head = 58, narrowest_with_number = 22;
  const double cell = std::min(40.0, (Figure::width - names - 40) / static_cast<double>(map.columns.size()));
  Figure figure{std::move(name), std::move(title), top + head + row_height * static_cast<double>(map.rows.size()) + 6,
                ""};
  const auto x_of = [&](std::size_t column) { return names + cell * static_cast<double>(column); };
  for (std::size_t c = 0; c < map.columns.size(); ++c)
    figure.body += fmt::format("<g transform=\"translate({:.1f} {:.1f}) rotate(-50)\">{}</g>", x_of(c) + cell / 2 + 3,
                               top + head - 4, text_at(0, 0, Anchor::start, shorten(map.columns[c], 10)));

  std::string cells;
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    const double y = top + head + row_height * static_cast<double>(r);
    figure.body += text_at(names - 6, y + 13, Anchor::end, shorten(map.rows[r], names_length));
    for (std::size_t c = 0; c < map.columns.size(); ++c) {
      const double value = map.values[r][c];
      if (std::isnan(value)) continue;
      cells += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"><title>{}, {}: "
          "{:.3f}</title></rect>",
          x_of(c) + 0.5, y, cell - 1, row_height - 1, heat(value), escape(map.rows[r]), escape(map.columns[c]), value);
      if (cell >= narrowest_with_number)
        cells += text_at(x_of(c) + cell / 2, y + 12.5, Anchor::middle, fmt::format("{:.2f}", value));
    }
  }
  figure.body += "<g class=\"cells\">" + cells + "</g>";
  return figure;
}

}  // namespace deplo::apps
