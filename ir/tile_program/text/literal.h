// Numbers and strings in the text of a program. Private to the room.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/hardware/float_format.h"

namespace deplo::ir::tile_program::text {

/// "5", "true", "-0.5"; of a float the shortest decimal that reads back exactly, of one that is not finite its bits in
/// hexadecimal, as MLIR has them.
std::string print_literal(std::uint64_t bits, DType);
/// In quotes, with `\0A` for a byte that is no printable character.
std::string quoted(std::string_view);

}  // namespace deplo::ir::tile_program::text
