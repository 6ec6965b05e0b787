// Bounds of an expression's value while some of its parameters are undecided.
#pragma once
#include <cstdint>
#include <span>

#include "engine/foreign/expression_node.h"

namespace deplo::engine::foreign {

/// What is known about a value. All bounds are conservative: no value that evaluation can give lies outside.
struct Range {
  enum class Kind : std::uint8_t {
    unknown,  // any value, a list, or an error
    scalar,   // any number (also NaN and infinity) or text, but no error
    number,   // a number from `low` to `high`, and no error
  };
  Kind kind = Kind::unknown;
  bool is_integer = false;  // only for a number: the value has an integer type
  double low = 0, high = 0;

  bool is_number() const { return kind == Kind::number; }
  bool is_scalar() const { return kind != Kind::unknown; }
  bool operator==(const Range&) const = default;
};

/// Returns the range of a single value.
Range range_of(const Operand&);
/// Returns the range of a value that lies in either of two ranges.
Range join(const Range&, const Range&);
/// Returns the range of an operation's result. A list (of `in`, `not in`, `min` or `max`) is passed as its elements.
Range range_of(Operation, std::span<const Range>);
/// Returns the range of a conditional: `yes` if the condition is true, otherwise `no`.
Range choose(const Range& condition, const Range& yes, const Range& no);
/// Returns the range of Kind::both: `first` if it is false, otherwise `second`.
Range range_of_both(const Range& first, const Range& second);
/// Returns the range of Kind::either: `first` if it is true, otherwise `second`.
Range range_of_either(const Range& first, const Range& second);
/// Returns true if the value is certainly false (0) as a condition.
bool is_false(const Range&);

}  // namespace deplo::engine::foreign
