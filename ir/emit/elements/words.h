// The common vocabulary of both dialects: types and functions with one name, which OpenCL C and CUDA C++ define
// differently. Private to this folder.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/target.h"
#include "ir/types/float_format.h"

namespace deplo::ir::elements {

/// Spellings in the kernel that differ between the dialects.
struct Words {
  std::string_view language;        // for messages
  std::string_view global, shared;  // address spaces, each followed by a space
  std::string_view function, table;
  std::string_view long_format;  // length modifier of 64-bit integers in printf, such as "l"
  bool intrinsics = false;       // has functions for each rounding mode, which are never contracted to an fma
};
const Words& words(Dialect);

/// Returns the definitions of the common vocabulary that the source uses.
std::string vocabulary(std::string_view source, Dialect);

/// Returns the type of a value in a thread. Floats other than f64 are f32, with values that their own type can
/// represent. Integers are unsigned.
std::string c_type(DType);
/// Returns the type of an element in memory. Floats other than f32 and f64 are represented by their bits.
std::string memory_type(DType);
/// Returns the integer type that holds `width` bits: "u32", or "i32" if signed.
std::string integer_type(int width, bool with_sign);

/// Converts a value to its bits as an integer, and back. `bits` has type integer_type(width, false).
std::string bits_of(const std::string& value, DType);
std::string of_bits(const std::string& bits, DType);
/// Converts a value to its form in memory, and back.
std::string to_memory(const std::string& value, DType);
std::string from_memory(const std::string& element, DType);
/// Rounds an f32 to the type, to nearest even. Returns the value itself for f32, f64 and integers.
std::string rounded(const std::string& value, DType);
/// Returns a constant, given by the bits of its type.
std::string literal(std::uint64_t bits, DType);

}  // namespace deplo::ir::elements
