// Prints numbers and strings for the text of a program. Private to this folder.
#pragma once
#include <cstdint>
#include <string>

#include "ir/types/float_format.h"

namespace deplo::ir::tile_program::text {

/// Returns "5", "true", "-0.5". A float is printed as the shortest decimal that reads back exactly. A float that is not
/// finite is printed as its bits in hexadecimal, as in MLIR.
std::string print_literal(std::uint64_t bits, DType);

}  // namespace deplo::ir::tile_program::text
