// Tracks the node of each tensor of Python. Operations in place change tensors, but never change the graph.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "ir/torch/expression/values/strides.h"
#include "ir/torch/graph.h"

namespace deplo::ir::torch::python {

/// The views through which a tensor shows the memory of another one.
struct Views {
  Id origin = 0;          // a node that is no view
  std::vector<Id> nodes;  // the views, from the origin to the tensor
  bool known = true;      // false: one of them may have been a copy
};

/// Maps tensors of Python to nodes. A tensor is known by the node that made it, or by a handle. Each write gives the
/// tensor another node. Views share memory: after a write through one of them, the other tensors with the same memory
/// are stale. They get a new node when they are used next. Not thread-safe.
class InPlace {
 public:
  static constexpr Id first_handle = 1 << 24;  // handles are greater than the Ids of all nodes

  /// Returns the last node that the tensor had.
  Id current(Id tensor) const;
  /// Whether another tensor has overwritten memory of this one since it got its current node.
  bool is_stale(const Builder&, Id tensor);
  /// Returns the views of a tensor's current node.
  Views views(const Builder&, Id tensor);
  /// Returns the node of a memory's whole content. `origin`: of its views. nullopt if the content is not known.
  std::optional<Id> content(Id origin) const;
  /// Gives a tensor another node, which is no write: a stale tensor its new node, or `x.t_()` the transposed view.
  void refresh(Id tensor, Id node);
  /// Gives a tensor the node of another tensor, with which it shares memory from here on.
  void replace(Id tensor, Id node);
  /// Records that `tensor` was overwritten by `result`, a node that no other tensor has. `content`: the whole content of
  /// its memory now, a node that is no view; nullopt if it is not known.
  void write(const Builder&, Id tensor, Id result, std::optional<Id> content);
  /// Returns a tensor with the values of a node, in contiguous memory; nullopt if that must be a copy. If it is not
  /// known whether the tensor needs a copy, returns a handle.
  std::optional<Id> contiguous(const Builder&, Id node);
  /// Whether the node's tensor is a view of another tensor, or may be one.
  bool is_view(const Builder& builder, Id node) { return strides_.sharing(builder, node) != Sharing::own; }
  /// Whether elements of a node's tensor share memory with each other; nullopt if that is not known.
  std::optional<bool> repeats(const Builder& builder, Id node) { return strides_.repeats(builder, node); }

  /// Records that a node is a view, even if it looks like a reshape that copies.
  void share(Id node) { strides_.share(node); }
  bool is_shared(Id node) const { return strides_.is_shared(node); }

 private:
  struct Cell {
    Id node = 0;
    bool may_be_copy = false;  // of the tensor whose node it was at first
  };
  struct Memory {
    std::optional<Id> content;
    Id since = 0;  // older nodes do not have the content
  };
  Cell& cell(Id tensor);

  std::map<Id, std::size_t> cell_of_;  // nodes and handles → cells_
  std::vector<Cell> cells_;
  std::map<Id, std::size_t> memory_of_;  // origins of views → memories_, once they were written
  std::vector<Memory> memories_;
  std::map<Id, Id> replaced_;  // the result of a write through a view → the view's node before
  Strides strides_;
  Id next_handle_ = first_handle;
};

}  // namespace deplo::ir::torch::python
