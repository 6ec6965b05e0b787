// Reads tile programs in NVIDIA's bytecode, versions 13.1 to 13.4 (NVIDIA/cuda-tile: BytecodeReader.cpp,
// BytecodeOpcodes.td).
#pragma once
#include <string_view>

#include "ir/tile_program/program.h"

namespace deplo::ir::tile_program {

/// True if the bytes begin with the magic of bytecode.
bool is_bytecode(std::string_view bytes);
/// Reads a whole file, without verifying the program. Memory use is proportional to the size of the file. Throws Error
/// `WHERE: byte N: expected …`.
Program read_bytecode(std::string_view bytes, std::string_view where);

}  // namespace deplo::ir::tile_program
