// Lines of a table (CSV, RFC 4180).
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::search::records {

/// Whether the cell says that there is no value: it is empty, or has the word of JSON, Python, SQL or R for that.
bool is_missing(std::string_view cell);

/// Reads the cells of one line after the other. Quotes may hold separators, line ends and doubled quotes. Blanks around
/// a cell are not part of it. The first line determines the separator: a comma if it has one, else a tab or a
/// semicolon. The text and the place must outlive this object.
class CsvLines {
 public:
  CsvLines(std::string_view text, const std::string& place);

  /// Reads the next line that is not empty. Returns false if no line is left. Throws Error for a line that is too long.
  bool next(std::vector<std::string>& cells);
  /// Whether no text is left after these cells, not even the end of their line.
  bool is_over() const { return at_ >= text_.size(); }
  /// The number of the line of these cells; lines inside quotes are not counted.
  std::size_t line() const { return line_; }

 private:
  std::string cell();
  std::string quoted();
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  /// The end of the cell that contains this position, which is outside quotes.
  std::size_t cell_end(std::size_t at) const;

  std::string_view text_;
  const std::string& place_;
  char separator_;
  std::size_t at_ = 0, line_ = 1;
};

}  // namespace deplo::search::records
