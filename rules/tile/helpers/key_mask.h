// Which chunks of keys a block visits: a mask by positions hides others from all of its rows.
#pragma once
#include <cstdint>
#include <optional>

#include "ir/program.h"

namespace deplo::rules {

/// The chunks of `keys` keys that some row of the block sees, of the loop over all of them: those before `end` for which
/// the condition holds, both by the loop's axis, which counts chunks, and axes of blocks.
struct VisitedChunks {
  std::optional<ir::Expr> end;
  ir::Expr condition = 1;
};
/// The axes of the tile are dealt out already. A chunk that is shifted inwards has new keys from where it would begin.
VisitedChunks visited_chunks(const ir::Tile&, const ir::Loop& sweep, const ir::SoftmaxSum&, std::int64_t keys);

}  // namespace deplo::rules
