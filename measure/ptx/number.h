// A number that a user passes to a kernel.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/ptx/text/syntax.h"

namespace deplo::measure::ptx {

/// A number as it is written, such as "-3", "0.5", "1e6" or "inf". Its bytes depend on the type of the parameter that
/// it is passed to, not on how it is written.
class Number {
 public:
  /// Returns nullopt if the text is not a number, or not one within the range of a double.
  static std::optional<Number> parse(std::string_view);
  /// Returns the bytes for a parameter of a kernel: integers exactly, floats rounded to the nearest. Throws Error that
  /// says what the parameter is and what was expected.
  std::vector<std::uint8_t> bytes(const Variable& parameter) const;

 private:
  std::uint64_t integer_bits(const Variable& parameter) const;
  std::uint64_t float_bits(const Variable& parameter) const;

  std::string text_;
  double real_ = 0;
  // The absolute value if the number is an integer of at most 64 bits; the sign is that of real_.
  std::optional<std::uint64_t> magnitude_;
};

/// Describes a parameter, as in "an integer of 32 bits" or "a struct of 8 bytes".
std::string describe(const Variable& parameter);
/// True if the type says that the parameter is a float. PTX may also give the type "b32" to a float.
bool is_float(const Variable& parameter);

}  // namespace deplo::measure::ptx
