// Lowers Torch IR to Tensor IR, as the table of operations specifies. Further passes then simplify the graph.
#pragma once
#include "ir/tensor/tensor.h"
#include "ir/torch/graph.h"

namespace deplo::rules {

/// Inputs and parameters keep their name, order and source, even if nothing reads them. Tensors without elements have
/// no nodes, even if they are outputs, because there is nothing to compute (ir/torch/operations/empty.h). Throws Error
/// if Tensor IR cannot express a node (for example an unsupported dtype).
ir::tensor::Graph decompose(const ir::torch::Graph&);

/// Merges chains of index maps, removes identities, merges equal nodes, folds elementwise operations on scalars, and
/// removes nodes that no output needs (except inputs). The meaning of the graph stays the same.
ir::tensor::Graph compose(const ir::tensor::Graph&);

}  // namespace deplo::rules
