// Which node each tensor of Python is, while operations in place change tensors and graphs do not.
#pragma once
#include <map>
#include <vector>

#include "ir/torch/graph.h"

namespace deplo::ir::torch::python {

/// A tensor of Python is known by the node that made it, or by a handle. Each write gives it another node. Views share
/// memory: after a write through one of them the others, and what they are views of, are stale, and may not be used.
/// Not thread-safe.
class InPlace {
 public:
  static constexpr Id first_handle = 1 << 24;  // handles are above all nodes

  /// The node of a tensor at present.
  Id current(Id tensor) const;
  /// Whether a write through another view has changed the memory of this tensor.
  bool is_stale(const Builder&, Id tensor) const;
  /// `result`: a node that nothing else has as its own.
  void write(const Builder&, Id tensor, Id result);
  /// A handle for `node`. `is_copy`: with memory of its own.
  Id handle(Id node, bool is_copy);

 private:
  struct Cell {
    Id node = 0;
    bool is_copy = false;  // of another tensor with this node, and not written yet
  };
  struct Write {
    Id result = 0;  // nodes from before it are stale
    bool through_view = false;
  };
  const Cell* find(Id tensor) const;

  std::map<Id, std::size_t> cell_of_;  // nodes and handles → cells_
  std::vector<Cell> cells_;
  std::map<Id, Write> written_;  // by the origin of the views
  Id next_handle_ = first_handle;
};

/// The node whose memory a node shows: the first that is no view.
Id origin(const Builder&, Id node);

}  // namespace deplo::ir::torch::python
