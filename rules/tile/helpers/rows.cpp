#include "rules/tile/helpers/rows.h"

#include <algorithm>

#include "rules/analysis/names.h"

namespace deplo::rules {
namespace {

std::int64_t turns(const ir::Loop& loop) {
  std::int64_t inner = 1;
  for (const ir::Stmt& stmt : loop.body)
    if (const auto* nested = stmt.as<ir::Loop>()) inner = std::max(inner, turns(*nested));
  return loop.axis.extent * inner;
}

}  // namespace

bool is_sweep(const ir::Stmt& stmt) {
  const auto* loop = stmt.as<ir::Loop>();
  return loop != nullptr && loop->axis.bind == ir::Bind::reduce && loop->start.is_constant(0) && loop->step == 1;
}

std::int64_t longest_sweep(const ir::Tile& tile) {
  std::int64_t longest = 0;
  for (const ir::Stmt& stmt : tile.body)
    if (is_sweep(stmt)) longest = std::max(longest, stmt.as<ir::Loop>()->axis.extent);
  return longest;
}

std::int64_t longest_sum(const ir::Tile& tile) {
  std::int64_t longest = 0;
  for (const ir::Stmt& stmt : tile.body)
    if (is_sweep(stmt)) longest = std::max(longest, turns(*stmt.as<ir::Loop>()));
  return longest;
}

bool has_column_axis(const ir::Tile& tile) {
  if (tile.axes.size() < 2) return false;
  const auto on_column = dependent_names(tile.body, tile.axes.back().name);
  return std::none_of(tile.body.begin(), tile.body.end(),
                      [&](const ir::Stmt& stmt) { return is_sweep(stmt) && depends(stmt, on_column); });
}

std::size_t row_axes(const ir::Tile& tile) {
  return tile.axes.size() - (longest_sweep(tile) > 0 && has_column_axis(tile) ? 1 : 0);
}

std::int64_t output_count(const ir::Tile& tile) {
  std::int64_t count = 1;
  for (const ir::Axis& axis : tile.axes) count *= axis.extent;
  return count;
}

std::int64_t row_count(const ir::Tile& tile) {
  return output_count(tile) / (row_axes(tile) < tile.axes.size() ? tile.axes.back().extent : 1);
}

std::int64_t cpu_rows_of_block(std::int64_t count, std::int64_t elements, std::int64_t min_rows, const Target& target) {
  constexpr std::int64_t wanted = 8192, blocks_a_core = 2;
  std::int64_t rows = min_rows;
  while (2 * rows * elements <= wanted) rows *= 2;
  while (rows > 1 && rows * blocks_a_core * target.units > count) rows /= 2;
  return rows;
}

}  // namespace deplo::rules
