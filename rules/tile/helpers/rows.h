// Queries about rows that threads sum: the sweeps of a reduction, and the axes of its rows.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/target.h"
#include "ir/walk.h"

namespace deplo::rules {

/// Returns whether the statement is a reduce loop that starts at 0 and steps by 1.
bool is_sweep(const ir::Stmt&);
/// Returns the number of elements of the tile body's longest sweep; 0 if there is none.
std::int64_t longest_sweep(const ir::Tile&);
/// Returns the number of iterations of the longest sweep, including those of the loops inside it.
std::int64_t longest_sum(const ir::Tile&);
/// Returns whether the last thread axis walks the row after the sweeps. Then no sweep depends on it.
bool has_column_axis(const ir::Tile&);
/// Returns the number of axes that are rows: all axes, or all except the column axis.
std::size_t row_axes(const ir::Tile&);
/// Returns the product of the axes' extents.
std::int64_t output_count(const ir::Tile&);
/// Returns the product of the extents of the axes that are rows.
std::int64_t row_count(const ir::Tile&);
/// Returns the number of rows of a CPU's block, out of `count` rows of `elements` elements each. A block gets up to
/// 8192 elements, which take about 10 µs, but at least `min_rows` rows. It gets fewer rows if a core would get less
/// than two blocks.
std::int64_t cpu_rows_of_block(std::int64_t count, std::int64_t elements, std::int64_t min_rows, const Target&);

}  // namespace deplo::rules
