// The distance between the sizes of two kernels. If it is small, a schedule of one may suit the other.
#pragma once
#include <string_view>

namespace deplo::engine {

/// The distance between two kernels' texts that differ only in numbers (extents, strides): Σ |log a/b|, or |a - b| for
/// numbers below 1. Infinite if the texts differ in anything else.
double shape_distance(std::string_view a, std::string_view b);

/// Removes the number at the front of such a text, which begins with a digit, and returns it: a size, or a constant
/// that follows from one, such as 1e+06. Infinite if it is too large for a double.
double take_number(std::string_view& text);

}  // namespace deplo::engine
