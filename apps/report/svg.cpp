#include "apps/report/svg.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <utility>

#include "core/text.h"

namespace deplo::apps {
namespace {

constexpr std::array colours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "currentColor"};

// Bytes of the UTF-8 character that starts the text; 0: none does. RFC 3629, the ranges of its second byte left out.
std::size_t character(std::string_view text) {
  const auto first = static_cast<std::uint8_t>(text[0]);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<std::uint8_t>(text[i]) & 0xc0) != 0x80) return 0;
  return length;
}

std::string_view entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      return static_cast<unsigned char>(c) < ' ' || c == 127 ? " " : "";
  }
}

std::string title_of(std::string_view title) {
  return fmt::format("<text class=\"title\" x=\"4\" y=\"14\">{}</text>", escape(title));
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character(text);
    const std::string_view replaced = length == 1 ? entity(text[0]) : "";
    out += length == 0 ? "\xef\xbf\xbd" : replaced.empty() ? text.substr(0, length) : replaced;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string colour(std::size_t series) { return colours[series % colours.size()]; }

std::string dash(std::size_t series) {
  return series < colours.size() ? "none" : series < 2 * colours.size() ? "5 3" : "2 3";
}

std::string shorten(std::string_view text, std::size_t width) {
  if (columns(text) <= width || width < 3) return cut(text, width);
  std::size_t end = text.size();
  for (std::size_t letters = 0; letters < width / 2 && end > 0;)
    if ((static_cast<std::uint8_t>(text[--end]) & 0xc0) != 0x80) ++letters;  // the first byte of a character
  return cut(text, width - width / 2) + std::string(text.substr(end));
}

std::string text_at(double x, double y, Anchor anchor, std::string_view text) {
  constexpr std::array names = {"start", "middle", "end"};
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y,
                     names[static_cast<std::size_t>(anchor)], escape(text));
}

std::string line_at(std::string_view style, double x1, double y1, double x2, double y2) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", style, x1, y1, x2,
                     y2);
}

std::string inline_svg(const Figure& figure) {
  return fmt::format("<svg class=\"figure\" viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"{}\">{}{}</svg>",
                     Figure::width, figure.height, escape(figure.title), title_of(figure.title), figure.body);
}

std::string standalone_svg(const Figure& figure, std::string_view subject) {
  std::string style(figure_style);
  for (const auto& [name, value] : {std::pair<std::string, std::string>{"var(--soft)", "#5a5a5a"},
                                    {"var(--ink)", "#1b1b1b"},
                                    {"var(--paper)", "#fff"},
                                    {"var(--faint)", "#e2e2e2"}})
    for (std::size_t at; (at = style.find(name)) != std::string::npos;) style.replace(at, name.size(), value);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" color=\"#1b1b1b\" width=\"{0}\" height=\"{1:.0f}\" "
      "viewBox=\"0 {2:.0f} {0} {1:.0f}\"><style>{3}</style>"
      "<rect x=\"0\" y=\"{2:.0f}\" width=\"{0}\" height=\"{1:.0f}\" fill=\"#fff\"/>{4}{5}{6}</svg>\n",
      Figure::width, figure.height + subject_height, -subject_height, style,
      text_at(4, -4, Anchor::start, cut(subject, 52)), title_of(figure.title), figure.body);
}

}  // namespace deplo::apps
