// What the evaluation of an operation is given, and how it walks over elements.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "ir/hardware/float16.h"
#include "ir/torch/evaluate.h"

namespace deplo::ir::torch {

/// A call under evaluation, with the nodes and the values of its arguments.
struct Operands {
  const Node& node;
  std::vector<const Node*> args;
  std::vector<const Values*> values;
  bool apart = false;  // sums add their positive and their negative terms apart; extremes take the other of two zeros

  std::size_t size() const { return args.size(); }
  const Shape& shape(std::size_t i) const { return args[i]->type.shape; }
  const Values& value(std::size_t i) const { return *values[i]; }
  const Shape& result() const { return node.type.shape; }
  /// A sum, in double, with the range of f32. `magnitudes`: the sum of its finite terms' magnitudes. The order in which
  /// PyTorch or a kernel adds is not known. `apart` meets each overflow that some order meets.
  double sum(double total, double magnitudes) const {
    if (apart && std::isinf(total) && std::isinf(in_f32_range(magnitudes))) return std::nan("");
    const double positive = in_f32_range((magnitudes + total) / 2), negative = in_f32_range((magnitudes - total) / 2);
    const bool overflows = std::isfinite(total) && !(std::isfinite(positive) && std::isfinite(negative));
    return in_f32_range(apart && overflows ? positive - negative : total);
  }
  std::size_t result_count() const { return static_cast<std::size_t>(element_count(result())); }
};

/// Strides of a row-major operand under the indices of a result that it broadcasts to: 0 where it repeats.
Shape broadcast_strides(const Shape& operand, const Shape& result);

/// result[index] = argument[start + index · strides], of the first argument.
Values strided(const Operands&, const Shape& strides, std::int64_t start = 0);

/// An index as a place along a dimension, counted from the end below 0 if it wraps. Throws Error where there is none.
std::size_t checked_index(const Operands&, double index, std::int64_t extent, bool wraps = false);

/// As a conversion to bool gives it.
double to_truth(double);

/// Calls f with the offset under each of the strides, for every index of the shape in row-major order.
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

/// A matrix in row-major order; `transposed`: what lies there is its transpose.
struct Matrix {
  const double* data;
  std::int64_t rows, columns;
  bool transposed = false;
};
/// result (rows of a, columns of b), row-major, = a · b; on several threads where it is large. `a` is not transposed.
void multiply(Matrix a, Matrix b, double* result);
/// The same as sums of an operation of PyTorch (Operands::sum).
void multiply(const Operands&, Matrix a, Matrix b, double* result);

}  // namespace deplo::ir::torch
