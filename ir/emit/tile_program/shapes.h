// Positions of elements, as expressions of their row-major number. Private to the room.
#pragma once
#include <string>

#include "ir/tile_program/type.h"

namespace deplo::ir::tile_program::blocks {

/// The row-major stride of each dimension.
Extents row_major(const Extents& shape);
/// The coordinate of element i of a tile along dimension d.
std::string coordinate(const std::string& i, const Extents& shape, std::size_t d);
/// The offset of element i in memory whose dimensions have these strides.
std::string in_strides(const std::string& i, const Extents& shape, const Extents& strides);

}  // namespace deplo::ir::tile_program::blocks
