// Integers of any width in those that C has. Private to the room.
#pragma once
#include <string>

namespace deplo::ir::tile_program::blocks {

/// An expression's lowest bits, as a value of that width.
std::string wrapped(const std::string& value, int width);
/// A value as a number of at least 32 bits, with the sign that it has or without.
std::string extended(const std::string& value, int width, bool with_sign);

}  // namespace deplo::ir::tile_program::blocks
