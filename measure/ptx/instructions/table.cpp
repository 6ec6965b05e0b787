#include "measure/ptx/instructions/table.h"

#include <array>
#include <map>

namespace deplo::measure::ptx {
namespace {

bool is_alternative(std::string_view alternatives, std::string_view word) {
  for (;;) {
    const std::size_t bar = alternatives.find('|');
    if (alternatives.substr(0, bar) == word) return true;
    if (bar == std::string_view::npos) return false;
    alternatives.remove_prefix(bar + 1);
  }
}

std::map<std::string_view, std::vector<const Row*>> rows_by_base() {
  std::map<std::string_view, std::vector<const Row*>> rows;
  for (const auto family :
       {arithmetic_rows(), conversion_rows(), control_rows(), memory_rows(), warp_rows(), async_rows(), matrix_rows()})
    for (const Row& row : family) rows[row.pattern.substr(0, row.pattern.find('.'))].push_back(&row);
  return rows;
}

}  // namespace

bool matches(std::string_view pattern, std::span<const std::string_view> words) {
  std::size_t next = 0;
  for (;;) {
    const std::size_t dot = pattern.find('.');
    std::string_view part = pattern.substr(0, dot);
    const bool optional = part.starts_with('{');
    if (optional) part = part.substr(1, part.size() - 2);
    if (next < words.size() && is_alternative(part, words[next]))
      ++next;
    else if (!optional)
      return false;
    if (dot == std::string_view::npos) return next == words.size();
    pattern.remove_prefix(dot + 1);
  }
}

const Row* find_row(std::span<const std::string_view> words) {
  static const auto rows = rows_by_base();
  const auto found = rows.find(words.front());
  if (found == rows.end()) return nullptr;
  for (const Row* row : found->second)
    if (matches(row->pattern, words)) return row;
  return nullptr;
}

}  // namespace deplo::measure::ptx
