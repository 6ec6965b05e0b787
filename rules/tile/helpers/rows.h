// Rows that threads sum: the sweeps of a reduction, and the axes of its rows.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/target.h"
#include "ir/walk.h"

namespace deplo::rules {

/// A whole loop of a sum, along one element after the other.
bool is_sweep(const ir::Stmt&);
/// The elements of the tile body's longest sweep; 0: it has none.
std::int64_t longest_sweep(const ir::Tile&);
/// The turns of the longest sweep, those of loops within it included.
std::int64_t longest_sum(const ir::Tile&);
/// Does the last thread axis walk the row after the sweeps? Then no sweep depends on it.
bool has_column_axis(const ir::Tile&);
/// The number of axes that are rows: all, or all but the column axis.
std::size_t row_axes(const ir::Tile&);
/// The product of the axes' extents.
std::int64_t output_count(const ir::Tile&);
/// The rows of a CPU's block, of `count` in all: so many of `elements` each that a block has 8192 elements, which take
/// about 10 µs, but at least `least`. Fewer if a core would get less than two blocks.
std::int64_t cpu_rows_of_block(std::int64_t count, std::int64_t elements, std::int64_t least, const Target&);

}  // namespace deplo::rules
