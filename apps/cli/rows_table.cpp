#include "apps/cli/rows_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/cli/columns.h"
#include "core/text/text.h"

namespace deplo::apps {
namespace {

using measure::sqlite::Cell;

constexpr double least_plain = 0.01;  // smaller numbers would lose their significant digits with fixed decimals

std::string print(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&cell))
    return *real != 0 && std::abs(*real) < least_plain ? fmt::format("{:.3g}", *real) : significant(*real);
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) return "-";
  std::string line = *text;
  std::ranges::replace(line, '\n', ' ');  // compilers' messages may have several lines
  std::ranges::replace(line, '\t', ' ');
  return line;
}

bool is_number(const Cell& cell) {
  return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell);
}

}  // namespace

std::string print_rows(const measure::sqlite::Rows& rows, std::size_t width, std::span<const std::string_view> spare) {
  if (rows.rows.empty()) return "";
  std::vector<std::vector<std::string>> lines{rows.columns};
  std::vector<bool> right(rows.columns.size(), false);
  for (const auto& row : rows.rows) {
    auto& line = lines.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) {
      line.push_back(print(row[c]));
      if (is_number(row[c])) right[c] = true;
    }
  }
  return align_columns(lines, right, width, spare);
}

Json json_of(const measure::sqlite::Rows& rows) {
  return Json::array(rows.rows, [&](const std::vector<Cell>& row) {
    Json object = Json::object();
    for (std::size_t c = 0; c < row.size(); ++c) object.set(rows.columns[c], row[c]);
    return object;
  });
}

std::string print_json(const measure::sqlite::Rows& rows) { return json_of(rows).print_lines(2); }

}  // namespace deplo::apps
