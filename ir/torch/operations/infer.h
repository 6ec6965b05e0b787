// The input of an operation's type inference.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/torch/operations/ops.h"

namespace deplo::ir::torch {

/// A call whose attributes are present and of the right kind. Inference normalises them and determines the type.
class Inference {
 public:
  Inference(Node& node, std::span<const Node* const> args) : node_(node), args_(args) {}

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
  /// Normalises an attribute in -rank … rank - 1 to 0 … rank - 1.
  std::int64_t normalise_dim(std::string_view attribute, std::int64_t rank) const;
  /// Normalises the elements of `dims` in the same way, in the given order. Throws Error if a dimension is named twice.
  Shape normalise_dims(std::int64_t rank) const;

  /// Throws Error `op: expected WHAT, found (3, 4) float32 and (5, 6) float32` (the arguments' types).
  [[noreturn]] void expected(std::string_view what) const;
  [[noreturn]] void expected(std::string_view what, std::string_view found) const;

 private:
  std::int64_t wrapped(std::string_view attribute, std::int64_t dim, std::int64_t rank) const;
  Node& node_;
  std::span<const Node* const> args_;
};

/// Throws Error on an extent below 0, and on more than max_dimensions or max_elements. `who` begins the message.
void check_type(std::string_view who, const TensorType&);

/// Returns PyTorch's promoted type of two tensors that have the same priority.
DType promote_types(DType a, DType b);
/// Returns the names of an operation's attributes, in the order of the operation's row.
std::vector<std::string_view> attribute_names(std::string_view op);
std::string print_list(std::span<const std::int64_t>);  // as Python prints a list: "[0, 1]"

}  // namespace deplo::ir::torch
