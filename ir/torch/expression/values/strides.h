// The strides of PyTorch's tensors. They decide whether a reshape shares memory with its argument or copies it.
#pragma once
#include <optional>
#include <set>
#include <vector>

#include "ir/torch/graph.h"

namespace deplo::ir::torch::python {

/// Whether the tensor of a node shares memory with the node's first argument.
enum class Sharing { own, shared, unknown };

/// Determines strides from the operations of a graph. The strides of most results are those of contiguous tensors if
/// all arguments are contiguous, and otherwise not known. Not thread-safe.
class Strides {
 public:
  /// Returns the strides of a node's tensor, in elements; nullopt if they are not known.
  const std::optional<Shape>& of(const Builder&, Id node);
  /// Records that a node is in memory as another node is, because it has overwritten its tensor.
  void set_as(const Builder&, Id node, Id other);
  Sharing sharing(const Builder&, Id node);
  /// Records that a node is a view, even if it is a reshape that would copy.
  void share(Id node) { shared_.insert(node); }
  bool is_shared(Id node) const { return shared_.contains(node); }
  /// Records that a node is the result of an elementwise function of PyTorch. If a tensor with the result's dimensions
  /// is not contiguous, the result keeps the order of dimensions in memory.
  void set_elementwise(const Builder&, Id node, const std::vector<Id>& args);
  /// Records the strides of a node. `may_share`: it is not known whether it shares memory with its first argument.
  void set_strided(const Builder&, Id node, const Shape& strides, bool may_share);
  /// Returns the position of a view's first element after that of its argument; nullopt if it is not known.
  std::optional<std::int64_t> offset(const Builder&, Id view);
  /// Whether a node's tensor has these strides, other than along dimensions of one element; nullopt if that is not
  /// known.
  std::optional<bool> lies_as(const Builder&, Id node, const Shape& strides);
  /// Whether a node's tensor is contiguous; nullopt if that is not known.
  std::optional<bool> is_contiguous(const Builder&, Id node);
  /// Whether a node's tensor has a stride of 0, so that elements share memory; nullopt if its strides are not known.
  std::optional<bool> repeats(const Builder&, Id node);

 private:
  std::vector<std::optional<Shape>> known_;  // of the first nodes
  std::set<Id> shared_;
  std::set<Id> may_share_;
};

}  // namespace deplo::ir::torch::python
