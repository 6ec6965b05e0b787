// Which chunks of keys a block visits. A mask by positions hides the other chunks from all rows of the block.
#pragma once
#include <cstdint>
#include <optional>

#include "ir/program.h"

namespace deplo::rules {

/// The chunks of `keys` keys that some row of the block sees: chunks before `end` for which `condition` holds. Both are
/// expressions of the loop's axis, which counts chunks, and of block axes.
struct VisitedChunks {
  std::optional<ir::Expr> end;
  ir::Expr condition = 1;
};
/// The axes of the tile must be dealt out already. Of a chunk that is shifted inwards only the new keys count: those
/// from the origin that it would have without the shift.
VisitedChunks visited_chunks(const ir::Tile&, const ir::Loop& sweep, const ir::SoftmaxSum&, std::int64_t keys);

}  // namespace deplo::rules
