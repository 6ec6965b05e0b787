#include "search/records/formats/parts/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "core/text/text.h"

namespace deplo::search::records {
namespace {

constexpr std::size_t max_cells = 10'000;          // per line: 1,000 parameters and their launches
constexpr std::size_t max_cell_bytes = 1'000'000;  // enough for a compiler's message

char separator_in(std::string_view text) {
  const std::size_t start = std::min(text.find_first_not_of("\r\n"), text.size());
  bool is_quoted = false, has_tab = false, has_semicolon = false;
  for (const char c : text.substr(start)) {
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (c == ',') return ',';
    if (c == '\r' || c == '\n') break;
    has_tab |= c == '\t';
    has_semicolon |= c == ';';
  }
  return has_tab ? '\t' : has_semicolon ? ';' : ',';
}

}  // namespace

bool is_missing(std::string_view cell) {
  constexpr std::string_view words[] = {"", "null", "none", "na", "n/a"};
  return std::ranges::find(words, lower_case(cell)) != std::end(words);
}

CsvLines::CsvLines(std::string_view text, const std::string& place)
    : text_(text), place_(place), separator_(separator_in(text)) {}

bool CsvLines::next(std::vector<std::string>& cells) {
  cells.clear();
  for (; at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r'); ++at_) line_ += text_[at_] == '\n';
  if (at_ >= text_.size()) return false;
  for (;;) {
    cells.push_back(cell());
    if (cells.size() > max_cells || cells.back().size() > max_cell_bytes)
      throw Error(fmt::format("{}:{}: expected at most {} cells of at most {} bytes each, found more", place_, line_,
                              max_cells, max_cell_bytes));
    if (at_ >= text_.size() || text_[at_] != separator_) break;
    ++at_;
  }
  return true;
}

std::size_t CsvLines::cell_end(std::size_t at) const {
  const char ends[] = {separator_, '\r', '\n'};
  return std::min(text_.find_first_of(std::string_view(ends, std::size(ends)), at), text_.size());
}

std::string CsvLines::cell() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  if (at_ < text_.size() && text_[at_] == '"') return quoted();
  std::string_view cell = text_.substr(at_, cell_end(at_) - at_);
  at_ += cell.size();
  while (!cell.empty() && is_blank(cell.back())) cell.remove_suffix(1);
  return std::string(cell);
}

std::string CsvLines::quoted() {
  std::string cell;
  for (++at_; at_ < text_.size(); ++at_) {
    if (text_[at_] == '"' && !(at_ + 1 < text_.size() && text_[at_ + 1] == '"')) break;
    if (text_[at_] == '"') ++at_;
    cell += text_[at_];
  }
  at_ = cell_end(at_);
  return cell;
}

}  // namespace deplo::search::records
