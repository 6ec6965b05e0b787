// Where the elements of a staged slab lie in shared memory.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace deplo::ir {

/// What a Load in Tile IR indexes the stage's buffer by: [slot, slab…], without the slot where there is only one.
std::vector<std::int64_t> logical_shape(const Stage&);
/// The shape of the memory: [slot, panel, slab rows…, column], a row with its pad; slot and panel only where there are
/// several slots and where panels are set. In pairs a row has the elements of two, one of each in turn.
std::vector<std::int64_t> physical_shape(const Stage&);
/// The place in the memory of a logical index. `index` has one entry per dimension of logical_shape().
std::vector<Expr> physical_index(const Stage&, const std::vector<Expr>& index, const Ranges& scope);
/// Elements of the whole buffer, and of one slot.
std::int64_t physical_count(const Stage&);
inline std::int64_t slot_count(const Stage& s) { return physical_count(s) / s.slots; }
/// Do the slab's last two dimensions have those of the source's rows in the other order, in blocks that are turned as one
/// (CopyTransposed)? Such copies are of 16 lanes.
bool has_turned_blocks(const Stage&, const Buffer& source);
/// Bytes that the buffer must be aligned to: 16, for TMA 128, with a swizzle what its pattern repeats after (CUDA C++
/// Programming Guide, "Tensor Memory Access", swizzle modes): 8 rows of the span.
std::int64_t alignment(const Stage&);

}  // namespace deplo::ir
