// Splits the sums of a matmul over the threads or blocks along a new axis. They merge their partial sums after the
// loop.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "rules/analysis/matmul.h"

namespace deplo::rules {

/// Blocks of at most this many rows are sliced (slice_matmul_k): such blocks have too few outputs for enough threads
/// with large register tiles.
inline constexpr std::int64_t sliced_rows = 32;

/// The f32 sums of a loop of products. They are used only after the loop, by statements that a single thread may
/// execute.
struct SplitSums {
  std::size_t at = 0;  // position, in the tile's body, of the statement that holds the loop
  std::vector<std::string> accumulators;
};
inline constexpr const char* not_split_sums =
    "the kernel computes more than the matmul's loop and an epilogue for each sum";
std::optional<SplitSums> find_split_sums(const ir::Program&, const ir::Loop& products);

/// Returns whether shared memory has room for `copies` times the sums of all threads of a block, in addition to what is
/// there already.
bool has_room(const ir::Program&, const SplitSums&, std::int64_t copies, const Target&);

/// Merges the partial sums that the threads or blocks along `split`, an axis of the tile, hold. One of them receives
/// all parts of a sum and executes the rest of the body for it. The rows of a thread's register tile are distributed
/// over the receivers.
///   for … acc0 <- …            for … acc0 <- …
///   y[…] = acc0          →     Combine(acc0, op=add, over=(a0), to=(a5 / 2))
///                              if (a0 == (a5 / 2)):
///                                y[…] = acc0
/// Threads merge before blocks do.
void merge_sums(ir::Program&, const SplitSums&, const ir::Axis& split);

/// Returns the expressions in such a tile that select the receiver of a sum. They contain register numbers, so a rule
/// that assigns other rows to the registers must leave them unchanged.
std::vector<ir::Expr*> receivers(ir::Tile&);

}  // namespace deplo::rules
