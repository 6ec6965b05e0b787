// Scalar types, vector types and buffers.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/types/dtype.h"
#include "ir/types/fill.h"

namespace deplo::ir {

/// The type of an SSA value. Its text is empty for an f32 scalar, else `:f32x16`, `:i32`.
struct Type {
  DType dtype = DType::f32;
  int lanes = 1;  // 1, 2, 4, 8, 16
  bool operator==(const Type&) const = default;
};

using Shape = std::vector<std::int64_t>;

/// The type of a tensor in Torch and Tensor IR. Extents are not negative; a scalar has rank 0.
struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};
std::string print(const Shape&);       // as Python prints a tuple: "(1, 32)", "(8,)", "()"
std::string print(const TensorType&);  // "(1, 32, 2048) float32"
std::int64_t element_count(const Shape&);

enum class Role : std::uint8_t { input, output };

/// A tensor in global memory. The strides are in elements, one per dimension. No two buffers of a program overlap.
struct Buffer {
  std::string name;
  DType dtype = DType::f32;
  Role role = Role::input;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::optional<Fill> fill = {};  // for an input: the distribution of its values when the kernel is measured
  bool operator==(const Buffer&) const = default;
};
std::vector<std::int64_t> row_major_strides(const Shape& shape);
std::int64_t element_count(const Buffer&);  // product of the shape
std::int64_t span(const Buffer&);           // number of elements from the first to the last address, inclusive

}  // namespace deplo::ir
