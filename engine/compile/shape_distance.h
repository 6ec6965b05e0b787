// How near the sizes of two kernels are: a schedule of one may serve the other.
#pragma once
#include <string_view>

namespace deplo::engine {

/// How far two kernels' texts are apart that differ only in numbers (extents, strides): Σ |log a/b|, of numbers below 1
/// of |a - b|. Infinite where they differ in more.
double shape_distance(std::string_view a, std::string_view b);

}  // namespace deplo::engine
