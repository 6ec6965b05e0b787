// The rows of a table with a fixed header.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "search/records/formats/parts/csv.h"

namespace deplo::search::records {

/// A row's cells by the header's names. The text and the place must exist as long as this object.
class CsvRows {
 public:
  CsvRows(std::string_view text, const std::string& place) : lines_(text, place), place_(place) { lines_.next(heads_); }

  /// False: no row is left. A last row that is cut off within its cells is left out. Throws Error if a row has another
  /// number of cells than the header.
  bool next();
  const std::vector<std::string>& heads() const { return heads_; }
  const std::vector<std::string>& cells() const { return cells_; }
  /// "" without such a column.
  std::string cell(std::string_view head) const;
  /// A time; 0 for an empty cell, and for what is no number. Throws Error if the cell is another text.
  double number(std::string_view head) const;
  /// Does the text end within the row? The program that wrote it may have been killed.
  bool is_cut_off() const { return lines_.is_over(); }
  /// "FILE:LINE".
  std::string at() const;

 private:
  CsvLines lines_;
  const std::string& place_;
  std::vector<std::string> heads_, cells_;
};

}  // namespace deplo::search::records
