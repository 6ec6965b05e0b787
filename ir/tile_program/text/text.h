// Tile programs as text (Tile IR specification, "Syntax"; the assembly formats of NVIDIA/cuda-tile's Ops.td).
#pragma once
#include <string>
#include <string_view>

#include "ir/tile_program/program.h"

namespace deplo::ir::tile_program {

/// Reads a module, or entries without a module. The prefix `cuda_tile.` of operations and types is optional. The
/// program is not verified. Throws Error `WHERE:LINE:COLUMN: expected …, found …`.
Program parse_program(std::string_view text, std::string_view where);
/// Prints a program so that parse_program(print(p)) equals p, except for its locations.
std::string print(const Program&);
std::string print(const Hints&);  // for example "<sm_100 = {latency = 4}>"

}  // namespace deplo::ir::tile_program
