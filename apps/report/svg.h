// The elements of SVG from which the plots are made: text, lines, colours and whole figures.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::apps::report {

/// Replaces & < > " with entities, control characters with spaces, and bytes that are not UTF-8 or that XML does not
/// allow with U+FFFD.
std::string escape(std::string_view text);

/// Okabe and Ito's colours, which people with any colour vision can distinguish (https://jfly.uni-koeln.de/color).
/// Yellow is left out, because it is weak on white; black is the colour of the text. From the eighth series on, the
/// colours repeat with dashed lines.
std::string colour(std::size_t series);
std::string dash(std::size_t series);

/// Splits text into lines of at most `width` (at least one) columns, without dropping a character. A line ends after
/// the last of ` ._-/,:;×` in its second half; if there is none, anywhere. Returns at least one line.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// Which part of a text is placed at its point.
enum class Anchor { start, middle, end };
std::string text_at(double x, double y, Anchor anchor, std::string_view text);
/// Returns lines of text below each other. `y`: the position of the first line.
std::string lines_at(double x, double y, Anchor anchor, const std::vector<std::string>& lines);
std::string line_at(std::string_view style, double x1, double y1, double x2, double y2);

/// The size of text at 11 pixels. letter_width: the width of a digit in DejaVu Sans, the widest of the usual fonts;
/// names of lower-case letters and digits do not exceed it on average. line_height: the distance between lines.
inline constexpr double letter_width = 7, line_height = 13;

/// One plot. Its coordinates are pixels; it is 360 pixels wide.
struct Figure {
  static constexpr double width = 360;
  static constexpr std::size_t letters = 50;  // the number of letters in a line as wide as the figure
  std::string name;                           // name of its file, unique in a page: lower case, digits, '-'
  std::string title;                          // plain text
  double height = 0;
  std::string body;  // SVG below the title, which takes the first 18 pixels

  /// Adds text below the figure.
  void add_note(std::string_view text);
};

/// Returns the figure as SVG for a page that has the style sheet.
std::string inline_svg(const Figure&);

/// A figure as a separate file, on white.
struct Picture {
  std::string svg;
  double width = 0, height = 0;
};
/// Returns the figure as a separate file, with the subject above it.
Picture standalone(const Figure&, std::string_view subject);

/// The style sheet of text and lines. Its colours are variables of the page; standalone() replaces them by fixed ones.
inline constexpr std::string_view figure_style =
    ".figure{font:11px system-ui,'DejaVu Sans',sans-serif}.figure text{fill:var(--soft)}"
    ".figure .title{fill:var(--ink);font-weight:600;font-size:12px}.figure .strong "
    "text{fill:var(--ink);stroke:var(--paper);"
    "stroke-width:3px;paint-order:stroke}.figure .cells text{fill:#111;font-size:9px}"
    ".grid{stroke:var(--faint);stroke-width:.7}.rule{stroke:var(--soft);stroke-width:1;stroke-dasharray:3 3}"
    ".whisker{stroke:var(--ink);stroke-width:1.6}";

}  // namespace deplo::apps::report
