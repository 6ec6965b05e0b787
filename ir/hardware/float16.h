// The 16-bit floats: f16 (IEEE 754-2019 binary16) and bf16 (the upper half of an f32). And tf32, an f32 with as few
// bits of mantissa as an f16, which is no type of memory: tensor cores multiply f32s rounded to it.
#pragma once
#include <cstdint>

#include "ir/types.h"

namespace deplo::ir {

/// Whether it is f16 or bf16: types of elements in memory, whose values are f32.
constexpr bool is_float16(DType d) { return d == DType::f16 || d == DType::bf16; }
/// The type of the value that an element of memory is read as: f32 for the 16-bit floats.
constexpr DType value_type(DType stored) { return is_float16(stored) ? DType::f32 : stored; }

/// The bits of the nearest f16 or bf16, ties to even; beyond the largest an infinity. A NaN stays one, and quiet.
std::uint16_t float16_bits(float value, DType);
float float16_value(std::uint16_t bits, DType);

/// The nearest number that an f32, f16 or bf16 can be, ties to even; of another dtype the value itself.
double rounded(double value, DType);
/// The number with the range of f32, and with all of its digits: an infinity beyond the largest f32, and a multiple of
/// the least subnormal below the least normal one.
inline double in_f32_range(double value) {
  const double magnitude = value < 0 ? -value : value;
  const bool normal = magnitude >= 0x1p-126 && magnitude <= 0x1.fffffep127;
  return normal || magnitude == 0 ? value : static_cast<double>(static_cast<float>(value));
}
/// The nearest tf32, ties away from zero (PTX ISA, "cvt.rna.tf32.f32").
double rounded_tf32(double value);
inline constexpr double tf32_roundoff = 0x1p-11;  // how much of a number that takes or adds at most
/// How much of a number rounding it to f16 or bf16 takes or adds at most, unless it is subnormal; 0 of another dtype.
constexpr double unit_roundoff(DType d) { return d == DType::f16 ? 0x1p-11 : d == DType::bf16 ? 0x1p-8 : 0; }
/// How far a number that is stored as `found` is at least from `value`, which is finite: 0 where rounding `value` gives
/// `found`. Of f32 the difference; of a NaN infinity.
double stored_error(double value, float found, DType);

}  // namespace deplo::ir
