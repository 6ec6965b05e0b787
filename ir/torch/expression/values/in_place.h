// Tracks the node of each tensor of Python. Operations in place change tensors, but never change the graph.
#pragma once
#include <map>
#include <vector>

#include "ir/torch/graph.h"

namespace deplo::ir::torch::python {

/// Maps tensors of Python to nodes. A tensor is known by the node that made it, or by a handle. Each write gives the
/// tensor another node. Views share memory: after a write through one view, the other views of the same tensor, and
/// that tensor, are stale and cannot be used. Not thread-safe.
class InPlace {
 public:
  static constexpr Id first_handle = 1 << 24;  // handles are greater than the Ids of all nodes

  /// Returns the current node of a tensor.
  Id current(Id tensor) const;
  /// Whether a write through another view has changed the memory of this tensor.
  bool is_stale(const Builder&, Id tensor) const;
  /// Records that `tensor` was overwritten by `result`, a node that no other tensor has.
  void write(const Builder&, Id tensor, Id result);
  /// Returns a new handle for `node`: a tensor that may share its memory, as a view does.
  Id handle(Id node);

 private:
  std::map<Id, std::size_t> cell_of_;  // nodes and handles → cells_
  std::vector<Id> cells_;              // current nodes
  std::map<Id, Id> written_;           // the origin of views → the last result; older views of that origin are stale
  Id next_handle_ = first_handle;
};

/// Returns the node whose memory a node shows: the first node along its chain of views that is not a view.
Id origin(const Builder&, Id node);

}  // namespace deplo::ir::torch::python
