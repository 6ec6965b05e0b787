// A distance between the sizes of two kernels. At a small distance, a schedule of one kernel may suit the other.
#pragma once
#include <string_view>

namespace deplo::engine {

/// Returns the distance between the texts of two kernels that differ only in numbers (extents, strides): Σ |log a/b|,
/// or |a - b| for numbers below 1. Returns infinity if the texts differ in anything else.
double shape_distance(std::string_view a, std::string_view b);

/// Removes the number at the front of `text` and returns it. The text must begin with a digit. The number is a size, or
/// a constant that follows from one, such as 1e+06. Returns infinity if it is too large for a double.
double take_number(std::string_view& text);

}  // namespace deplo::engine
