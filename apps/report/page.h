// A report of text, tables and plots: one HTML page that needs no network and no scripts, or a file per plot.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "apps/report/svg.h"

namespace deplo::apps::report {

/// Cells are plain text. The first column and the columns in `texts` are left-aligned.
struct HtmlTable {
  std::vector<std::string> heads;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> texts = {};
};

/// A plot and its subject ("matmul on cpu"). The subject is shown above the plot if the plot is written to its own
/// file.
struct Plot {
  std::string subject;
  Figure figure;
};

/// A page that is filled from top to bottom. All arguments are plain text, never HTML.
class Page {
 public:
  explicit Page(std::string title);
  /// Begins a section. `folded`: the section is closed until the reader clicks on it.
  void section(std::string_view title, bool folded = false);
  void text(std::string_view text);
  void table(const HtmlTable&);
  /// Adds a legend with the colours and names of series.
  void key(const std::vector<std::string>& labels);
  /// Adds plots, which are side by side if the window is wide enough.
  void plots(std::string_view subject, std::vector<Figure> figures);
  /// Adds text in a fixed font below a title. It is hidden until the reader clicks on the title.
  void listing(std::string_view title, std::string_view text);

  /// Ends the section, and appends the other page without its title.
  void append(Page&&);

  std::string html() const;
  const std::vector<Plot>& all_plots() const { return plots_; }

 private:
  void end_section();
  std::string title_, body_;
  std::string_view open_;  // the HTML that ends the current section
  std::vector<Plot> plots_;
};

}  // namespace deplo::apps::report
