#include "ir/types/float16.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace deplo::ir {
namespace {

constexpr std::uint32_t sign_bit = 0x80000000, infinity = 0x7f800000;

// Returns the upper 16 bits, rounded to nearest even: adds half of the last kept bit, or just under half if that bit is
// 0.
std::uint16_t upper_half(std::uint32_t bits) {
  if ((bits & ~sign_bit) > infinity) return static_cast<std::uint16_t>(bits >> 16 | 0x40);  // a quiet NaN
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

std::uint16_t half_bits(std::uint32_t bits) {
  const auto sign = static_cast<std::uint16_t>((bits & sign_bit) >> 16);
  const std::uint32_t magnitude = bits & ~sign_bit;
  if (magnitude > infinity) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // 65520, halfway beyond the largest f16
  if (magnitude < 0x38800000) {                       // f16 subnormals are multiples of 2^-24, as is an f32 near 0.5
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return sign |
           static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5F));
  }
  constexpr std::uint32_t bias = (127 - 15) << 23;  // the difference of the exponents' biases
  const std::uint32_t moved = magnitude - bias;
  return sign | static_cast<std::uint16_t>((moved + 0xfff + (moved >> 13 & 1)) >> 13);
}

float half_value(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | infinity | magnitude << 13);
  const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112F;  // exact for subnormals, too
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

// Rounds to f32 towards zero. A finite number beyond the largest f32 becomes the largest f32.
float towards_zero(double value) {
  const auto nearest = static_cast<float>(value);
  return std::abs(static_cast<double>(nearest)) > std::abs(value) ? std::nextafter(nearest, 0.0F) : nearest;
}

// Rounds to f32 to odd: towards zero, with the last bit set if the result is inexact. Rounding the result again to
// fewer bits is the same as rounding the value once (Boldo and Melquiond, Emulation of FMA and Correctly Rounded Sums:
// Proved Algorithms Using Rounding to Odd, 2008).
float to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  const auto back = static_cast<double>(nearest);
  if (back == value || std::isnan(value)) return nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(back) > std::abs(value)) --bits;
  return std::bit_cast<float>(bits | 1);
}

// Returns the midpoint between `found` and its neighbour in the direction of `value`. Numbers between `found` and the
// midpoint round to `found`.
double edge_towards(double value, float found, DType dtype) {
  const std::uint16_t bits = float16_bits(found, dtype);
  const auto magnitude = static_cast<std::uint16_t>(bits & 0x7fff);
  const auto of = [&](int step) {
    return std::abs(static_cast<double>(float16_value(static_cast<std::uint16_t>(magnitude + step), dtype)));
  };
  const auto at = static_cast<double>(found);
  if (magnitude == 0) return std::copysign(of(1) / 2, value);
  if (std::isinf(at)) return std::copysign(of(-1) + (of(-1) - of(-2)) / 2, at);
  const bool outwards = std::signbit(at) == std::signbit(value) && std::abs(value) > std::abs(at);
  const double next = outwards ? of(1) : of(-1), here = std::abs(at);
  return std::copysign(std::isinf(next) ? here + (here - of(-1)) / 2 : (here + next) / 2, at);
}

}  // namespace

std::uint16_t float16_bits(float value, DType dtype) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return dtype == DType::f16 ? half_bits(bits) : upper_half(bits);
}

float float16_value(std::uint16_t bits, DType dtype) {
  return dtype == DType::f16 ? half_value(bits) : std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

namespace {

template <class Convert>
void store_all(std::span<const float> values, std::byte* to, const Convert& bits_of) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t bits = bits_of(std::bit_cast<std::uint32_t>(values[i]));
    std::memcpy(to + i * sizeof bits, &bits, sizeof bits);
  }
}

template <class Convert>
void load_all(const std::byte* from, std::span<float> values, const Convert& value_of) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, from + i * sizeof bits, sizeof bits);
    values[i] = value_of(bits);
  }
}

}  // namespace

void store_float16(std::span<const float> values, DType dtype, std::byte* to) {
  if (dtype == DType::f16)
    store_all(values, to, [](std::uint32_t bits) { return half_bits(bits); });
  else
    store_all(values, to, [](std::uint32_t bits) { return upper_half(bits); });
}

void load_float16(const std::byte* from, DType dtype, std::span<float> values) {
  if (dtype == DType::f16)
    load_all(from, values, [](std::uint16_t bits) { return half_value(bits); });
  else
    load_all(from, values, [](std::uint16_t bits) { return float16_value(bits, DType::bf16); });
}

// Adds half a unit in the last of 10 mantissa bits to the magnitude and cuts off the bits after these.
double rounded_tf32(double value) {
  if (!std::isfinite(value)) return value;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(towards_zero(value));
  return static_cast<double>(std::bit_cast<float>((bits + 0x1000) & 0xffffe000));
}

double rounded(double value, DType dtype) {
  if (dtype == DType::f32) return static_cast<double>(static_cast<float>(value));
  if (!is_float16(dtype)) return value;
  return static_cast<double>(float16_value(float16_bits(to_odd(value), dtype), dtype));
}

double stored_error(double value, float found, DType dtype) {
  if (std::isnan(found)) return std::numeric_limits<double>::infinity();
  if (!is_float16(dtype)) return std::abs(static_cast<double>(found) - value);
  if (rounded(value, dtype) == static_cast<double>(found)) return 0;
  return std::abs(edge_towards(value, found, dtype) - value);
}

}  // namespace deplo::ir
