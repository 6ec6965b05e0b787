// Finds the chunks of keys that a block visits. A mask by positions hides the other chunks from all rows of the block.
#pragma once
#include <cstdint>
#include <optional>

#include "ir/program.h"

namespace deplo::rules {

/// The chunks of `keys` keys that some row of the block sees: chunks before `end` for which `condition` holds. Both are
/// expressions of the loop's axis, which counts chunks, and of block axes. No `end`: up to the last chunk.
struct VisitedChunks {
  std::optional<ir::Expr> end;
  ir::Expr condition = 1;
};
/// The axes of the tile must be distributed already. If a chunk is shifted inwards, only its new keys count: those from
/// the origin that the chunk would have without the shift.
VisitedChunks visited_chunks(const ir::Tile&, const ir::Loop& sweep, const ir::SoftmaxSum&, std::int64_t keys);

}  // namespace deplo::rules
