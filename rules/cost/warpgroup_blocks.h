// Blocks of matmuls by matrix instructions of warpgroups: how long they take, and which are fast.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/target.h"

namespace deplo::rules {

/// A block has rows x columns sums. The blocks of a cluster share K.
struct WarpgroupBlock {
  std::int64_t rows = 64, columns = 64, cluster = 1;
};

/// Cycles until all blocks are done. `grid`: the number of blocks if each has all of K. `k`: of the matmul. The
/// constants are fitted to times of an H200 (experiments/results/warpgroup_blocks_h200.txt).
double warpgroup_cycles(const WarpgroupBlock&, std::int64_t grid, std::int64_t k, const Target&);

/// How many blocks of a cluster may share so many chunks of K evenly: 1, 2, 4 and 8, as far as the target has them.
std::vector<std::int64_t> even_clusters(std::int64_t chunks, const Target&);

/// Of a block of a cluster: fewer chunks are over before the slots of its pipeline are full.
inline constexpr std::int64_t least_chunks = 8;

/// How many of `legal` blocks of a cluster share K so that it takes the fewest cycles; 1 if nothing is gained.
std::int64_t fastest_cluster(std::int64_t rows, std::int64_t columns, std::int64_t grid, std::int64_t k,
                             std::span<const std::int64_t> legal, const Target&);

/// The block that takes the fewest cycles, of all that were measured; of those with so many rows if `rows` is given.
/// `batch`: the number of matmuls.
WarpgroupBlock fastest_block(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, const Target&,
                             std::optional<std::int64_t> rows = std::nullopt);

}  // namespace deplo::rules
