// Torch IR → Tensor IR: as the rows of the operations say, and what then makes the graph smaller.
#pragma once
#include "ir/tensor/tensor.h"
#include "ir/torch/graph.h"

namespace deplo::rules {

/// Inputs and parameters keep name, order and source, also those that nothing reads. Tensors without elements have no
/// nodes, also where they are outputs: nothing is computed of them (ir/torch/operations/empty.h). Throws Error for what has no
/// Tensor IR (a dtype that is not supported).
ir::tensor::Graph decompose(const ir::torch::Graph&);

/// Index map after index map becomes one; identities go; equal nodes become one; elementwise on scalars is folded;
/// what no output needs goes (not inputs). Means the same.
ir::tensor::Graph compose(const ir::tensor::Graph&);

}  // namespace deplo::rules
