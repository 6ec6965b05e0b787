#include "ir/tile_program/element.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace deplo::ir::tile_program {
namespace {

enum class Special : std::uint8_t { ieee, nan_is_all_ones, finite };

/// A binary floating-point format: sign, exponent, mantissa (OCP 8-bit and microscaling formats beside IEEE's).
struct Format {
  int exponent = 0, mantissa = 0;  // bits
  int lowest = 0;                  // exponent of the least normal number
  Special special = Special::ieee;
  double largest = 0;
};

struct ElementRow {
  std::string_view name;
  int width = 0, bytes = 0;
  Format format = {};
};

constexpr std::array<ElementRow, element_types> element_rows = {{
    {"i1", 1, 1},
    {"i4", 4, 0},
    {"i8", 8, 1},
    {"i16", 16, 2},
    {"i32", 32, 4},
    {"i64", 64, 8},
    {"f16", 16, 2, {5, 10, -14, Special::ieee, 65504}},
    {"bf16", 16, 2, {8, 7, -126, Special::ieee, 0x1.FEp127}},
    {"f32", 32, 4, {8, 23, -126, Special::ieee, 0x1.FFFFFEp127}},
    {"tf32", 19, 4, {8, 10, -126, Special::ieee, 0x1.FFCp127}},
    {"f64", 64, 8, {11, 52, -1022, Special::ieee, std::numeric_limits<double>::max()}},
    {"f8E4M3FN", 8, 1, {4, 3, -6, Special::nan_is_all_ones, 448}},
    {"f8E5M2", 8, 1, {5, 2, -14, Special::ieee, 57344}},
    {"f8E8M0FNU", 8, 1, {8, 0, -127, Special::nan_is_all_ones, 0x1p127}},
    {"f4E2M1FN", 4, 0, {2, 1, 0, Special::finite, 6}},
}};

const ElementRow& row(Element e) { return element_rows.at(static_cast<std::size_t>(e)); }

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
      return std::nearbyint(scaled);  // to even: no other mode is ever set
  }
}

/// Whether a number that is too large becomes the largest in place of an infinity.
bool stays_finite(double value, Rounding rounding) {
  return rounding == Rounding::zero || (rounding == Rounding::negative_inf && value > 0) ||
         (rounding == Rounding::positive_inf && value < 0);
}

double too_large(double value, const Format& format, Rounding rounding) {
  if (format.special == Special::finite || stays_finite(value, rounding)) return std::copysign(format.largest, value);
  return format.special == Special::ieee ? std::copysign(std::numeric_limits<double>::infinity(), value) : nan_value;
}

/// f8E8M0FNU holds powers of two only: neither a sign nor zero.
double round_exponent(double value, Rounding rounding) {
  if (std::isnan(value) || std::isinf(value) || std::signbit(value)) return nan_value;
  if (value <= 0x1p-127) return 0x1p-127;
  const double below = std::exp2(std::floor(std::log2(value)));
  const double power = rounding == Rounding::zero || value == below                       ? below
                       : rounding == Rounding::positive_inf || value - below >= below / 2 ? 2 * below
                                                                                          : below;
  return power > 0x1p127 ? nan_value : power;
}

/// A double that every narrower format rounds as the exact number: what it lost is a bit that is never zero (Boldo and
/// Melquiond: Emulation of FMA and correctly rounded sums, 2008, "round to odd").
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

std::string_view name(Element e) { return row(e).name; }

std::optional<Element> parse_element(std::string_view word) {
  for (std::size_t i = 0; i < element_rows.size(); ++i)
    if (element_rows[i].name == word) return static_cast<Element>(i);
  return std::nullopt;
}

int width(Element e) { return row(e).width; }
int bytes(Element e) { return row(e).bytes; }

double round_to(double value, Element e, Rounding rounding, int beyond) {
  if (e == Element::f64) return round_f64(value, rounding, beyond);
  const Format& format = row(e).format;
  if (std::isnan(value)) return format.special == Special::finite ? format.largest : value;
  value = to_odd(value, beyond);
  if (e == Element::f8e8m0fnu) return round_exponent(value, rounding);
  if (value == 0) return value;
  if (std::isinf(value))
    return format.special == Special::ieee ? value : too_large(value, format, Rounding::nearest_even);
  if (e == Element::f32 && rounding == Rounding::nearest_even && std::fabs(value) < 0x1p127)
    return static_cast<double>(static_cast<float>(value));
  const int exponent = std::max(std::ilogb(value), format.lowest) - format.mantissa;
  const double rounded = std::ldexp(round_integer(std::ldexp(value, -exponent), rounding), exponent);
  return std::fabs(rounded) > format.largest ? too_large(value, format, rounding) : std::copysign(rounded, value);
}

double decode_float(std::uint64_t bits, Element e) {
  if (e == Element::f64) return std::bit_cast<double>(bits);
  if (e == Element::f32) return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  const Format& format = row(e).format;
  const std::uint64_t mantissa = wrap(bits, format.mantissa);
  const auto exponent = static_cast<int>(wrap(bits >> format.mantissa, format.exponent));
  const int ones = (1 << format.exponent) - 1;
  if (e == Element::f8e8m0fnu) return exponent == ones ? nan_value : std::ldexp(1.0, exponent - 127);
  const double sign = (bits >> (format.mantissa + format.exponent) & 1) != 0 ? -1.0 : 1.0;
  if (exponent == ones && format.special == Special::ieee)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : nan_value;
  if (exponent == ones && format.special == Special::nan_is_all_ones && mantissa == wrap(~0ULL, format.mantissa))
    return nan_value;
  const auto fraction = static_cast<double>(exponent == 0 ? mantissa : mantissa | (1ULL << format.mantissa));
  return sign * std::ldexp(fraction, std::max(exponent, 1) - 1 + format.lowest - format.mantissa);
}

std::uint64_t encode_float(double value, Element e) {
  if (e == Element::f64) return std::bit_cast<std::uint64_t>(value);
  value = round_to(value, e);
  if (e == Element::f32 && !std::isnan(value)) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const Format& format = row(e).format;
  const auto ones = (1ULL << format.exponent) - 1;
  if (e == Element::f8e8m0fnu) return std::isnan(value) ? ones : static_cast<std::uint64_t>(std::ilogb(value) + 127);
  const std::uint64_t sign = static_cast<std::uint64_t>(std::signbit(value)) << (format.mantissa + format.exponent);
  if (std::isnan(value)) {  // quiet; all ones where that alone is NaN
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

}  // namespace deplo::ir::tile_program
