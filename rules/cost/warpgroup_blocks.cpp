#include "rules/cost/warpgroup_blocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "rules/analysis/tile.h"

namespace deplo::rules {
namespace {

constexpr std::int64_t chunk = 64;  // iterations of K in a slab: 128 bytes, TMA's widest pattern

// Returns a unit's cycles for one slab of each operand: those of the tensor cores, of the copies from the L2 cache, or
// of the thread that starts the copies, whichever takes longest.
double slab_cycles(const WarpgroupBlock& block) {
  constexpr double products = 2048;             // multiply-adds of 16 bits per cycle and unit, dense
  constexpr double wide = 1.15, narrow = 1.25;  // measured factors over that; narrow blocks read more per product
  constexpr double bytes_per_cycle = 68;        // from the L2 cache, measured
  constexpr double box = 164;                   // cycles between two copies that a thread starts, measured
  const auto rows = static_cast<double>(block.rows), columns = static_cast<double>(block.columns);
  const double over = block.columns >= 192 || block.rows >= 256 ? wide : narrow;
  const auto boxes = static_cast<double>(1 + ceil_div(block.columns, chunk));
  return std::max(
      {over * rows * columns * double{chunk} / products, (rows + columns) * chunk * 2 / bytes_per_cycle, box * boxes});
}

// Returns whether the cluster was measured, and was fast.
bool is_known(const WarpgroupBlock& block, std::int64_t grid, std::int64_t k, const Target& target) {
  const bool is_small = block.rows <= 128 && block.columns <= 128;
  return is_small && (block.cluster == 2 || (block.cluster == 4 && block.rows == 128 && block.columns == 128)) &&
         grid * block.cluster <= target.units && ceil_div(k, chunk) / block.cluster >= least_chunks;
}

}  // namespace

double warpgroup_cycles(const WarpgroupBlock& block, std::int64_t grid, std::int64_t k, const Target& target) {
  constexpr double ends = 4000;  // cycles for the first slab's latency and the stores of the sums
  // Cycles of a cluster: a fixed cost, and a cost per sum that a block receives from another one.
  constexpr double meeting = 2000, exchange = 0.11;
  const double chunks = static_cast<double>(ceil_div(k, chunk)) / static_cast<double>(block.cluster);
  // Number of waves. With more, blocks end at different times, so the number is not rounded up.
  constexpr double many_waves = 8;
  const double waves = static_cast<double>(grid * block.cluster) / static_cast<double>(target.units);
  const auto sums = static_cast<double>(block.rows * block.columns * block.cluster);
  return (waves < many_waves ? std::ceil(waves) : waves) * (chunks * slab_cycles(block) + ends) +
         (block.cluster == 1 ? 0 : meeting + exchange * sums);
}

std::vector<std::int64_t> even_clusters(std::int64_t chunks, const Target& target) {
  std::vector<std::int64_t> sizes = {1};
  for (std::int64_t blocks = 2; blocks <= target.cluster && chunks % blocks == 0; blocks *= 2) sizes.push_back(blocks);
  return sizes;
}

std::int64_t fastest_cluster(std::int64_t rows, std::int64_t columns, std::int64_t grid, std::int64_t k,
                             std::span<const std::int64_t> legal, const Target& target) {
  WarpgroupBlock best = {rows, columns, 1};
  for (const std::int64_t blocks : legal) {
    const WarpgroupBlock next = {rows, columns, blocks};
    if (is_known(next, grid, k, target) &&
        warpgroup_cycles(next, grid, k, target) < warpgroup_cycles(best, grid, k, target))
      best = next;
  }
  return best.cluster;
}

WarpgroupBlock fastest_block(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, const Target& target,
                             std::optional<std::int64_t> rows) {
  constexpr std::array<WarpgroupBlock, 7> measured = {
      {{128, 256}, {256, 128}, {128, 192}, {128, 128}, {128, 64}, {64, 128}, {64, 64}}};
  const std::vector<std::int64_t> clusters = even_clusters(ceil_div(k, chunk), target);
  WarpgroupBlock best = {rows.value_or(64), 128};
  double fewest = std::numeric_limits<double>::infinity();
  for (WarpgroupBlock block : measured) {
    if (rows ? block.rows != *rows : block.rows > std::max<std::int64_t>(m, 64)) continue;
    const std::int64_t grid = batch * ceil_div(m, block.rows) * ceil_div(n, block.columns);
    block.cluster = fastest_cluster(block.rows, block.columns, grid, k, clusters, target);
    const double cycles = warpgroup_cycles(block, grid, k, target);
    if (cycles < fewest) best = block, fewest = cycles;
  }
  return best;
}

}  // namespace deplo::rules
