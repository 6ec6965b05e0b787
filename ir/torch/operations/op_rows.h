// Private to ir/torch/operations: what a row of the operation table holds, and the inference functions.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <variant>

#include "ir/torch/operations/infer.h"

namespace deplo::ir::torch {

/// `literal`: a Python number; becomes a double, its kind says the default dtype.
enum class AttributeKind : std::uint8_t { flag, integer, number, literal, text, integers, dtype };

struct Required {};
struct Computed {};  // the inference function fills it in
struct AttributeSpec {
  std::string_view name;
  AttributeKind kind = AttributeKind::integer;
  std::variant<Required, Computed, bool, std::int64_t, double, std::string_view> fallback;
};

struct OpRow {
  std::string_view name;
  std::size_t least, most;  // tensor arguments
  TensorType (*infer)(const Call&);
  std::span<const AttributeSpec> attributes;
};
inline constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

// ops_elementwise.cpp
TensorType infer_float_unary(const Call&);   // integers give f32
TensorType infer_number_unary(const Call&);  // keeps the type; not of truth values
TensorType infer_activation(const Call&);    // floats only
TensorType infer_logical_not(const Call&);
TensorType infer_gelu(const Call&);
TensorType infer_arithmetic(const Call&);  // promotes
TensorType infer_sub(const Call&);
TensorType infer_div(const Call&);
TensorType infer_pow(const Call&);
TensorType infer_truth(const Call&);  // comparisons, logical_and, logical_or
TensorType infer_where(const Call&);
TensorType infer_masked_fill(const Call&);
TensorType infer_to(const Call&);
// ops_reduce.cpp
TensorType infer_sum(const Call&);  // also prod: integers and truth values give i32
TensorType infer_extremum(const Call&);
TensorType infer_mean(const Call&);  // also var: floats only
TensorType infer_softmax(const Call&);
TensorType infer_norm(const Call&);  // layer_norm, rms_norm
// matmul.cpp
TensorType infer_matmul(const Call&);
TensorType infer_linear(const Call&);
TensorType infer_attention(const Call&);
// ops_shape.cpp
TensorType infer_transpose(const Call&);
TensorType infer_permute(const Call&);
TensorType infer_reshape(const Call&);
TensorType infer_unsqueeze(const Call&);
TensorType infer_squeeze(const Call&);
TensorType infer_expand(const Call&);
// index.cpp
TensorType infer_slice(const Call&);
TensorType infer_select(const Call&);
TensorType infer_cat(const Call&);
TensorType infer_stack(const Call&);
TensorType infer_triangle(const Call&);
TensorType infer_embedding(const Call&);
TensorType infer_gather(const Call&);
// ops_create.cpp
TensorType infer_arange(const Call&);
TensorType infer_full(const Call&);

}  // namespace deplo::ir::torch
