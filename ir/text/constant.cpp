#include "ir/text/constant.h"

#include <cmath>
#include <limits>

namespace deplo::ir {

double f32_constant(double value) {
  constexpr double least = std::numeric_limits<float>::min(), most = std::numeric_limits<float>::max();
  const double size = std::fabs(value);
  return size >= least && size <= most ? value : static_cast<double>(static_cast<float>(value));
}

}  // namespace deplo::ir
