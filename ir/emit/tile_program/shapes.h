// Places of elements, as expressions of their row-major number. Private to the room.
#pragma once
#include <string>

#include "ir/tile_program/type.h"

namespace deplo::ir::tile_program::blocks {

/// Elements from one element to the next along each dimension.
Extents row_major(const Extents& shape);
/// Where element i of a tile lies along dimension d.
std::string coordinate(const std::string& i, const Extents& shape, std::size_t d);
/// The number of element i in a tile whose dimensions have these strides.
std::string in_strides(const std::string& i, const Extents& shape, const Extents& strides);

}  // namespace deplo::ir::tile_program::blocks
