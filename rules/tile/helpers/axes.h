// Edits of the axes of a tile: split, renumbered.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "ir/walk.h"

namespace deplo::rules {

/// What was element ((outer * count) + inner) of a block becomes element `to`, by axes that stand in the program or will:
/// also where an index has the two apart, as (outer / 2) and ((outer % 2) * 8) + inner of an output in groups of 16.
void renumber(ir::Program&, const std::string& outer, const std::string& inner, std::int64_t count, const ir::Expr& to);
/// The sum of each axis times its step; "" is no axis.
ir::Expr position(std::initializer_list<std::pair<std::string, std::int64_t>> steps);

/// Splits an axis of `extent` into blocks of `size` with the last one shifted inwards (docs/ir.md, Tails):
/// origin of block `block`.
ir::Expr shifted_origin(const std::string& block, std::int64_t size, std::int64_t extent);
/// After an axis was split so: a `+=` Write adds only what the block before did not cover, under
///   if ((block * size) - (extent - size)) < (inner + 1)
/// Other Writes may come twice, and where `size` divides nothing does.
void guard_overlap(ir::Program&, const std::string& block, const std::string& inner, std::int64_t size,
                   std::int64_t extent);
/// The thread axis at `position` becomes ceil(extent / size) blocks, and `size` threads in an axis right behind it.
void split_into_blocks(ir::Program&, std::size_t position, std::int64_t size);
/// Splits the thread axis at `position`: the thread keeps extent / f, a REG axis at the end takes f.
void split_into_registers(ir::Program&, std::size_t position, std::int64_t f);

}  // namespace deplo::rules
