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

/// Maps tensors of Python to nodes. A tensor is known by the node that made it. Each write gives the tensor another
/// node. Views share memory: after a write through one of them, the other tensors with the same memory are stale. They
/// get a new node when they are used next. Not thread-safe.
class InPlace {
 public:
  /// Returns the last node that the tensor had.
  Id current(Id tensor) const;
  /// Whether another tensor has overwritten memory of this one since it got its current node.
  bool is_stale(const Builder&, Id tensor);
  /// Returns the views of a tensor's current node.
  Views views(const Builder&, Id tensor);
  /// Returns the node of a memory's whole content. `origin`: of its views. nullopt if the content is not known.
  std::optional<Id> content(Id origin) const;
  /// Whether a node from `first` on has overwritten a memory. `origin`: of its views.
  bool is_written(Id origin, Id first) const;
  /// Gives a tensor another node, which is no write: a stale tensor its new node, `x.t_()` the transposed view, or
  /// `x.data = y` the node of y, with which x shares memory from here on.
  void refresh(Id tensor, Id node);
  /// Records that `tensor` was overwritten by `result`, a node that no other tensor has. `content`: the whole content
  /// of its memory now, a node that is no view; nullopt if it is not known.
  void write(const Builder&, Id tensor, Id result, std::optional<Id> content);
  /// Whether the node's tensor is a view of another tensor, or may be one.
  bool is_view(const Builder& builder, Id node) { return strides_.sharing(builder, node) != Sharing::own; }
  Strides& strides() { return strides_; }

 private:
  struct Memory {
    std::optional<Id> content;
    Id since = 0;  // older nodes do not have the content
  };
  Id& cell(Id tensor);

  std::map<Id, std::size_t> cell_of_;    // the node that made a tensor → cells_
  std::vector<Id> cells_;                // the nodes that the tensors have now
  std::map<Id, std::size_t> memory_of_;  // origins of views → memories_, once they were written
  std::vector<Memory> memories_;
  std::map<Id, Id> replaced_;  // the result of a write through a view → the view's node before
  Strides strides_;
};

}  // namespace deplo::ir::torch::python
