// Positions of elements, as expressions of their row-major index. Private to the room.
#pragma once
#include "ir/expr.h"
#include "ir/tile_program/type.h"

namespace deplo::rules::blocks {

/// The coordinate of element i of a tile along dimension d.
ir::Expr coordinate(const ir::Expr& i, const ir::tile_program::Extents& shape, std::size_t d);
/// The offset of element i in memory that has these strides.
ir::Expr in_strides(const ir::Expr& i, const ir::tile_program::Extents& shape,
                    const ir::tile_program::Extents& strides);

}  // namespace deplo::rules::blocks
