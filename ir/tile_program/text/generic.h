// Attributes in MLIR's generic form of operations: `rounding_mode = #cuda_tile.rounding<zero>`, `dim = 0 : i32`.
// Private to this folder.
#pragma once
#include <functional>

#include "ir/tile_program/text/read_type.h"

namespace deplo::ir::tile_program::text {

/// Reads `{NAME = VALUE, …}`. `read` reads the value of a name and returns true, or returns false to skip the value. A
/// name without a value is a flag: `read` then finds `,` or `}`.
void read_dictionary(Lexer&, const std::function<bool(const Token& name)>& read);

/// Reads the value of an attribute of that form. Dense attributes need read_generic_dense instead.
Attribute read_generic_attribute(Lexer&, const AttributeForm&);
/// Reads `dense<[1.0, 2.0]> : !cuda_tile.tile<2xf32>`.
DenseText read_generic_dense(Lexer&);
/// Reads `array<i32: 1, 0, 2>`.
std::vector<std::int64_t> read_array(Lexer&);

}  // namespace deplo::ir::tile_program::text
