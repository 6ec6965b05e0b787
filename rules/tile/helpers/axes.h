// Edits of a tile's axes: splitting, joining and renumbering.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "ir/walk.h"

namespace deplo::rules {

/// Replaces element ((outer * count) + inner) of a block by element `to`, an expression of axes that the program has or
/// will have. An index may also hold the two axes separately, such as (outer / 2) and ((outer % 2) * 8) + inner of an
/// output in groups of 16.
void renumber(ir::Program&, const std::string& outer, const std::string& inner, std::int64_t count, const ir::Expr& to);
/// Returns the sum of each axis times its step. An axis "" is left out.
ir::Expr position(std::initializer_list<std::pair<std::string, std::int64_t>> steps);

/// Returns the origin of block (or thread) `block` of an axis of `extent` that is split into parts of `size`. The last
/// part is shifted inwards (docs/ir.md, Tails).
ir::Expr shifted_origin(const std::string& block, std::int64_t size, std::int64_t extent);
/// For an axis that was split with shifted_origin(): lets a `+=` Write add only elements that the previous block did
/// not cover, under
///   if ((block * size) - (extent - size)) < (inner + 1)
/// Other Writes may write an element twice. Does nothing if `size` divides `extent`, because then no blocks overlap.
void guard_overlap(ir::Program&, const std::string& block, const std::string& inner, std::int64_t size,
                   std::int64_t extent);
/// Joins the tile's axes [begin, end) into one, with the bind of the last of them.
void join(ir::Program&, std::size_t begin, std::size_t end);
/// Splits the thread axis at `position` into a block axis of ceil(extent / size) and, right after it, a thread axis of
/// `size`.
void split_into_blocks(ir::Program&, std::size_t position, std::int64_t size);
/// Splits the thread axis at `position`: it keeps ceil(extent / f) threads, and a new REG axis of extent f becomes the
/// last axis. If f does not divide the extent, the last thread is shifted inwards.
void split_into_registers(ir::Program&, std::size_t position, std::int64_t f);

}  // namespace deplo::rules
