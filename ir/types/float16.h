// The 16-bit floats: f16 (IEEE 754-2019 binary16) and bf16 (the upper half of an f32). Also tf32, which is an f32 with
// as few bits of mantissa as an f16. It is not a type in memory: tensor cores multiply f32 values rounded to it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/types/types.h"

namespace deplo::ir {

/// Whether the type is f16 or bf16. Only elements in memory have these types; the values loaded from them are f32.
constexpr bool is_float16(DType d) { return d == DType::f16 || d == DType::bf16; }
/// The type of a value loaded from an element in memory: f32 for the 16-bit floats, i32 for the integers of 8 and 16
/// bits.
constexpr DType value_type(DType stored) {
  return is_float16(stored) ? DType::f32 : is_narrow_integer(stored) ? DType::i32 : stored;
}

/// Returns the bits of the nearest f16 or bf16, ties to even. Numbers beyond the largest become infinite; a NaN becomes
/// a quiet NaN.
std::uint16_t float16_bits(float value, DType);
float float16_value(std::uint16_t bits, DType);
/// Converts values to elements in memory, or back. The memory need not be aligned.
void store_float16(std::span<const float> values, DType, std::byte* to);
void load_float16(const std::byte* from, DType, std::span<float> values);

/// Returns the nearest f32, f16 or bf16, ties to even. For any other dtype, returns the value itself.
double rounded(double value, DType);
/// Limits a number to the range of f32 but keeps all its digits: a number beyond the largest f32 becomes infinite, and
/// a number below the least normal f32 is rounded to a multiple of the least subnormal.
inline double in_f32_range(double value) {
  const double magnitude = value < 0 ? -value : value;
  const bool normal = magnitude >= 0x1p-126 && magnitude <= 0x1.fffffep127;
  return normal || magnitude == 0 ? value : static_cast<double>(static_cast<float>(value));
}
/// Returns the nearest tf32, ties away from zero (PTX ISA, "cvt.rna.tf32.f32").
double rounded_tf32(double value);
inline constexpr double tf32_roundoff = 0x1p-11;  // largest relative error of rounded_tf32
/// Returns the largest relative error of rounding to f16 or bf16, except for subnormal results; 0 for any other dtype.
constexpr double unit_roundoff(DType d) { return d == DType::f16 ? 0x1p-11 : d == DType::bf16 ? 0x1p-8 : 0; }
/// Returns a lower bound on the distance between the finite `value` and the number that was stored as `found`: 0 if
/// rounding `value` gives `found`. For f32 the bound is the difference; for a NaN it is infinite.
double stored_error(double value, float found, DType);

}  // namespace deplo::ir
