// The input of an operation's evaluation, and loops over elements.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "ir/torch/evaluate.h"
#include "ir/types/float16.h"

namespace deplo::ir::torch {

/// A call under evaluation, with the nodes and the values of its arguments.
struct Operands {
  const Node& node;
  std::vector<const Node*> args;
  std::vector<const Values*> values;
  // If set, sums add positive and negative terms separately, and an extremum of 0 and -0 returns the other zero.
  bool apart = false;

  std::size_t size() const { return args.size(); }
  const Shape& shape(std::size_t i) const { return args[i]->type.shape; }
  const Values& value(std::size_t i) const { return *values[i]; }
  const Shape& result() const { return node.type.shape; }
  /// Returns a sum that was computed in double, limited to the range of f32. `magnitudes`: the sum of the absolute
  /// values of the finite terms. The order in which PyTorch or a kernel adds is not known. With `apart`, the sum
  /// overflows if the additions overflow in some order.
  double sum(double total, double magnitudes) const {
    if (apart && std::isinf(total) && std::isinf(in_f32_range(magnitudes))) return std::nan("");
    const double positive = in_f32_range((magnitudes + total) / 2), negative = in_f32_range((magnitudes - total) / 2);
    const bool overflows = std::isfinite(total) && !(std::isfinite(positive) && std::isfinite(negative));
    return in_f32_range(apart && overflows ? positive - negative : total);
  }
  std::size_t result_count() const { return static_cast<std::size_t>(element_count(result())); }
};

/// Returns the strides of a row-major operand for the indices of a result to which it is broadcast. The strides of
/// broadcast dimensions are 0.
Shape broadcast_strides(const Shape& operand, const Shape& result);

/// Returns result[index] = argument[start + index · strides], where `argument` is the first argument.
Values strided(const Operands&, const Shape& strides, std::int64_t start = 0);

/// Returns an index as a position along a dimension. `wraps`: a negative index counts from the end. Throws Error if the
/// index is out of range.
std::size_t checked_index(const Operands&, double index, std::int64_t extent, bool wraps = false);

/// Converts to bool: 1 if the number is not 0.
double to_truth(double);

/// Calls f for every index of the shape, in row-major order. f gets one offset for each of the strides: the dot product
/// of the index and these strides.
template <std::size_t count, class F>
void for_each_index(const Shape& shape, const std::array<Shape, count>& strides, F&& f) {
  Shape index(shape.size(), 0);
  std::array<std::int64_t, count> at{};
  for (std::int64_t left = element_count(shape); left > 0; --left) {
    std::apply([&](auto... offset) { f(static_cast<std::size_t>(offset)...); }, at);
    for (std::size_t d = shape.size(); d-- > 0;) {
      for (std::size_t i = 0; i < count; ++i) at[i] += strides[i][d];
      if (++index[d] < shape[d]) break;
      for (std::size_t i = 0; i < count; ++i) at[i] -= strides[i][d] * shape[d];
      index[d] = 0;
    }
  }
}

/// Returns f(a, b) for the elements a and b of the first two arguments, which are broadcast to the result.
template <class F>
Values evaluate_broadcast(const Operands& o, F&& f) {
  Values result;
  result.reserve(o.result_count());
  for_each_index(o.result(),
                 std::array{broadcast_strides(o.shape(0), o.result()), broadcast_strides(o.shape(1), o.result())},
                 [&](std::size_t i, std::size_t j) { result.push_back(f(o.value(0)[i], o.value(1)[j])); });
  return result;
}

/// Returns the argument after f changed each line along `dim`. f gets the offsets of the line's first element and of
/// its end, and the stride between its elements.
template <class F>
Values along_lines(const Operands& o, F&& f) {
  Values result = o.value(0);
  const std::size_t dim = static_cast<std::size_t>(o.node.integer("dim"));
  Shape lines = o.result();
  lines[dim] = 1;
  const Shape strides = row_major_strides(o.result());
  const auto extent = static_cast<std::size_t>(o.result()[dim]), stride = static_cast<std::size_t>(strides[dim]);
  for_each_index(lines, std::array{strides},
                 [&](std::size_t start) { f(result, start, start + extent * stride, stride); });
  return result;
}

/// A matrix in row-major order. `transposed`: the memory holds its transpose.
struct Matrix {
  const double* data;
  std::int64_t rows, columns;
  bool transposed = false;
};
/// Computes result = a · b, in row-major order. Uses several threads if the product is large. `a` is not transposed.
void multiply(Matrix a, Matrix b, double* result);
/// The same, but each element of the result passes through Operands::sum, as sums of PyTorch operations do.
void multiply(const Operands&, Matrix a, Matrix b, double* result);

}  // namespace deplo::ir::torch
