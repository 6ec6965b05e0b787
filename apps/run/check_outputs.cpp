#include <fmt/format.h>

#include "apps/run/run.h"
#include "core/error.h"
#include "measure/check/verdict.h"

namespace deplo::apps {
namespace {

std::string element(std::size_t offset, const ir::Shape& shape) {
  std::string text;
  auto rest = static_cast<std::int64_t>(offset);
  for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d])
    text = fmt::format("{}{}{}", rest % shape[d], text.empty() ? "" : ", ", text);
  return "[" + text + "]";
}

}  // namespace

OutputCheck compare_output(const ir::Numbers& found, const std::vector<double>& expected, const ir::TensorType& type,
                           double tolerance, std::span<const double> rounding) {
  CHECK(found.size() == expected.size() && (rounding.empty() || rounding.size() == expected.size()));
  OutputCheck check;
  check.shape = type.shape;
  const auto at = [&](std::size_t i) { return measure::Expected{expected[i], rounding.empty() ? 0 : rounding[i]}; };
  measure::Scale scale;
  for (std::size_t i = 0; i < found.size(); ++i) scale.add(at(i), type.dtype);
  std::size_t worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double error = measure::error_of(found[i], at(i), scale.value(), type.dtype);
    if (error <= check.error) continue;
    check.error = error;
    worst = i;
  }
  check.right = check.error <= tolerance;
  if (check.error > 0)
    check.worst =
        fmt::format("{}: expected {:.9g}, found {:.9g}", element(worst, type.shape), expected[worst], found[worst]);
  return check;
}

}  // namespace deplo::apps
