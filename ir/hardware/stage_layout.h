// The layout of a staged slab in shared memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace deplo::ir {

/// The number of elements in a row in memory, without the pad: a row of a panel, or of the slab if there are no panels.
inline std::int64_t row_elements(const Stage& s) { return s.panel > 0 ? s.panel : s.slab.back().extent; }
/// The shape by which a Load in Tile IR indexes the stage's buffer: [slot, slab…], without the slot if there is only
/// one.
std::vector<std::int64_t> logical_shape(const Stage&);
/// The shape of the memory: [slot, panel, slab rows…, column]. The slot is left out if there is only one, and the panel
/// if panels are not set. A row includes its pad. If the Stage stores pairs, a row has the elements of two slab rows,
/// alternating.
std::vector<std::int64_t> physical_shape(const Stage&);
/// The physical index of a logical index. `index` has one entry per dimension of logical_shape().
std::vector<Expr> physical_index(const Stage&, const std::vector<Expr>& index, const Ranges& scope);
/// Elements of the whole buffer, and of one slot.
std::int64_t physical_count(const Stage&);
inline std::int64_t slot_count(const Stage& s) { return physical_count(s) / s.slots; }
/// The slab's axes in the order in which its copies walk the source: the contiguous axis comes last, and axes that the
/// origin names come first.
std::vector<std::size_t> source_order(const Stage&, const Buffer& source);
/// Whether the slab transposes the source (its last but one dimension walks the source's last), in blocks of `size` x
/// `size` f32 that CopyTransposed can copy. Such copies have `size` lanes.
bool has_turned_blocks(const Stage&, const Buffer& source, std::int64_t size);
/// The alignment of the buffer in bytes: 16, or 128 for TMA. With a swizzle it is the period of the pattern, 8 rows of
/// `swizzle` bytes (CUDA C++ Programming Guide, "Tensor Memory Access", swizzle modes).
std::int64_t alignment(const Stage&);

}  // namespace deplo::ir
