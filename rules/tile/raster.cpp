// raster: runs the blocks of a matmul in groups of rows, so that blocks that run together share operands in the cache.
//   Tile(axes=(a0:8=BLOCK, a1:64=THREAD, a2:28=BLOCK, a3:128=THREAD)): … x[((a0 * 64) + a1), …] …
//     →   Tile(axes=(a0:2=BLOCK, a1:64=THREAD, a2:28=BLOCK, a3:4=BLOCK, a4:128=THREAD)):
//           … x[(((a0 * 256) + (a3 * 64)) + a1), …] …
// Blocks are numbered with the last axis fastest: 4 rows of a column, then the next column, as in Triton's grouped
// order ("Matrix Multiplication", L2 Cache Optimizations). In a batch of products whose right-hand factor is chosen by
// a loaded number (the blocks of a routed MLP, sorted by expert), the products take the place of the rows: neighbours
// have the same factor.
#include <algorithm>

#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/tile.h"
#include "rules/rule.h"
#include "rules/tile/helpers/options.h"

namespace deplo::rules {
namespace {

// Returns whether the block axes of m and n are right before their thread axes.
bool is_blocked(const ir::Tile& tile, const Matmul& matmul) {
  return matmul.m > 0 && matmul.n == matmul.m + 2 && tile.axes[matmul.m - 1].bind == ir::Bind::block &&
         tile.axes[matmul.n - 1].bind == ir::Bind::block;
}

// Returns the axis of blocks to group: the rows, or a batch of products that share columns; nullopt if there is none.
std::optional<std::size_t> grouped_axis(const ir::Program& program, const Matmul& matmul, const Target& target) {
  const std::size_t rows = matmul.m - 1;
  if (!target.cpu && tile_of(program).axes[rows].extent > 1) return rows;
  return sharing_axis(program, matmul);
}

// The threads of a CPU run few blocks at a time, and these should share one panel of columns in the cache. So CPUs run
// all blocks of a panel first (docs/performance.md, "A routed MLP").
std::vector<Value> group_options(std::int64_t extent, bool largest_first, const Target& target) {
  if (target.cpu) return options({extent, 1}, 1, extent);
  std::vector<Value> groups;
  for (const std::int64_t group : {1, 2, 4, 8, 16})
    if (extent % group == 0) groups.emplace_back(group);
  if (largest_first) std::ranges::reverse(groups);
  return groups;
}

// Returns whether matrix instructions would wait for the columns, because the blocks that run together have fewer than
// four rows, and each row of blocks reads all columns for itself. On an H200 512 x 18944 x 3584 takes 121 µs row by
// row, 103 in groups of 2 rows and 100 in groups of 4.
bool streams_columns(const ir::Program& program, const Matmul& matmul, const Target& target) {
  constexpr std::int64_t few_rows_together = 4;
  const ir::Tile& tile = tile_of(program);
  const std::int64_t columns = tile.axes[matmul.n - 1].extent;
  return ir::count_of(tile, ir::Bind::block) > target.units && columns * few_rows_together > target.units &&
         multiplies_matrices_by_warpgroups(program, matmul, target);
}

Verdict decide_raster(const ir::Program& program, const Target& target, const Pins& pins) {
  if (const auto group = pins.integer("group"))
    return *group == 1 ? Verdict(Skip{"group=1: the blocks run row by row"}) : Apply{};
  const auto matmul = find_matmul(program);
  if (!matmul) return Skip{"no matmul-shaped reduce loop"};
  const ir::Tile& tile = tile_of(program);
  if (!is_blocked(tile, *matmul)) return Skip{"no rows and columns of blocks"};
  const auto grouped = grouped_axis(program, *matmul, target);
  if (!grouped && target.cpu) return Skip{"CPUs run few blocks at a time"};
  if (!grouped || tile.axes[matmul->n - 1].extent == 1) return Skip{"one row or one column of blocks has one order"};
  std::vector<Value> groups =
      group_options(tile.axes[*grouped].extent, streams_columns(program, *matmul, target), target);
  if (groups.size() == 1) return Skip{"no group of 2, 4, 8 or 16 divides the rows of blocks"};
  return Fork{"group", std::move(groups)};
}

ir::Program apply_raster(ir::Program program, const Target& target, const Pins& pins) {
  const Matmul matmul = *find_matmul(program);
  const std::int64_t group = pins.integer("group").value();
  const std::string inner = ir::fresh_axis(program);
  std::vector<ir::Axis>& axes = tile_of(program).axes;
  ir::Axis& rows = axes[*grouped_axis(program, matmul, target)];
  rows.extent /= group;
  const std::string name = rows.name;
  axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(matmul.n), {inner, group, ir::Bind::block});
  ir::substitute_axes(program, {{name, ir::var(name) * group + ir::var(inner)}});
  return program;
}

}  // namespace

extern const Rule raster = {
    .name = "raster",
    .summary = "blocks run in groups of rows, which share operands in cache",
    .knobs = {{"group", KnobType::integer, Value{std::int64_t{1}}}},  // older trails of CPU kernels lack this knob
    .decide = decide_raster,
    .apply = apply_raster,
};

}  // namespace deplo::rules
