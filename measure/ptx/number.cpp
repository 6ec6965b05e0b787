#include "measure/ptx/number.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/text/number.h"

namespace deplo::measure::ptx {

std::optional<Number> Number::parse(std::string_view text) {
  Number number;
  number.text_ = text;
  const auto real = parse_number<double>(text);
  if (!real) return std::nullopt;
  number.real_ = *real;
  // Digits alone are exact, even where a double is not.
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  number.magnitude_ = parse_number<std::uint64_t>(digits);
  constexpr double too_large = 0x1p64;
  if (!number.magnitude_ && std::abs(number.real_) < too_large && std::trunc(number.real_) == number.real_)
    number.magnitude_ = static_cast<std::uint64_t>(std::abs(number.real_));
  return number;
}

std::uint64_t Number::integer_bits(const Variable& parameter) const {
  const std::uint64_t half = std::uint64_t{1} << (8 * parameter.size - 1), max = half - 1 + half;
  const bool is_negative = std::signbit(real_);
  if (!magnitude_ || *magnitude_ > (is_negative ? half : max))
    throw Error(fmt::format("{}: expected an integer from -{} to {}", describe(parameter), half, max));
  return is_negative ? 0 - *magnitude_ : *magnitude_;
}

std::uint64_t Number::float_bits(const Variable& parameter) const {
  if (parameter.size == sizeof(double)) return std::bit_cast<std::uint64_t>(real_);
  float nearest = 0;
  // From the text, because a double that is rounded again may not be the nearest. A number that is too small or too
  // large leaves `nearest`, and becomes 0 or an infinity.
  if (std::from_chars(text_.data(), text_.data() + text_.size(), nearest).ec != std::errc())
    nearest = static_cast<float>(real_);
  if (std::isinf(nearest) && !std::isinf(real_))
    throw Error(fmt::format("{}: expected a number from {:g} to {:g}", describe(parameter),
                            std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max()));
  return std::bit_cast<std::uint32_t>(nearest);
}

std::vector<std::uint8_t> Number::bytes(const Variable& parameter) const {
  if (parameter.is_array)
    throw Error(fmt::format("{}: expected a tensor map; structs, also half types such as __half, cannot be passed",
                            describe(parameter)));
  // "b32" and "b64" do not say whether the parameter is an integer or a float.
  const bool may_be_float = parameter.type == "b32" || parameter.type == "b64";
  const bool as_float = is_float(parameter) || (may_be_float && !magnitude_);
  const std::uint64_t bits = as_float ? float_bits(parameter) : integer_bits(parameter);
  std::vector<std::uint8_t> bytes;
  for (std::uint64_t i = 0; i < parameter.size; ++i) bytes.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
  return bytes;
}

bool is_float(const Variable& parameter) { return parameter.type == "f32" || parameter.type == "f64"; }

std::string describe(const Variable& parameter) {
  if (parameter.is_array) return fmt::format("a struct of {} bytes", parameter.size);
  const bool may_be_pointer = parameter.size == sizeof(std::uint64_t) && !is_float(parameter);
  return fmt::format("{} of {} bits{}", is_float(parameter) ? "a float" : "an integer", 8 * parameter.size,
                     may_be_pointer ? " or a pointer" : "");
}

}  // namespace deplo::measure::ptx
