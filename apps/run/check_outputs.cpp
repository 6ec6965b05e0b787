#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/run/run.h"
#include "core/error.h"
#include "ir/hardware/float16.h"

namespace deplo::apps {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double in_range(double value, ir::DType dtype) {
  return std::isinf(ir::rounded(value, dtype)) ? std::copysign(infinity, value) : value;
}

double root_mean_square(const std::vector<double>& values, ir::DType dtype) {
  double sum = 0;
  std::size_t count = 0;
  for (const double value : values) {
    if (!std::isfinite(in_range(value, dtype))) continue;
    sum += value * value;
    ++count;
  }
  return sum > 0 ? std::sqrt(sum / static_cast<double>(count)) : 1;
}

double error_of(double found, double expected, double scale, ir::DType dtype) {
  if (found == expected || (std::isnan(found) && std::isnan(expected))) return 0;
  const double error = (std::isfinite(expected) ? ir::stored_error(expected, static_cast<float>(found), dtype) : infinity) / scale;
  if (std::isnan(error)) return infinity;
  return error;
}

std::string element(std::size_t offset, const ir::Shape& shape) {
  std::string text;
  auto rest = static_cast<std::int64_t>(offset);
  for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d])
    text = fmt::format("{}{}{}", rest % shape[d], text.empty() ? "" : ", ", text);
  return "[" + text + "]";
}

}  // namespace

OutputCheck compare_output(const ir::Numbers& found, const std::vector<double>& expected,
                           const ir::TensorType& type, double tolerance, std::span<const double> rounding) {
  CHECK(found.size() == expected.size() && (rounding.empty() || rounding.size() == expected.size()));
  OutputCheck check;
  check.shape = type.shape;
  const double scale = root_mean_square(expected, type.dtype);
  std::size_t worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double explained = rounding.empty() ? 0 : rounding[i] / measure::default_tolerance;
    const double of = ir::is_float(type.dtype) ? std::max(scale, explained) : explained;
    const double error = error_of(found[i], in_range(expected[i], type.dtype), of, type.dtype);
    if (error <= check.error) continue;
    check.error = error;
    worst = i;
  }
  check.right = check.error <= tolerance;
  if (check.error > 0)
    check.worst = fmt::format("{}: expected {:.9g}, found {:.9g}", element(worst, type.shape), expected[worst],
                              found[worst]);
  return check;
}

}  // namespace deplo::apps
