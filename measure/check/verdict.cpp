#include "measure/check/verdict.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/types/float16.h"

namespace deplo::measure {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns the value that an element of `dtype` has: an infinity if `value` is beyond the range of `dtype`.
double in_range(double value, ir::DType dtype) {
  return std::isinf(ir::rounded(value, dtype)) ? std::copysign(infinity, value) : value;
}

}  // namespace

bool is_finite(const Expected& expected, ir::DType dtype) { return std::isfinite(in_range(expected.value, dtype)); }

void Scale::add(const Expected& expected, ir::DType dtype) {
  if (!is_finite(expected, dtype)) return;
  squares_ += expected.value * expected.value;
  ++count_;
}

double Scale::value() const { return squares_ > 0 ? std::sqrt(squares_ / count_) : 1; }

double scale_at(const Expected& expected, double scale) {
  return std::isfinite(expected.rounding) ? std::max(scale, expected.rounding / default_tolerance) : scale;
}

double error_of(double found, const Expected& expected, double scale, ir::DType dtype) {
  const double value = in_range(expected.value, dtype);
  if (found == value || (std::isnan(found) && std::isnan(value)) || std::isnan(expected.rounding)) return 0;
  if (std::isnan(found)) return infinity;
  if (std::isinf(expected.rounding)) return 0;
  if (!ir::is_float(dtype)) return std::abs(found - value) <= expected.rounding ? 0 : infinity;
  // A number near the limit of a 16-bit type's range may be stored as infinity or as the largest number.
  const double near = ir::is_float16(dtype) ? expected.value : value;
  if (!std::isfinite(near)) return infinity;
  const double difference =
      dtype == ir::DType::f64 ? std::abs(found - near) : ir::stored_error(near, static_cast<float>(found), dtype);
  return difference / scale_at(expected, scale);
}

}  // namespace deplo::measure
