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

/// The element with the largest error so far.
class WorstElement {
 public:
  void add(std::size_t offset, double error, double expected, double found) {
    if (error <= error_) return;
    offset_ = offset;
    error_ = error;
    expected_ = expected;
    found_ = found;
  }
  OutputCheck check(const ir::Shape& shape, double tolerance) const {
    OutputCheck check;
    check.shape = shape;
    check.error = error_;
    check.right = error_ <= tolerance;
    if (error_ > 0)
      check.worst = fmt::format("{}: expected {:.9g}, found {:.9g}", element(offset_, shape), expected_, found_);
    return check;
  }

 private:
  std::size_t offset_ = 0;
  double error_ = 0, expected_ = 0, found_ = 0;
};

}  // namespace

OutputCheck compare_output(const ir::Numbers& found, const std::vector<double>& expected, const ir::TensorType& type,
                           double tolerance, std::span<const double> rounding) {
  CHECK(found.size() == expected.size() && (rounding.empty() || rounding.size() == expected.size()));
  const auto at = [&](std::size_t i) { return measure::Expected{expected[i], rounding.empty() ? 0 : rounding[i]}; };
  measure::Scale scale;
  for (std::size_t i = 0; i < found.size(); ++i) scale.add(at(i), type.dtype);
  WorstElement worst;
  for (std::size_t i = 0; i < found.size(); ++i)
    worst.add(i, measure::error_of(found[i], at(i), scale.value(), type.dtype), expected[i], found[i]);
  return worst.check(type.shape, tolerance);
}

OutputCheck compare_output(const ir::Numbers& found, const measure::Reference::Output& expected,
                           const ir::Buffer& buffer, double tolerance) {
  OutputCheck check;
  if (expected.sum) {
    const measure::Sum sum = measure::sum_of(found, buffer.dtype);
    check.shape = buffer.shape;
    check.error = measure::error_of_sum(sum, expected, buffer.dtype);
    check.worst = fmt::format("sum: expected {:.9g}, found {:.9g}", expected.elements.front().value, sum.value);
    check.right = check.error <= tolerance;
  } else {
    WorstElement worst;
    for (const measure::Reference::Element& sample : expected.elements) {
      const auto offset = static_cast<std::size_t>(sample.offset);
      const double error = measure::error_of(found[offset], sample, expected.scale, buffer.dtype);
      worst.add(offset, error, sample.value, found[offset]);
    }
    check = worst.check(buffer.shape, tolerance);
  }
  check.name = buffer.name;
  return check;
}

}  // namespace deplo::apps
