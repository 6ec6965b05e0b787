// The words of SVG that the plots are made of: text, colours, and figures that stand by themselves.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::apps::report {

/// & < > " as entities; control characters as spaces; bytes that are no UTF-8 and what XML has no place for as U+FFFD.
std::string escape(std::string_view text);

/// Okabe and Ito's colours, which people with any colour vision tell apart (https://jfly.uni-koeln.de/color), but
/// yellow, which is weak on white; black is the colour of the text. From the eighth series on they repeat, dashed.
std::string colour(std::size_t series);
std::string dash(std::size_t series);

/// Lines of at most `width` (one or more) columns that make the text again: broken behind the last of ` ._-/,:;×` that
/// leaves no line less than half full, else anywhere. One line at least.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// Where text stands to its point.
enum class Anchor { start, middle, end };
std::string text_at(double x, double y, Anchor anchor, std::string_view text);
/// Lines below each other; y is that of the first.
std::string lines_at(double x, double y, Anchor anchor, const std::vector<std::string>& lines);
std::string line_at(std::string_view style, double x1, double y1, double x2, double y2);

/// Of text at 11 pixels: the width of a digit of DejaVu Sans, the widest of the usual fonts, which names of lower-case
/// letters and digits do not exceed on average; and from line to line.
inline constexpr double letter_width = 7, line_height = 13;

/// One plot. Its numbers are pixels of a page 360 wide.
struct Figure {
  static constexpr double width = 360;
  static constexpr std::size_t letters = 50;  // in a line across it
  std::string name;                           // of its file, unique in a page: lower case, digits, '-'
  std::string title;                          // text
  double height = 0;
  std::string body;  // SVG below the title, which takes the first 18 pixels

  /// Puts text below all that is there.
  void add_note(std::string_view text);
};

/// For a page, which has the style sheet.
std::string inline_svg(const Figure&);

/// A file of its own, on white.
struct Picture {
  std::string svg;
  double width = 0, height = 0;
};
/// With what it is a plot of above it.
Picture standalone(const Figure&, std::string_view subject);

/// The style sheet of text and lines: of the page, where colours are variables, and with fixed ones.
inline constexpr std::string_view figure_style =
    ".figure{font:11px system-ui,'DejaVu Sans',sans-serif}.figure text{fill:var(--soft)}"
    ".figure .title{fill:var(--ink);font-weight:600;font-size:12px}.figure .strong "
    "text{fill:var(--ink);stroke:var(--paper);"
    "stroke-width:3px;paint-order:stroke}.figure .cells text{fill:#111;font-size:9px}"
    ".grid{stroke:var(--faint);stroke-width:.7}.rule{stroke:var(--soft);stroke-width:1;stroke-dasharray:3 3}"
    ".whisker{stroke:var(--ink);stroke-width:1.6}";

}  // namespace deplo::apps::report
