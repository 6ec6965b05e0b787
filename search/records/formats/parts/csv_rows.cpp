#include "search/records/formats/parts/csv_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.h"

namespace deplo::search::records {

bool CsvRows::next() {
  if (!lines_.next(cells_)) return false;
  if (cells_.size() < heads_.size() && is_cut_off()) return false;
  if (cells_.size() != heads_.size())
    throw Error(fmt::format("{}: expected {} cells, found {}", at(), heads_.size(), cells_.size()));
  return true;
}

std::string CsvRows::cell(std::string_view head) const {
  const auto found = std::ranges::find(heads_, head);
  return found == heads_.end() ? "" : cells_[static_cast<std::size_t>(found - heads_.begin())];
}

double CsvRows::number(std::string_view head) const {
  const std::string text = cell(head);
  if (is_missing(text)) return 0;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (std::isnan(value)) return 0;
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0))
    throw Error(fmt::format("{}: expected a time in column '{}', found '{}'", at(), head, text.substr(0, 40)));
  return value;
}

std::string CsvRows::at() const { return fmt::format("{}:{}", place_, lines_.line()); }

}  // namespace deplo::search::records
