// The sum of a matmul is split over the threads or blocks along a new axis, which merge what they have behind its loop.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "rules/analysis/matmul.h"

namespace deplo::rules {

/// Blocks of so many rows and fewer are sliced (slice_matmul_k): they have too few outputs for enough threads with large
/// register tiles.
inline constexpr std::int64_t sliced_rows = 32;

/// Sums of f32 that a matmul makes, and that are used behind its loop only, by statements that may be one thread's.
struct SplitSums {
  std::size_t at = 0;  // position in the tile's body of the statement that holds the loop
  std::vector<std::string> accumulators;
};
inline constexpr const char* not_split_sums =
    "the kernel does more than the matmul's loop and what one thread does with a sum";
std::optional<SplitSums> find_split_sums(const ir::Program&, const Matmul&);

/// Has a block room for the sums of all its threads, `copies` times, beside what it has in shared memory already?
bool has_room(const ir::Program&, const SplitSums&, std::int64_t copies, const Target&);

/// Along `split`, an axis of the tile, every thread or block has a part of the sums now: one of them gets all, the
/// rows of a thread's register tile dealt out to them, and does the rest.
///   for … acc0 <- …            for … acc0 <- …
///   y[…] = acc0          →     Combine(acc0, op=add, over=(a0), to=(a5 / 2))
///                              if (a0 == (a5 / 2)):
///                                y[…] = acc0
/// Threads merge before blocks do.
void merge_sums(ir::Program&, const SplitSums&, const ir::Axis& split);

/// What says in such a tile who gets a sum: it speaks of registers, also where they get other rows.
std::vector<ir::Expr*> receivers(ir::Tile&);

}  // namespace deplo::rules
