// Rounding modes that the host's arithmetic does not have (PTX ISA, "Rounding Modifiers").
#pragma once
#include <cmath>
#include <limits>

namespace deplo::measure::ptx {

enum class Rounding { nearest, zero, down, up };

/// Rounds the exact value sum + rest to f32. `rest` is less than half of the last place of `sum`.
inline float rounded_f32(double sum, double rest, Rounding rounding) {
  const auto nearest = static_cast<float>(sum);
  if (std::isnan(sum) || std::isinf(sum)) return nearest;
  const bool too_large = nearest > sum || (nearest == sum && rest < 0);
  const bool too_small = nearest < sum || (nearest == sum && rest > 0);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const bool negative = sum < 0 || (sum == 0 && rest < 0);
  const bool down = rounding == Rounding::down || (rounding == Rounding::zero && !negative);
  const bool up = rounding == Rounding::up || (rounding == Rounding::zero && negative);
  if (down && too_large) return std::nextafter(nearest, -infinity);
  if (up && too_small) return std::nextafter(nearest, infinity);
  return nearest;
}

/// Computes a * b + c and rounds it. The product is exact in double; the error of the sum is computed by Knuth's method
/// (The Art of Computer Programming 2, 4.2.2, theorem B).
inline float fma_rounded(float a, float b, float c, Rounding rounding) {
  const double product = static_cast<double>(a) * b, sum = product + c;
  const double part = sum - product, rest = (product - (sum - part)) + (c - part);
  return rounded_f32(sum, rest, rounding);
}

}  // namespace deplo::measure::ptx
