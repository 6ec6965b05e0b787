// register_tile: each thread of a matmul computes fm x fn outputs.
//   Tile(…, a2:64=THREAD, …, a4:128=THREAD): … a2 … a4 …
//     →   Tile(…, a2:32=THREAD, …, a4:64=THREAD, a7:2=REG, a8:2=REG): … ((a2 * 2) + a7) … ((a4 * 2) + a8) …
// The body is not copied: materialize replicates statements over the REG axes that they depend on. If fm does not
// divide the rows of a CPU's block, its last thread is shifted inwards: … (min((a2 * 8), 23) + a7) … of 31 rows.
#include <algorithm>

#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/axes.h"
#include "rules/tile/helpers/split_sums.h"

namespace deplo::rules {
namespace {

// A block to be divided into register tiles, and the properties by which the tiles are rated.
struct BlockTile {
  std::int64_t rows, columns;
  std::int64_t line;  // from line_of_rows()
};

// Returns a score, higher for better shapes. CPU: as many sums as the registers hold, with full vectors along n. GPU:
// the articles' default 8 x 4, and deplodock's fastest matmuls (26 x 4, 14 x 2, 10 x 4).
double preference(const BlockTile& block, std::int64_t fm, std::int64_t fn, const Target& target) {
  const std::int64_t rows = ceil_div(block.rows, fm), columns = block.columns / fn;
  const double threads = static_cast<double>(rows * columns);
  const double fma = static_cast<double>(fm * fn);
  if (target.cpu) {
    const bool vectors = fn % target.vector_lanes == 0;
    // A vector of b comes from a panel beyond the level 1 cache, and a scalar of a from within it: 8 x 32 is faster
    // than 4 x 64.
    const double loads =
        static_cast<double>(fm) + 3 * static_cast<double>(fn) / static_cast<double>(target.vector_lanes);
    const double useful = static_cast<double>(block.rows) / static_cast<double>(rows * fm);
    const double per_load = useful * (vectors ? fma / static_cast<double>(target.vector_lanes) / loads : fma / 256);
    return are_in_lines(fm, block.line) ? per_load : per_load / 8;  // otherwise each row divides for each product
  }
  const double slices = block.rows <= sliced_rows ? 2 : 1;  // slice_matmul_k gives a block of few rows more threads
  const double warps_short = std::max(0.0, 1 - threads * slices / 128);
  return fma / static_cast<double>(fm + fn) - 4 * warps_short - (fma > 64 ? 2 : 0) - (fn % 4 != 0 ? 0.5 : 0);
}

std::vector<Value> by_preference(std::vector<std::pair<double, std::int64_t>> scored) {
  std::stable_sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Value> result;
  for (const auto& [score, value] : scored) result.emplace_back(value);
  return result;
}

// Returns the numbers of rows, each rated with its best number of columns.
std::vector<Value> row_options(const BlockTile& block, const Target& target) {
  std::vector<std::pair<double, std::int64_t>> scored;
  for (const auto& [fm, fn] : register_tiles(block.rows, block.columns, target)) {
    const double score = preference(block, fm, fn, target);
    if (scored.empty() || scored.back().second != fm)
      scored.emplace_back(score, fm);
    else
      scored.back().first = std::max(scored.back().first, score);
  }
  return by_preference(std::move(scored));
}

std::vector<Value> column_options(const BlockTile& block, std::int64_t rows, const Target& target) {
  std::vector<std::pair<double, std::int64_t>> scored;
  for (const auto& [fm, fn] : register_tiles(block.rows, block.columns, target))
    if (fm == rows) scored.emplace_back(preference(block, fm, fn, target), fn);
  return by_preference(std::move(scored));
}

Verdict decide_register_tile(const ir::Program& program, const Target& target, const Pins& pins) {
  const auto matmul = find_matmul(program);
  if (!matmul) return Skip{"no matmul-shaped reduce loop: register tiling has nothing to reuse"};
  const ir::Tile& tile = tile_of(program);
  const BlockTile block = {tile.axes[matmul->m].extent, tile.axes[matmul->n].extent, line_of_rows(program, *matmul)};
  const auto fm = pins.integer("fm");
  if (!fm) return Fork{"fm", row_options(block, target)};
  if (!pins.integer("fn")) return Fork{"fn", column_options(block, *fm, target)};
  return Apply{};
}

ir::Program apply_register_tile(ir::Program program, const Target&, const Pins& pins) {
  const auto matmul = find_matmul(program);
  split_into_registers(program, matmul->m, pins.integer("fm").value());
  split_into_registers(program, matmul->n, pins.integer("fn").value());
  return program;
}

}  // namespace

extern const Rule register_tile = {
    .name = "register_tile",
    .summary = "each thread computes fm × fn outputs",
    .knobs = {{"fm", KnobType::integer}, {"fn", KnobType::integer}},
    .decide = decide_register_tile,
    .apply = apply_register_tile,
};

}  // namespace deplo::rules
