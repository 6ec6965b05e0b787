// The rows of a table with a fixed header.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "search/records/formats/parts/csv.h"

namespace deplo::search::records {

/// Reads rows, and finds their cells by the header's names. The text and the place must outlive this object.
class CsvRows {
 public:
  CsvRows(std::string_view text, const std::string& place) : lines_(text, place), place_(place) { lines_.next(heads_); }

  /// Reads the next row. Returns false if no row is left. A last row that is cut off within its cells is left out.
  /// Throws Error if the number of cells differs from the header's.
  bool next();
  const std::vector<std::string>& heads() const { return heads_; }
  const std::vector<std::string>& cells() const { return cells_; }
  /// The cell in the column with this head; "" if there is no such column.
  std::string cell(std::string_view head) const;
  /// The time in a column; 0 if the cell is_missing() or nan. Throws Error if the cell has another text.
  double number(std::string_view head) const;
  /// Does the text end within the row? The program that wrote it may have been killed.
  bool is_cut_off() const { return lines_.is_over(); }
  /// The row's place, "FILE:LINE".
  std::string at() const;

 private:
  CsvLines lines_;
  const std::string& place_;
  std::vector<std::string> heads_, cells_;
};

}  // namespace deplo::search::records
