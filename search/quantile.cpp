#include "search/quantile.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace deplo::search {

double quantile(std::vector<double> values, double q) {
  CHECK(!values.empty() && q >= 0 && q <= 1);
  std::ranges::sort(values);
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 == values.size()) return values.back();
  return std::lerp(values[below], values[below + 1], place - static_cast<double>(below));
}

}  // namespace deplo::search
