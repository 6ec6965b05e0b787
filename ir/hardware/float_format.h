// Floating-point numbers as bits of any type, and rounding to it.
#pragma once
#include <cstdint>

#include "ir/dtype.h"

namespace deplo::ir {

/// How a result that its type cannot hold is rounded (Tile IR specification, "rounding mode"), in the order of its bytecode.
enum class Rounding : std::uint8_t {
  nearest_even,
  zero,
  negative_inf,
  positive_inf,
  approx,
  full,
  nearest_int_to_zero,
  nearest_away,
};

/// The number that these bits of a float type are. Bits above the type's width are ignored.
double decode_float(std::uint64_t bits, DType);
/// The bits of a number that the type holds exactly; of another number those of round_to.
std::uint64_t encode_float(double value, DType);

/// The number of the float type that the rounding names; `approx` and `full` are to the nearest: they allow errors and
/// ask for none. Beyond the largest: an infinity, or NaN (f8E4M3FN) or the largest (f4E2M1FN) of a type without one.
/// `beyond` says on which side of `value` the exact number is that it stands for: +1 above, -1 below, 0 on it; so an
/// operation that was calculated in double is rounded once.
double round_to(double value, DType, Rounding = Rounding::nearest_even, int beyond = 0);

/// The lowest `width` bits.
constexpr std::uint64_t wrap(std::uint64_t bits, int width) {
  return width >= 64 ? bits : bits & ((1ULL << width) - 1);
}
/// Bits of that width as a two's complement number.
constexpr std::int64_t as_signed(std::uint64_t bits, int width) {
  const int unused = 64 - width;
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

}  // namespace deplo::ir
