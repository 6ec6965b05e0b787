#include "search/records/formats/parts/csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace deplo::search::records {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::size_t most_cells = 10'000;          // of a line: 1,000 parameters and their launches
constexpr std::size_t most_cell_bytes = 1'000'000;  // a compiler's message

}  // namespace

bool CsvLines::next(std::vector<std::string>& cells) {
  cells.clear();
  for (; at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r'); ++at_) line_ += text_[at_] == '\n';
  if (at_ >= text_.size()) return false;
  for (;;) {
    cells.push_back(cell());
    if (cells.size() > most_cells || cells.back().size() > most_cell_bytes)
      throw Error(fmt::format("{}:{}: expected at most {} cells of at most {} bytes each, found more", place_, line_,
                              most_cells, most_cell_bytes));
    if (at_ >= text_.size() || text_[at_] != ',') break;
    ++at_;
  }
  return true;
}

std::string CsvLines::cell() {
  at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size());
  if (at_ < text_.size() && text_[at_] == '"') return quoted();
  const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
  const std::string_view cell = text_.substr(at_, end - at_);
  at_ = end;
  return std::string(cell.substr(0, cell.find_last_not_of(blanks) + 1));
}

std::string CsvLines::quoted() {
  std::string cell;
  for (++at_; at_ < text_.size(); ++at_) {
    if (text_[at_] == '"' && !(at_ + 1 < text_.size() && text_[at_ + 1] == '"')) break;
    if (text_[at_] == '"') ++at_;
    cell += text_[at_];
  }
  at_ = std::min(text_.find_first_of(",\r\n", at_), text_.size());
  return cell;
}

}  // namespace deplo::search::records
