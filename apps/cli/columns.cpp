#include "apps/cli/columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/text.h"
#include "core/text/wrap.h"

namespace deplo::apps {
namespace {

// Minimum width of the last column if it is next to the others. One decision of a trail has about 30 columns.
constexpr std::size_t least_beside = 32;

/// Returns the index of the column that names the rows: the first left-aligned one, or right.size() if there is none.
std::size_t name_column(const std::vector<bool>& right) {
  return static_cast<std::size_t>(std::ranges::find(right, false) - right.begin());
}

/// Prints each row as a paragraph, with an empty line between paragraphs. A cell that does not fit on the current line
/// begins a new one. No cell is cut.
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

/// Returns the width of all columns but the last, with the two spaces after each.
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

/// Removes columns that have the same text in every row; empty cells do not count. Keeps the column that names the
/// rows. Returns one line for each removed column.
std::string take_constant_columns(Rows& rows, std::vector<bool>& right, std::size_t width) {
  std::string text;
  for (std::size_t c = rows.front().size(); c-- > 0;) {
    if (c == name_column(right) || rows[1][c].empty() || rows[0][c].empty()) continue;
    const auto alike = [&](const auto& row) { return &row == &rows.front() || row[c].empty() || row[c] == rows[1][c]; };
    if (!std::ranges::all_of(rows, alike)) continue;
    text.insert(0, wrap(rows[0][c] + " " + rows[1][c], width, 2) + "\n");
    erase_column(rows, right, c);
  }
  return text;
}

/// How a table is laid out in its window: whole, with its last column wrapped, or with each row as a paragraph.
enum class Fit { whole, wrapped, stacked };

Fit fit_of(const Rows& rows, const std::vector<bool>& right, std::size_t width) {
  const std::vector<std::size_t> widths = widths_of(rows);
  const std::size_t others = columns_of_others(widths);
  if (width == 0 || others + widths.back() <= width) return Fit::whole;
  return others > width + 2 || right.back() ? Fit::stacked : Fit::wrapped;
}

/// Removes spare columns, the first one first, until the table can be laid out as `wanted`. Returns false, and removes
/// nothing, if removing all of them is not enough.
bool leave_out(std::span<const std::string_view> spare, Fit wanted, Rows& rows, std::vector<bool>& right,
               std::size_t width) {
  Rows fewer = rows;
  std::vector<bool> right_of_fewer = right;
  for (const std::string_view name : spare) {
    const auto found = std::ranges::find(fewer.front(), name);
    if (found == fewer.front().end()) continue;
    erase_column(fewer, right_of_fewer, static_cast<std::size_t>(found - fewer.front().begin()));
    if (fit_of(fewer, right_of_fewer, width) > wanted) continue;
    rows = std::move(fewer);
    right = std::move(right_of_fewer);
    return true;
  }
  return false;
}

}  // namespace

std::string right_aligned(std::string_view text, std::size_t width) {
  return std::string(width - std::min(width, columns(text)), ' ').append(text);
}

std::string three_digits(double value) {
  return value < 100 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

std::string or_dash(double value) { return value > 0 ? significant(value) : "-"; }

std::string align_columns(std::vector<std::vector<std::string>> rows, std::vector<bool> right, std::size_t width,
                          std::span<const std::string_view> spare) {
  for (auto& row : rows)
    for (std::string& cell : row) cell = printable(cell);
  std::string text;
  Fit fit = fit_of(rows, right, width);
  const bool whole = std::ranges::all_of(rows, [&](const auto& row) { return row.size() == right.size(); });
  if (fit != Fit::whole && whole && rows.size() > 2) {
    text = take_constant_columns(rows, right, width);
    fit = fit_of(rows, right, width);
  }
  if (fit != Fit::whole && leave_out(spare, Fit::whole, rows, right, width)) fit = Fit::whole;
  if (fit == Fit::stacked && leave_out(spare, Fit::wrapped, rows, right, width)) fit = Fit::wrapped;
  if (fit == Fit::stacked) return text + stack_rows(rows, right, width);
  const std::vector<std::size_t> widths = widths_of(rows);
  const std::size_t others = columns_of_others(widths);
  const bool fits = fit == Fit::whole;
  const bool beside = width >= others + least_beside;  // false: the last column is below the others, indented
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
