// warp_tile: the threads of a warp take a block of a matmul's outputs, `rows` threads high, instead of one row after
// the other.
//   Tile(…, a1:8=THREAD, …, a3:16=THREAD, a4:8=REG, …): … a_smem[((a1 * 8) + a4), a8] … b_smem[a8, ((a3 * 4) + a6)] …
//     →   rows=4 interleave=2 strip=1: Tile(…, a2:2=THREAD, a3:2=THREAD, a4:2=THREAD, a5:8=THREAD, a6:2=THREAD,
//     a7:8=REG, …)
//           … a_smem[((((a2 * 32) + (a7 * 4)) + (a4 * 2)) + a6), a8] … b_smem[a8, (((a3 * 32) + (a5 * 4)) + a9)] …
// The axes are the rows and columns of warps, then within a warp rows, columns, and `interleave` neighbouring rows
// (CUTLASS calls the last two the interleaved lane layout of its SIMT policies). Pairs of neighbouring lanes then read
// the same elements of an operand, which shared memory serves at twice the rate (rules/cost/banks.h). `strip`: how many
// rows of a thread lie together. With 1, neighbouring threads own neighbouring rows, which lie in different banks.
#include <algorithm>
#include <compare>
#include <functional>
#include <span>

#include "ir/hardware/gpu.h"
#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/tile.h"
#include "rules/cost/banks.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/axes.h"
#include "rules/tile/helpers/options.h"
#include "rules/tile/helpers/split_sums.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

// How the outputs of a block are distributed over threads. The extents of m and n are numbers of threads.
struct Threads {
  ir::Axis m, n;
  std::string row;                    // the REG axis of a thread's rows; "" if it has one row
  std::int64_t fm = 1;                // rows of a thread
  std::int64_t fn = 1;                // columns of a thread
  std::int64_t warp = ir::gpu::warp;  // threads in a warp
};

struct WarpTile {
  std::int64_t rows = 0;  // 0: the threads are ordered row by row
  std::int64_t interleave = 1, strip = 1;
};

Threads threads_of(const ir::Tile& tile, const Matmul& matmul, const Target& target) {
  Threads threads = {tile.axes[matmul.m], tile.axes[matmul.n], "", 1, 1, target.warp};
  for (const ir::Axis& axis : tile.axes) {
    if (axis.bind != ir::Bind::reg || !threads.row.empty()) continue;
    if (walk_together(tile, threads.m.name, axis.name)) threads.row = axis.name, threads.fm = axis.extent;
  }
  threads.fn = thread_values(tile) / threads.fm;
  return threads;
}

// Returns whether the warp tile is the row-by-row order under another name.
bool changes_nothing(const Threads& threads, const WarpTile& tile) {
  return tile.rows * threads.n.extent == threads.warp && tile.interleave == 1 && tile.strip == threads.fm;
}

std::vector<WarpTile> tiles_of(const Threads& threads) {
  std::vector<WarpTile> result;
  for (const std::int64_t rows : {4, 2, 8, 16}) {
    if (threads.m.extent % rows != 0 || threads.n.extent % (threads.warp / rows) != 0) continue;
    for (const std::int64_t interleave : {2, 1})
      for (const std::int64_t strip : threads.fm > 1 ? std::vector<std::int64_t>{1, threads.fm} : std::vector{1L})
        if (const WarpTile tile = {rows, interleave, strip}; !changes_nothing(threads, tile)) result.push_back(tile);
  }
  return result;
}

// The costs are compared in the order of the members.
struct Cost {
  double wavefronts = 0;
  int patterns = 0;        // buffers that need a pad or a swizzle pattern: more memory, or arithmetic on addresses
  std::int64_t words = 0;  // words that a warp loads in a step
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes its 0 for a pointer
  auto operator<=>(const Cost&) const = default;
};

// The accesses of a warp to the staged buffers, and their cost in each warp tile.
class Accesses {
 public:
  Accesses(const ir::Program& program, const Threads& threads) : threads_(threads) {
    for (WarpAccess& access : warp_accesses(program, Unrolled::all)) {
      // The first samples, which are iterations of the reduce loop, suffice to compare the costs.
      constexpr std::size_t max_samples = 8;
      if (access.samples.size() > max_samples) access.samples.resize(max_samples);
      accesses_.push_back(std::move(access));
    }
  }

  // Returns the cost for a warp in one run of the block: with the best of TMA's patterns or, without TMA, the better of
  // no pad and a pad that keeps rows aligned.
  Cost cost(const WarpTile& tile) const {
    constexpr std::int64_t aligned_pad = 4;
    const std::vector<WarpAccess> accesses = in_tile(tile);
    Cost sum;
    std::vector<std::string> seen;
    for (const WarpAccess& access : accesses) {
      const std::string& buffer = access.stage->buffer;
      if (std::find(seen.begin(), seen.end(), buffer) != seen.end()) continue;
      seen.push_back(buffer);
      std::vector<ir::Stage> layouts = {*access.stage, *access.stage};
      layouts.back().pad = aligned_pad;
      if (access.stage->transport == ir::Transport::tma) layouts = tma_layouts(*access.stage);
      const double plain = buffer_cost(accesses, layouts.front()).wavefronts;
      double best = plain;
      for (const ir::Stage& layout : std::span(layouts).subspan(1))
        best = std::min(best, buffer_cost(accesses, layout).wavefronts);
      sum.wavefronts += best;
      sum.patterns += best < plain ? 1 : 0;
    }
    return sum;
  }

 private:
  std::vector<WarpAccess> in_tile(const WarpTile& tile) const {
    std::vector<WarpAccess> result = accesses_;
    for (WarpAccess& access : result)
      if (tile.rows > 0 && access.load != nullptr) lie_in(tile, access);
    return result;
  }

  // Sets the lanes' positions for the warp tile. An index that is not linear in the axes stays as it is.
  void lie_in(const WarpTile& tile, WarpAccess& access) const {
    const std::size_t slot = access.stage->slots > 1 ? 1 : 0;
    const std::int64_t columns = threads_.warp / tile.rows;
    for (std::size_t d = 0; d < access.stage->slab.size(); ++d) {
      const ir::Expr& index = access.load->index[d + slot];
      const auto m = ir::coefficient(index, threads_.m.name), n = ir::coefficient(index, threads_.n.name);
      if (!m || !n) continue;
      for (auto& sample : access.samples)
        for (std::int64_t t = 0; t < threads_.warp; ++t) {
          const std::int64_t row = t / (columns * tile.interleave) * tile.interleave + t % tile.interleave;
          const std::int64_t column = t / tile.interleave % columns;
          sample[d][static_cast<std::size_t>(t)] = sample[d][0] + *m / threads_.fm * tile.strip * row + *n * column;
        }
    }
    const bool along_rows = !threads_.row.empty() && ir::depends_on(access.load->index.back(), threads_.row);
    if (along_rows && tile.strip == 1) access.run = 1;
  }

  const Threads& threads_;
  std::vector<WarpAccess> accesses_;
};

// Returns the knob's values in the warp tiles, the cheapest first.
std::vector<Value> by_cost(const std::vector<WarpTile>& tiles, std::int64_t WarpTile::*knob, const Threads& threads,
                           const ir::Program& program) {
  const auto has_first = [&](const WarpTile& tile) { return tile.*knob == tiles.front().*knob; };
  if (!tiles.empty() && std::ranges::all_of(tiles, has_first)) return {Value(tiles.front().*knob)};
  const Accesses accesses(program, threads);
  std::vector<std::pair<Cost, std::int64_t>> scored;
  for (const WarpTile& tile : tiles) {
    Cost cost = accesses.cost(tile);
    if (tile.rows > 0) cost.words = tile.rows * threads.fm + threads.warp / tile.rows * threads.fn;
    scored.emplace_back(cost, tile.*knob);
  }
  std::ranges::stable_sort(scored, std::less(), &std::pair<Cost, std::int64_t>::first);
  std::vector<Value> result;
  for (const auto& [cost, value] : scored) add_option(result, value);
  return result;
}

Verdict decide_warp_tile(const ir::Program& program, const Target& target, const Pins& pins) {
  if (target.warp == 1) return Skip{"no warps"};
  const auto matmul = find_matmul(program);
  if (!matmul) return Skip{"no matmul-shaped reduce loop"};
  const auto rows = pins.integer("rows"), interleave = pins.integer("interleave");
  if (rows == 0) return Skip{"rows=0: the threads of a warp lie row by row"};
  const Threads threads = threads_of(tile_of(program), *matmul, target);
  std::vector<WarpTile> tiles = tiles_of(threads);
  if (tiles.empty()) return Skip{"the threads of a block cannot form warps of another shape"};
  std::erase_if(tiles, [&](const WarpTile& tile) {
    return (rows && tile.rows != *rows) || (interleave && tile.interleave != *interleave);
  });
  if (!rows) tiles.insert(tiles.begin(), WarpTile{});
  const auto fork = [&](const char* knob, std::int64_t WarpTile::*value) {
    return Fork{knob, by_cost(tiles, value, threads, program)};
  };
  if (!rows) return fork("rows", &WarpTile::rows);
  if (!interleave) return fork("interleave", &WarpTile::interleave);
  if (!pins.integer("strip") && threads.fm > 1) return fork("strip", &WarpTile::strip);
  return Apply{};
}

// The thread axes of a warp tile, and the rows and columns of a block's threads as expressions of these axes.
struct Shaped {
  std::vector<ir::Axis> axes;
  ir::Expr warp_row, row_in_warp, column;
};

Shaped shape(const ir::Program& program, const Threads& threads, const WarpTile& tile) {
  const std::int64_t columns = threads.warp / tile.rows;
  const std::int64_t extents[] = {threads.m.extent / tile.rows, threads.n.extent / columns, tile.rows / tile.interleave,
                                  columns, tile.interleave};
  Shaped result;
  std::vector<ir::Expr> at;
  ir::Program named = program;
  for (const std::int64_t extent : extents) {
    at.emplace_back(0);
    if (extent == 1) continue;
    result.axes.push_back({ir::fresh_axis(named), extent, ir::Bind::thread});
    tile_of(named).axes.push_back(result.axes.back());
    at.back() = ir::var(result.axes.back().name);
  }
  result.warp_row = at[0];
  result.row_in_warp = at[2] * tile.interleave + at[4];
  result.column = at[1] * columns + at[3];
  return result;
}

// Replaces row ((m * fm) + r) of a block by (((warp * fm) + r) * rows) + the thread's row in the warp.
void deal_rows(ir::Program& program, const Threads& threads, const WarpTile& tile, const Shaped& to) {
  const ir::Expr row = (to.warp_row * threads.fm + ir::var(threads.row)) * tile.rows + to.row_in_warp;
  std::vector<ir::Expr> stay;
  for (const ir::Expr* receiver : receivers(tile_of(program))) stay.push_back(*receiver);
  renumber(program, threads.m.name, threads.row, threads.fm, row);
  for (std::size_t i = 0; ir::Expr * receiver : receivers(tile_of(program))) *receiver = stay[i++];
}

ir::Program apply_warp_tile(ir::Program program, const Target& target, const Pins& pins) {
  const Matmul matmul = *find_matmul(program);
  const Threads threads = threads_of(tile_of(program), matmul, target);
  const WarpTile tile = {pins.integer("rows").value(), pins.integer("interleave").value(),
                         pins.integer("strip").value_or(1)};
  const Shaped to = shape(program, threads, tile);
  std::vector<ir::Axis>& axes = tile_of(program).axes;
  axes.insert(axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(matmul.n)), to.axes.begin(), to.axes.end());
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(matmul.m));
  if (threads.fm > 1 && tile.strip == 1) deal_rows(program, threads, tile, to);
  ir::substitute_axes(program,
                      {{threads.m.name, to.warp_row * tile.rows + to.row_in_warp}, {threads.n.name, to.column}});
  return program;
}

}  // namespace

extern const Rule warp_tile = {
    .name = "warp_tile",
    .summary = "the threads of a warp take a block of outputs, not a row",
    .knobs = {{"rows", KnobType::integer, 0}, {"interleave", KnobType::integer}, {"strip", KnobType::integer}},
    .decide = decide_warp_tile,
    .apply = apply_warp_tile,
};

}  // namespace deplo::rules
