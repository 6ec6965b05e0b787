#include "ir/text/constant.h"

#include <cmath>
#include <limits>

namespace deplo::ir {

double f32_constant(double value) {
  constexpr double min_size = std::numeric_limits<float>::min(), max_size = std::numeric_limits<float>::max();
  const double size = std::fabs(value);
  return size >= min_size && size <= max_size ? value : static_cast<double>(static_cast<float>(value));
}

}  // namespace deplo::ir
