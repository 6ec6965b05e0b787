// Scalar types, vector types and buffers.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/fill.h"

namespace deplo::ir {

enum class DType : std::uint8_t { f32, f16, bf16, i32, boolean, i64 };
inline constexpr DType dtypes[] = {DType::f32, DType::f16, DType::bf16, DType::i32, DType::boolean, DType::i64};
std::string_view name(DType);  // "f32", "f16", "bf16", "i32", "bool", "i64"
std::int64_t bytes(DType);     // bool takes one byte
constexpr bool is_integer(DType d) { return d == DType::i32 || d == DType::i64; }
constexpr bool is_float(DType d) { return !is_integer(d) && d != DType::boolean; }
/// "f16" or "float16"; nullopt for another word.
std::optional<DType> parse_dtype(std::string_view);

/// Of an SSA value. Text: nothing for a f32 scalar, else `:f32x16`, `:i32`.
struct Type {
  DType dtype = DType::f32;
  int lanes = 1;  // 1, 2, 4, 8, 16
  bool operator==(const Type&) const = default;
};

using Shape = std::vector<std::int64_t>;

/// Of a tensor in Torch and Tensor IR. No extent is negative; a scalar has rank 0.
struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};
std::string_view torch_name(DType);    // "float32", "float16", "bfloat16", "int32", "bool", "int64"
std::string print(const Shape&);       // as Python prints a tuple: "(1, 32)", "(8,)", "()"
std::string print(const TensorType&);  // "(1, 32, 2048) float32"
std::int64_t element_count(const Shape&);

enum class Role : std::uint8_t { input, output };

/// A tensor in global memory. Strides in elements, one per dimension. No two buffers of a program overlap.
struct Buffer {
  std::string name;
  DType dtype = DType::f32;
  Role role = Role::input;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::optional<Fill> fill = {};  // of an input: what it is drawn from when the kernel is measured
  bool operator==(const Buffer&) const = default;
};
std::vector<std::int64_t> row_major_strides(const Shape& shape);
std::int64_t element_count(const Buffer&);  // product of the shape
std::int64_t span(const Buffer&);           // elements from the first to the last address, inclusive

}  // namespace deplo::ir
