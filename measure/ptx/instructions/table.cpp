#include "measure/ptx/instructions/table.h"

#include <algorithm>
#include <array>
#include <initializer_list>
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

bool is_one_of(std::span<const std::string_view> words, std::string_view alternatives) {
  return std::ranges::any_of(words, [&](std::string_view word) { return is_alternative(alternatives, word); });
}

/// True if an opcode, split into words, matches the pattern.
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

using Rows = std::map<std::string_view, std::vector<const Row*>>;

Rows rows_by_base(std::initializer_list<std::span<const Row>> families) {
  Rows rows;
  for (const auto family : families)
    for (const Row& row : family) rows[row.pattern.substr(0, row.pattern.find('.'))].push_back(&row);
  return rows;
}

const Row* find(const Rows& rows, std::span<const std::string_view> words) {
  const auto found = rows.find(words.front());
  if (found == rows.end()) return nullptr;
  for (const Row* row : found->second)
    if (matches(row->pattern, words)) return row;
  return nullptr;
}

}  // namespace

const Row* find_row(std::span<const std::string_view> words) {
  static const Rows rows = rows_by_base({arithmetic_rows(), half_rows(), conversion_rows(), control_rows(),
                                         memory_rows(), warp_rows(), async_rows(), matrix_rows()});
  return find(rows, words);
}

const Row* find_exact_row(std::span<const std::string_view> words) {
  static const Rows rows = rows_by_base({exact_rows()});
  return find(rows, words);
}

bool computes_with_floats(std::span<const std::string_view> words) {
  // mma and wgmma check for exact arithmetic themselves
  constexpr std::array moves = {"mov", "ld", "st", "selp", "mma", "wgmma"};
  if (std::ranges::find(moves, words.front()) != moves.end() || is_one_of(words, "exch|cas")) return false;
  return is_one_of(words, "f16|bf16|f16x2|bf16x2|f32|tf32|f64|e4m3x2|e5m2x2");
}

}  // namespace deplo::measure::ptx
