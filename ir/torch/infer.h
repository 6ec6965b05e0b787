// Private to ops*.cpp and graph*.cpp: a row of the operation table, and what inference functions ask of a call.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/torch/ops.h"

namespace deplo::ir::torch {

/// `literal`: a Python number; becomes a double, its kind says the default dtype.
enum class AttributeKind : std::uint8_t { flag, integer, number, literal, text, integers, dtype };

struct AttributeSpec {
  std::string_view name;
  AttributeKind kind = AttributeKind::integer;
  std::optional<Attribute> fallback;  // none: required, or the inference function fills it in
  bool required = false;
};

/// One call whose attributes are there and of the right kind, to be normalised and typed.
class Call {
 public:
  Call(Node& node, std::span<const Node* const> args) : node_(node), args_(args) {}

  std::size_t size() const { return args_.size(); }
  const Node& arg(std::size_t i) const { return *args_[i]; }
  const TensorType& type(std::size_t i) const { return args_[i]->type; }
  const Shape& shape(std::size_t i) const { return type(i).shape; }
  DType dtype(std::size_t i) const { return type(i).dtype; }
  std::int64_t rank(std::size_t i) const { return static_cast<std::int64_t>(shape(i).size()); }

  const Node& node() const { return node_; }
  std::string_view op() const { return node_.op; }
  bool has(std::string_view attribute) const { return node_.attributes.contains(attribute); }
  void set(std::string_view attribute, Attribute value) const {
    node_.attributes.insert_or_assign(std::string(attribute), std::move(value));
  }
  /// Makes the attribute one of 0 … rank - 1 from one of -rank … rank - 1.
  std::int64_t normalise_dim(std::string_view attribute, std::int64_t rank) const;
  /// The same for `dims`, in the order given; refuses a dimension named twice.
  Shape normalise_dims(std::int64_t rank) const;

  /// Throws Error `op: expected WHAT, found (3, 4) float32 and (5, 6) float32` (the arguments' types).
  [[noreturn]] void expected(std::string_view what) const;
  [[noreturn]] void expected(std::string_view what, std::string_view found) const;

 private:
  std::int64_t wrapped(std::string_view attribute, std::int64_t dim, std::int64_t rank) const;
  Node& node_;
  std::span<const Node* const> args_;
};

struct OpRow {
  std::string_view name;
  std::size_t least, most;  // tensor arguments
  TensorType (*infer)(const Call&);
  std::vector<AttributeSpec> attributes;
};
inline constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

/// Refuses extents below 1, more than most_dimensions or most_elements; `who` begins the message.
void check_type(std::string_view who, const TensorType&);

inline bool is_float(DType t) { return t == DType::f32 || t == DType::f16 || t == DType::bf16; }
/// PyTorch's promotion of two tensors of one priority.
DType promote_types(DType a, DType b);
/// Of an operation, in the order of its row.
std::vector<std::string_view> attribute_names(std::string_view op);
std::string print_list(std::span<const std::int64_t>);  // as Python prints a list: "[0, 1]"

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
// ops_matmul.cpp
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
// ops_index.cpp
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
