#include "apps/cli/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/text/text.h"
#include "core/text/wrap.h"

namespace deplo::apps {
namespace {

constexpr std::size_t least_beside = 24;  // columns for the text of the last: narrower ones are hard to read

/// Which cell of the rows is their name: the first that is text.
std::size_t name_column(const std::vector<bool>& right) {
  return static_cast<std::size_t>(std::ranges::find(right, false) - right.begin());
}

/// Each row as a paragraph, with an empty line between them. A cell with spaces in it begins a line where it does not fit the one before; none is cut.
std::string stack_rows(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right,
                       std::size_t width) {
  constexpr std::size_t indent = 2;
  std::string text;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    const std::size_t name = std::min(name_column(right), rows[r].size() - 1);
    const bool numbered = rows[0][0] == "#" && name != 0 && !rows[r][0].empty();
    if (!rows[r][name].empty()) text += wrap((numbered ? rows[r][0] + " " : "") + rows[r][name], width, indent) + "\n";
    std::string line;
    const auto flush = [&] {
      if (!line.empty()) text += std::string(indent, ' ') + wrap(line, width, 2 * indent, indent) + "\n";
      line.clear();
    };
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      if (rows[r][c].empty() || c == name || (c == 0 && numbered)) continue;
      const std::string cell = rows[0][c].empty() ? rows[r][c] : rows[0][c] + " " + rows[r][c];
      if (!line.empty() && indent + columns(line) + 2 + columns(cell) > width) flush();
      (line += line.empty() ? "" : ", ") += cell;
    }
    flush();
    if (r + 1 < rows.size()) text += "\n";
  }
  return text;
}

using Rows = std::vector<std::vector<std::string>>;

std::vector<std::size_t> widths_of(const Rows& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], columns(row[c]));
  return widths;
}

/// Of the window, that all but the last column of the table take.
std::size_t columns_of_others(const std::vector<std::size_t>& widths) {
  std::size_t sum = 0;
  for (std::size_t c = 0; c + 1 < widths.size(); ++c) sum += widths[c] + 2;
  return sum;
}

void erase_column(Rows& rows, std::vector<bool>& right, std::size_t column) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  for (auto& row : rows) row.erase(row.begin() + at);
  right.erase(right.begin() + at);
}

/// Takes columns that say the same in every row, or nothing, out of the table: a line each.
std::string take_constant_columns(Rows& rows, std::vector<bool>& right, std::size_t width) {
  std::string text;
  for (std::size_t c = rows.front().size(); c-- > 0;) {
    if (c == name_column(right) || rows[1][c].empty() || rows[0][c].empty()) continue;
    const auto alike = [&](const auto& row) { return &row == &rows.front() || row[c].empty() || row[c] == rows[1][c]; };
    if (!std::ranges::all_of(rows, alike)) continue;
    text = wrap(rows[0][c] + " " + rows[1][c], width, 2) + "\n" + text;
    erase_column(rows, right, c);
  }
  return text;
}

/// Without the first of the spare columns, as many as it takes to fit; nullopt where they are too few.
std::optional<Rows> without_spare_columns(Rows rows, std::vector<bool>& right, std::size_t width,
                                          std::span<const std::string_view> spare) {
  for (const std::string_view name : spare) {
    const auto found = std::ranges::find(rows.front(), name);
    if (found == rows.front().end()) continue;
    erase_column(rows, right, static_cast<std::size_t>(found - rows.front().begin()));
    const std::vector<std::size_t> widths = widths_of(rows);
    if (columns_of_others(widths) + widths.back() <= width) return rows;
  }
  return std::nullopt;
}

}  // namespace

std::string three_digits(double value) {
  return value < 100 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

std::string align_columns(std::vector<std::vector<std::string>> rows, std::vector<bool> right, std::size_t width,
                          std::span<const std::string_view> spare) {
  for (auto& row : rows)
    for (std::string& cell : row) cell = printable(cell);
  std::vector<std::size_t> widths = widths_of(rows);
  std::size_t others = columns_of_others(widths);
  const auto fits_window = [&] { return width == 0 || others + widths.back() <= width; };
  std::string text;
  const bool whole = std::ranges::all_of(rows, [&](const auto& row) { return row.size() == right.size(); });
  if (!fits_window() && whole && rows.size() > 2) {
    text = take_constant_columns(rows, right, width);
    widths = widths_of(rows);
    others = columns_of_others(widths);
  }
  std::vector<bool> right_of_fitting = right;
  if (auto fitting = fits_window() ? std::nullopt : without_spare_columns(rows, right_of_fitting, width, spare))
    return text + align_columns(std::move(*fitting), std::move(right_of_fitting), width);
  const bool fits = fits_window();
  if (!fits && (others > width + 2 || right.back())) return text + stack_rows(rows, right, width);
  const bool beside = width >= others + least_beside;  // else below, a little to the right
  const std::size_t indent = beside ? others : 4;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (!fits && c + 1 == row.size()) break;
      const std::string space(widths[c] - columns(row[c]), ' ');
      (line += c == 0 ? "" : "  ") += right[c] ? space + row[c] : row[c] + space;
    }
    const bool rest = !fits && !row.back().empty();
    if (rest && beside) line += (line.empty() ? "" : "  ") + wrap(row.back(), width, indent, indent);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (rest && !beside) text += "    " + wrap(row.back(), width, indent, indent) + "\n";
  }
  return text;
}

}  // namespace deplo::apps
