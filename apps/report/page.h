// A report: text, tables and plots, as one HTML page that needs no network and no scripts, or as a file per plot.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "apps/report/svg.h"

namespace deplo::apps::report {

/// Cells are text. The first column is left-aligned, as are those listed.
struct HtmlTable {
  std::vector<std::string> heads;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> texts = {};
};

/// A plot with what it is of ("matmul on cpu"), which stands above it in a file of its own.
struct Plot {
  std::string subject;
  Figure figure;
};

/// Filled from top to bottom. All that is given is text, never HTML.
class Page {
 public:
  explicit Page(std::string title);
  /// Opens a section: what follows belongs to it. `folded`: a reader opens it by a click.
  void section(std::string_view title, bool folded = false);
  void text(std::string_view text);
  void table(const HtmlTable&);
  /// Colours and names of series.
  void key(const std::vector<std::string>& labels);
  /// Side by side as the window allows.
  void plots(std::string_view subject, std::vector<Figure> figures);
  /// Behind a click: a title and text in a fixed font.
  void listing(std::string_view title, std::string_view text);

  /// Ends the section, and adds all that the other one has below its title.
  void append(Page&&);

  std::string html() const;
  const std::vector<Plot>& all_plots() const { return plots_; }

 private:
  void end_section();
  std::string title_, body_;
  std::string_view open_;  // what ends the section
  std::vector<Plot> plots_;
};

}  // namespace deplo::apps::report
