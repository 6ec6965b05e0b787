// Bounds of an expression's value if some of its parameters are not decided yet.
#pragma once
#include <cstdint>
#include <span>

#include "engine/foreign/expression_node.h"

namespace deplo::engine::foreign {

/// What is known of a value. All bounds are safe: no value that evaluation can give lies outside.
struct Range {
  enum class Kind : std::uint8_t {
    unknown,  // any value, a list, or an error
    scalar,   // any number (also NaN and infinity) or text, but no error
    number,   // a number from `low` to `high`, and no error
  };
  Kind kind = Kind::unknown;
  bool is_integer = false;  // of a number: its type is an integer's
  double low = 0, high = 0;

  bool is_number() const { return kind == Kind::number; }
  bool is_scalar() const { return kind != Kind::unknown; }
  bool operator==(const Range&) const = default;
};

/// A single value.
Range range_of(const Operand&);
/// Values of which one is taken.
Range join(const Range&, const Range&);
/// The result of an operation. The list of `in` and `not in`, and one of `min` and `max`, is given by its elements.
Range range_of(Operation, std::span<const Range>);
/// The second if the first is true, else the third.
Range choose(const Range& condition, const Range& yes, const Range& no);
/// Is it surely false (0), as a condition?
bool is_false(const Range&);

}  // namespace deplo::engine::foreign
