// What the evaluation of an operation is given, and how it walks over elements.
#pragma once
#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "ir/torch/evaluate.h"

namespace deplo::ir::torch {

/// A call under evaluation, with the nodes and the values of its arguments.
struct Operands {
  const Node& node;
  std::vector<const Node*> args;
  std::vector<const Values*> values;

  std::size_t size() const { return args.size(); }
  const Shape& shape(std::size_t i) const { return args[i]->type.shape; }
  const Values& value(std::size_t i) const { return *values[i]; }
  const Shape& result() const { return node.type.shape; }
  std::size_t result_count() const { return static_cast<std::size_t>(element_count(result())); }
};

/// Strides of a row-major operand under the indices of a result that it broadcasts to: 0 where it repeats.
Shape broadcast_strides(const Shape& operand, const Shape& result);

/// result[index] = argument[start + index · strides], of the first argument.
Values strided(const Operands&, const Shape& strides, std::int64_t start = 0);

/// An index as a place along a dimension; throws Error where there is none.
std::size_t checked_index(const Operands&, double index, std::int64_t extent);

/// As a conversion to i32 and to bool gives them.
double to_integer(double);
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

}  // namespace deplo::ir::torch
