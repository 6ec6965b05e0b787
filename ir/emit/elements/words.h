// The common vocabulary of both dialects: types and functions with one name, which OpenCL C and CUDA C++ define
// differently. Private to the room.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/target.h"
#include "ir/types/float_format.h"

namespace deplo::ir::elements {

/// The spellings in the kernel itself that differ between the dialects.
struct Words {
  std::string_view language;        // for messages
  std::string_view global, shared;  // address spaces, each followed by a blank
  std::string_view function, table;
  std::string_view long_format;  // length modifier of 64-bit integers in printf: "l"
  bool intrinsics = false;       // has functions for each rounding, which are never contracted to an fma
};
const Words& words(Dialect);

/// The definitions of the common vocabulary that the source uses.
std::string vocabulary(std::string_view source, Dialect);

/// The type of a value in a thread: floats other than f64 are f32 values that their type holds, and integers are
/// unsigned.
std::string c_type(DType);
/// The type of an element in memory. Floats other than f32 and f64 are their bits.
std::string memory_type(DType);
/// The integer type that holds `width` bits: "u32", or "i32" with a sign.
std::string integer_type(int width, bool with_sign);

/// Converts a value to its bits as an integer, and back. `bits` has type integer_type(width, false).
std::string bits_of(const std::string& value, DType);
std::string of_bits(const std::string& bits, DType);
/// Converts a value to its form in memory, and back.
std::string to_memory(const std::string& value, DType);
std::string from_memory(const std::string& element, DType);
/// Rounds an f32 to the type, to nearest even. For f32, f64 and integers, it returns the value itself.
std::string rounded(const std::string& value, DType);
/// A constant, by the bits of its type.
std::string literal(std::uint64_t bits, DType);

}  // namespace deplo::ir::elements
