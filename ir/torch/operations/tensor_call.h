// The input of an operation's decomposition.
#pragma once
#include <vector>

#include "ir/tensor/emitter.h"
#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// A call whose arguments are already nodes of Tensor IR.
struct TensorCall {
  const Graph& graph;
  const Node& node;
  std::vector<int> args;  // nodes of Tensor IR

  const Node& arg(std::size_t i) const { return graph.nodes[static_cast<std::size_t>(node.args[i])]; }
  const Shape& shape() const { return node.type.shape; }
  DType dtype() const { return node.type.dtype; }
};

}  // namespace deplo::ir::torch
