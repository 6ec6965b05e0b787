// join_axes: joins the last thread axes of a GPU's kernel if a block along the last axis alone would be small.
//   Tile(axes=(a0:512=THREAD, a1:28=THREAD, a2:28=THREAD)):   →   Tile(axes=(a0:512=THREAD, a1:784=THREAD)):
//     … y[a0, a1, a2] = …                                             … y[a0, (a1 / 28), (a1 % 28)] = …
// In a reduction, the joined axes are those of its rows, if one thread sums a row. (If many threads share a row, a
// block needs only one row.)
#include "rules/analysis/matmul.h"
#include "rules/analysis/tile.h"
#include "rules/rule.h"
#include "rules/tile/helpers/axes.h"
#include "rules/tile/helpers/options.h"
#include "rules/tile/helpers/rows.h"

namespace deplo::rules {
namespace {

// A block with half of blockify_launch's 256 threads fills a GPU's unit just as well.
constexpr std::int64_t enough_threads = 128, wanted_threads = 256;

// Returns the smallest number of axes that together have the wanted number of threads.
std::int64_t wanted_axes(const ir::Tile& tile, std::size_t rows) {
  std::int64_t threads = tile.axes[rows - 1].extent;
  std::size_t first = rows - 1;
  while (first > 0 && threads < wanted_threads) threads *= tile.axes[--first].extent;
  return static_cast<std::int64_t>(rows - first);
}

Verdict decide_join_axes(const ir::Program& program, const Target& target, const Pins& pins) {
  if (target.cpu) return Skip{"a CPU's threads would need a division for each element"};
  if (find_matmul(program)) return Skip{"a matmul has rows and columns"};
  const ir::Tile& tile = tile_of(program);
  if (has_online_softmax(tile.body)) return Skip{"the reduce is an online softmax"};
  const std::int64_t sum = longest_sum(tile);
  if (sum >= target.warp) return Skip{"a warp or more shares each row"};
  if (sum == 0 && has_reduce(tile.body)) return Skip{"the reduction is inside other loops"};
  const std::size_t rows = row_axes(tile);
  if (rows < 2) return Skip{"there is only one axis of threads"};
  if (tile.axes[rows - 1].extent >= enough_threads) return Skip{"the last axis fills a block"};
  if (pins.integer("count")) return Apply{};
  std::vector<Value> counts = options({wanted_axes(tile, rows)}, 1, static_cast<std::int64_t>(rows));
  for (std::size_t count = 1; count <= rows; ++count) add_option(counts, static_cast<std::int64_t>(count));
  return Fork{"count", std::move(counts)};
}

ir::Program apply_join_axes(ir::Program program, const Target&, const Pins& pins) {
  const auto count = static_cast<std::size_t>(pins.integer("count").value());
  const std::size_t rows = row_axes(tile_of(program));
  join(program, rows - count, rows);
  return program;
}

}  // namespace

extern const Rule join_axes = {
    .name = "join_axes",
    .summary = "small axes of threads become one",
    .knobs = {{"count", KnobType::integer, Value{std::int64_t{1}}}},
    .decide = decide_join_axes,
    .apply = apply_join_axes,
};

}  // namespace deplo::rules
