#include "ir/types/float_format.h"

#include <bit>
#include <cmath>
#include <limits>

namespace deplo::ir {
namespace {

using Special = FloatFormat::Special;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

double round_integer(double scaled, Rounding rounding) {
  switch (rounding) {
    case Rounding::zero:
    case Rounding::nearest_int_to_zero:
      return std::trunc(scaled);
    case Rounding::negative_inf:
      return std::floor(scaled);
    case Rounding::positive_inf:
      return std::ceil(scaled);
    case Rounding::nearest_away:
      return std::round(scaled);
    default:
      return std::nearbyint(scaled);  // rounds to even, because the rounding mode is never changed
  }
}

/// Whether a number that is too large becomes the largest finite number instead of an infinity.
bool stays_finite(double value, Rounding rounding) {
  return rounding == Rounding::zero || (rounding == Rounding::negative_inf && value > 0) ||
         (rounding == Rounding::positive_inf && value < 0);
}

double too_large(double value, const FloatFormat& format, Rounding rounding) {
  if (format.special == Special::finite || stays_finite(value, rounding)) return std::copysign(format.largest, value);
  return format.special == Special::ieee ? std::copysign(std::numeric_limits<double>::infinity(), value) : nan_value;
}

/// f8E8M0FNU holds only powers of two, without a sign and without zero.
double round_exponent(double value, Rounding rounding) {
  if (std::isnan(value) || std::isinf(value) || std::signbit(value)) return nan_value;
  if (value <= 0x1p-127) return 0x1p-127;
  const double below = std::exp2(std::floor(std::log2(value)));
  const double power = rounding == Rounding::zero || value == below                       ? below
                       : rounding == Rounding::positive_inf || value - below >= below / 2 ? 2 * below
                                                                                          : below;
  return power > 0x1p127 ? nan_value : power;
}

/// Rounds to odd: sets the last bit if the double is inexact (`beyond` is not 0). So every narrower format rounds the
/// result as it would round the exact number (Boldo and Melquiond: Emulation of FMA and correctly rounded sums, 2008,
/// "round to odd").
double to_odd(double value, int beyond) {
  if (beyond == 0 || (std::bit_cast<std::uint64_t>(value) & 1) != 0) return value;
  return std::nextafter(value, beyond > 0 ? HUGE_VAL : -HUGE_VAL);
}

double round_f64(double value, Rounding rounding, int beyond) {
  const bool up = beyond > 0 && (rounding == Rounding::positive_inf || (rounding == Rounding::zero && value < 0));
  const bool down = beyond < 0 && (rounding == Rounding::negative_inf || (rounding == Rounding::zero && value > 0));
  return up ? std::nextafter(value, HUGE_VAL) : down ? std::nextafter(value, -HUGE_VAL) : value;
}

}  // namespace

double round_to(double value, DType e, Rounding rounding, int beyond) {
  if (e == DType::f64) return round_f64(value, rounding, beyond);
  const FloatFormat& format = row(e).format;
  if (std::isnan(value)) return format.special == Special::finite ? format.largest : value;
  value = to_odd(value, beyond);
  if (e == DType::f8e8m0fnu) return round_exponent(value, rounding);
  if (value == 0) return value;
  if (std::isinf(value))
    return format.special == Special::ieee ? value : too_large(value, format, Rounding::nearest_even);
  if (e == DType::f32 && rounding == Rounding::nearest_even && std::fabs(value) < 0x1p127)
    return static_cast<double>(static_cast<float>(value));
  const int exponent = std::max(std::ilogb(value), format.lowest) - format.mantissa;
  const double rounded = std::ldexp(round_integer(std::ldexp(value, -exponent), rounding), exponent);
  return std::fabs(rounded) > format.largest ? too_large(value, format, rounding) : std::copysign(rounded, value);
}

double decode_float(std::uint64_t bits, DType e) {
  if (e == DType::f64) return std::bit_cast<double>(bits);
  if (e == DType::f32) return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  const FloatFormat& format = row(e).format;
  const std::uint64_t mantissa = wrap(bits, format.mantissa);
  const auto exponent = static_cast<int>(wrap(bits >> format.mantissa, format.exponent));
  const int ones = (1 << format.exponent) - 1;
  if (e == DType::f8e8m0fnu) return exponent == ones ? nan_value : std::ldexp(1.0, exponent - 127);
  const double sign = (bits >> (format.mantissa + format.exponent) & 1) != 0 ? -1.0 : 1.0;
  if (exponent == ones && format.special == Special::ieee)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : nan_value;
  if (exponent == ones && format.special == Special::nan_is_all_ones && mantissa == wrap(~0ULL, format.mantissa))
    return nan_value;
  const auto fraction = static_cast<double>(exponent == 0 ? mantissa : mantissa | (1ULL << format.mantissa));
  return sign * std::ldexp(fraction, std::max(exponent, 1) - 1 + format.lowest - format.mantissa);
}

std::uint64_t encode_float(double value, DType e) {
  if (e == DType::f64) return std::bit_cast<std::uint64_t>(value);
  value = round_to(value, e);
  if (e == DType::f32 && !std::isnan(value)) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const FloatFormat& format = row(e).format;
  const auto ones = (1ULL << format.exponent) - 1;
  if (e == DType::f8e8m0fnu) return std::isnan(value) ? ones : static_cast<std::uint64_t>(std::ilogb(value) + 127);
  const std::uint64_t sign = static_cast<std::uint64_t>(std::signbit(value)) << (format.mantissa + format.exponent);
  if (std::isnan(value)) {  // a quiet NaN; all ones if that is the format's only NaN
    const std::uint64_t quiet = 1ULL << (format.mantissa - 1);
    return (ones << format.mantissa) | (format.special == Special::ieee ? quiet : wrap(~0ULL, format.mantissa));
  }
  if (std::isinf(value)) return sign | (ones << format.mantissa);
  if (value == 0) return sign;
  const double magnitude = std::fabs(value);
  const int exponent = std::ilogb(magnitude);
  if (exponent < format.lowest)
    return sign | static_cast<std::uint64_t>(std::ldexp(magnitude, format.mantissa - format.lowest));
  const auto fraction = static_cast<std::uint64_t>(std::ldexp(magnitude, format.mantissa - exponent));
  return sign | (static_cast<std::uint64_t>(exponent - format.lowest + 1) << format.mantissa) |
         wrap(fraction, format.mantissa);
}

}  // namespace deplo::ir
