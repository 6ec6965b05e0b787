// The distance between the sizes of two kernels. If it is small, a schedule of one may suit the other.
#pragma once
#include <string_view>

namespace deplo::engine {

/// The distance between two kernels' texts that differ only in numbers (extents, strides): Σ |log a/b|, or |a - b| for
/// numbers below 1. Infinite if the texts differ in anything else.
double shape_distance(std::string_view a, std::string_view b);

}  // namespace deplo::engine
