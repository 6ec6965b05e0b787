// Blocks of matmuls by matrix instructions of warpgroups: how long they take, and which ones are fast.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/target.h"

namespace deplo::rules {

/// The block of a matmul, with rows x columns sums. The blocks of a cluster share K.
struct WarpgroupBlock {
  std::int64_t rows = 64, columns = 64, cluster = 1;
};

/// Returns the cycles until all blocks are done. `grid`: the number of blocks if each block sums all of K. `k`: the
/// matmul's K. The constants are fitted to times of an H200 (experiments/results/warpgroup_blocks_h200.txt).
double warpgroup_cycles(const WarpgroupBlock&, std::int64_t grid, std::int64_t k, const Target&);

/// Returns the numbers of blocks of a cluster that can share `chunks` chunks of K evenly: 1, 2, 4 and 8, up to the
/// target's limit.
std::vector<std::int64_t> even_clusters(std::int64_t chunks, const Target&);

/// Minimum number of chunks for a block of a cluster: fewer chunks are done before the slots of its pipeline are full.
inline constexpr std::int64_t least_chunks = 8;

/// Returns which of the `legal` numbers of blocks in a cluster shares K in the fewest cycles; 1 if nothing is gained.
std::int64_t fastest_cluster(std::int64_t rows, std::int64_t columns, std::int64_t grid, std::int64_t k,
                             std::span<const std::int64_t> legal, const Target&);

/// Returns the block that takes the fewest cycles, of all that were measured or, if `rows` is given, of those with
/// `rows` rows. `batch`: the number of matmuls.
WarpgroupBlock fastest_block(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, const Target&,
                             std::optional<std::int64_t> rows = std::nullopt);

}  // namespace deplo::rules
