// The bits of floating-point numbers of any type, and rounding to these types.
#pragma once
#include <cstdint>

#include "ir/types/dtype.h"

namespace deplo::ir {

/// Rounding modes (Tile IR specification, "rounding mode"), in the order of the bytecode.
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

/// Decodes the bits of a float type. Bits above the type's width are ignored.
double decode_float(std::uint64_t bits, DType);
/// Encodes a number as bits. A number that the type cannot represent is first rounded by round_to.
std::uint64_t encode_float(double value, DType);

/// Rounds to the float type. `approx` and `full` round to nearest, because they permit errors but do not require them.
/// A number beyond the largest becomes infinite; if the type has no infinity, it becomes NaN (f8E4M3FN) or the largest
/// number (f4E2M1FN). `beyond`: the side of `value` on which the exact number lies: +1 above, -1 below, 0 if `value` is
/// exact. This argument lets the result of an operation computed in double be rounded only once.
double round_to(double value, DType, Rounding = Rounding::nearest_even, int beyond = 0);

/// Returns the lowest `width` bits.
constexpr std::uint64_t wrap(std::uint64_t bits, int width) {
  return width >= 64 ? bits : bits & ((1ULL << width) - 1);
}
/// Returns the lowest `width` bits as a two's complement number.
constexpr std::int64_t as_signed(std::uint64_t bits, int width) {
  const int unused = 64 - width;
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

}  // namespace deplo::ir
