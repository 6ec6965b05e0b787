#include "apps/report/svg.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/text/code_point.h"

namespace deplo::apps::report {
namespace {

constexpr std::array colours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "currentColor"};

std::string_view entity(char c) {
  constexpr std::pair<char, std::string_view> entities[] = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
  for (const auto& [character, name] : entities)
    if (character == c) return name;
  return static_cast<unsigned char>(c) < ' ' || c == 127 ? " " : "";
}

std::string title_of(std::string_view title) {
  return fmt::format("<text class=\"title\" x=\"4\" y=\"14\">{}</text>", escape(title));
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto [code, bytes] = code_point(text);
    const bool allowed = bytes > 0 && code != 0xfffe && code != 0xffff;  // https://www.w3.org/TR/xml/#charsets
    const std::string_view replaced = bytes == 1 ? entity(text[0]) : "";
    out += !allowed ? "\xef\xbf\xbd" : replaced.empty() ? text.substr(0, bytes) : replaced;
    text.remove_prefix(allowed ? bytes : 1);
  }
  return out;
}

std::string colour(std::size_t series) { return colours[series % colours.size()]; }

std::string dash(std::size_t series) {
  return series < colours.size() ? "none" : series < 2 * colours.size() ? "5 3" : "2 3";
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  CHECK(width > 0);
  std::vector<std::string> lines;
  for (;;) {
    std::size_t end = 0, good = 0, seen = 0;
    bool full = false;
    for (; end < text.size(); ++end) {
      if (!starts_code_point(text[end])) continue;
      const bool breaks = end > 0 && std::string_view(" ._-/,:;\x97").find(text[end - 1]) != std::string_view::npos;
      if (breaks && 2 * seen >= width) good = end;  // \x97: the last byte of ×
      full = seen == width;
      if (full) break;
      ++seen;
    }
    if (!full) break;
    lines.emplace_back(text.substr(0, good > 0 ? good : end));
    text.remove_prefix(lines.back().size());
  }
  lines.emplace_back(text);
  return lines;
}

std::string text_at(double x, double y, Anchor anchor, std::string_view text) {
  constexpr std::array names = {"start", "middle", "end"};
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y,
                     names[static_cast<std::size_t>(anchor)], escape(text));
}

std::string lines_at(double x, double y, Anchor anchor, const std::vector<std::string>& lines) {
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i)
    out += text_at(x, y + line_height * static_cast<double>(i), anchor, lines[i]);
  return out;
}

std::string line_at(std::string_view style, double x1, double y1, double x2, double y2) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", style, x1, y1, x2,
                     y2);
}

void Figure::add_note(std::string_view text) {
  const std::vector<std::string> lines = wrap(text, letters);
  body += lines_at(4, height + line_height, Anchor::start, lines);
  height += line_height * static_cast<double>(lines.size()) + 5;
}

std::string inline_svg(const Figure& figure) {
  return fmt::format("<svg class=\"figure\" viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"{}\">{}{}</svg>",
                     Figure::width, figure.height, escape(figure.title), title_of(figure.title), figure.body);
}

Picture standalone(const Figure& figure, std::string_view subject) {
  std::string style(figure_style);
  for (const auto& [name, value] : {std::pair<std::string, std::string>{"var(--soft)", "#5a5a5a"},
                                    {"var(--ink)", "#1b1b1b"},
                                    {"var(--paper)", "#fff"},
                                    {"var(--faint)", "#e2e2e2"}})
    for (std::size_t at; (at = style.find(name)) != std::string::npos;) style.replace(at, name.size(), value);
  const std::vector<std::string> lines = wrap(subject, Figure::letters);
  const double above = 5 + line_height * static_cast<double>(lines.size()), height = std::round(figure.height) + above;
  return {fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" color=\"#1b1b1b\" width=\"{0}\" "
                      "height=\"{1:.0f}\" viewBox=\"0 {2:.0f} {0} {1:.0f}\"><style>{3}</style>"
                      "<rect x=\"0\" y=\"{2:.0f}\" width=\"{0}\" height=\"{1:.0f}\" fill=\"#fff\"/>{4}{5}{6}</svg>\n",
                      Figure::width, height, -above, style, lines_at(4, line_height - above, Anchor::start, lines),
                      title_of(figure.title), figure.body),
          Figure::width, height};
}

}  // namespace deplo::apps::report
