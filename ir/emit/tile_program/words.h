// The C that both dialects are written in: types and functions that OpenCL C and CUDA C++ define differently, under one
// name each. Private to the room.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/target.h"
#include "ir/hardware/float_format.h"

namespace deplo::ir::tile_program::blocks {

/// What the dialects spell differently in the kernel itself.
struct Words {
  std::string_view kernel;          // {}: threads of a block
  std::string_view shared_memory;   // {}: bytes
  std::string_view global, shared;  // address spaces, with a blank behind
  std::string_view function, table;
  std::string_view thread, block, barrier;
  std::string_view long_format;  // of printf: "l"
};
const Words& words(Dialect);

/// Types and functions of the common vocabulary, as far as the source uses them.
std::string vocabulary(std::string_view source, Dialect);

/// Of a value that a thread has: floats but f64 are f32 that the type holds, integers have no sign, pointers are u64.
std::string value_type(DType, bool pointer = false);
/// Of an element in memory: 16-bit and smaller floats are bits.
std::string memory_type(DType, bool pointer = false);
/// Bytes of that.
std::int64_t memory_bytes(DType, bool pointer = false);
/// "u32" of the unsigned integer that holds so many bits; "i32" of the one with a sign.
std::string integer_type(int width, bool with_sign);

/// A value's bits as an integer, and back; `bits` is of integer_type(width, false).
std::string bits_of(const std::string& value, DType);
std::string of_bits(const std::string& bits, DType);
/// A value as it is in memory, and back.
std::string to_memory(const std::string& value, DType, bool pointer = false);
std::string from_memory(const std::string& element, DType, bool pointer = false);
/// An f32 rounded to the type, to the nearest even; of f32, f64 and integers itself.
std::string rounded(const std::string& value, DType);
/// A constant, by the bits of its type.
std::string literal(std::uint64_t bits, DType);

}  // namespace deplo::ir::tile_program::blocks
