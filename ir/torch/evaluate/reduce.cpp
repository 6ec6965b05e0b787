// Reductions in double, each as its definition says.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/torch/evaluate/ops.h"

namespace deplo::ir::torch {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Strides into the result under the indices of the argument: 0 along the dimensions that are reduced.
Shape result_strides(const Operands& o) {
  Shape kept = o.shape(0);
  for (const std::int64_t dim : o.node.integers("dims")) kept[static_cast<std::size_t>(dim)] = 1;
  return broadcast_strides(kept, o.shape(0));
}

double reduced_count(const Operands& o) {
  return static_cast<double>(element_count(o.shape(0))) / static_cast<double>(element_count(o.result()));
}

template <class F>
Values reduce(const Operands& o, double start, F&& combine) {
  Values result(o.result_count(), start);
  const Values& x = o.value(0);
  for_each_index(o.shape(0), std::array{row_major_strides(o.shape(0)), result_strides(o)},
                 [&](std::size_t i, std::size_t j) { result[j] = combine(result[j], x[i], j); });
  return result;
}

Values sum(const Operands& o) {
  return reduce(o, 0, [](double total, double x, std::size_t) { return total + x; });
}

Values mean(const Operands& o) {
  Values result = sum(o);
  for (double& value : result) value /= reduced_count(o);
  return result;
}

Values var(const Operands& o) {
  const Values means = mean(o);
  Values result =
      reduce(o, 0, [&](double total, double x, std::size_t j) { return total + (x - means[j]) * (x - means[j]); });
  const double divisor = std::max(0.0, reduced_count(o) - static_cast<double>(o.node.integer("correction")));
  for (double& value : result) value /= divisor;  // 0 / 0 is NaN, as in PyTorch
  return result;
}

/// `size` elements that stand `stride` apart.
struct Lane {
  const double* from;
  double* to;
  std::size_t size, stride;
};

void softmax(const Lane& lane, bool logarithm) {
  double most = -infinity, total = 0;
  for (std::size_t i = 0; i < lane.size; ++i) most = std::max(most, lane.from[i * lane.stride]);
  for (std::size_t i = 0; i < lane.size; ++i) total += std::exp(lane.from[i * lane.stride] - most);
  for (std::size_t i = 0; i < lane.size; ++i) {
    const double shifted = lane.from[i * lane.stride] - most;
    lane.to[i * lane.stride] = logarithm ? shifted - std::log(total) : std::exp(shifted) / total;
  }
}

// Elements that are normalised together: the last `dims` dimensions.
std::size_t row_size(const Operands& o) {
  const Shape& shape = o.shape(0);
  return static_cast<std::size_t>(element_count(Shape(shape.end() - o.node.integer("dims"), shape.end())));
}

double weight(const Operands& o, std::size_t i) { return o.size() > 1 ? o.value(1)[i] : 1; }
double bias(const Operands& o, std::size_t i) { return o.size() > 2 ? o.value(2)[i] : 0; }

}  // namespace

Values evaluate_reduction(const Operands& o) {
  const std::string_view op = o.node.op;
  if (op == "sum") return sum(o);
  if (op == "mean") return mean(o);
  if (op == "var") return var(o);
  if (op == "prod") return reduce(o, 1, [](double total, double x, std::size_t) { return total * x; });
  if (op == "amax")
    return reduce(o, -infinity, [](double a, double b, std::size_t) { return std::isnan(a) || a > b ? a : b; });
  return reduce(o, infinity, [](double a, double b, std::size_t) { return std::isnan(a) || a < b ? a : b; });
}

Values evaluate_softmax(const Operands& o) {
  const auto dim = static_cast<std::size_t>(o.node.integer("dim"));
  const auto size = static_cast<std::size_t>(o.shape(0)[dim]);
  const auto stride = static_cast<std::size_t>(row_major_strides(o.shape(0))[dim]);
  const Values& x = o.value(0);
  Values result(x.size());
  for (std::size_t block = 0; block < x.size(); block += size * stride)
    for (std::size_t i = block; i < block + stride; ++i)
      softmax({&x[i], &result[i], size, stride}, o.node.op == "log_softmax");
  return result;
}

Values evaluate_layer_norm(const Operands& o) {
  const std::size_t n = row_size(o);
  const Values& x = o.value(0);
  Values result(x.size());
  for (std::size_t row = 0; row < x.size(); row += n) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < n; ++i) mean += x[row + i] / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) variance += (x[row + i] - mean) * (x[row + i] - mean) / static_cast<double>(n);
    const double deviation = std::sqrt(variance + o.node.number("eps"));
    for (std::size_t i = 0; i < n; ++i) result[row + i] = (x[row + i] - mean) / deviation * weight(o, i) + bias(o, i);
  }
  return result;
}

Values evaluate_rms_norm(const Operands& o) {
  const std::size_t n = row_size(o);
  const Values& x = o.value(0);
  Values result(x.size());
  for (std::size_t row = 0; row < x.size(); row += n) {
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) squares += x[row + i] * x[row + i];
    const double scale = std::sqrt(squares / static_cast<double>(n) + o.node.number("eps"));
    for (std::size_t i = 0; i < n; ++i) result[row + i] = x[row + i] / scale * weight(o, i);
  }
  return result;
}

}  // namespace deplo::ir::torch
