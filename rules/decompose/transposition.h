// Private to compose: index maps that only change the order of dimensions.
#pragma once
#include "ir/tensor/tensor.h"

namespace deplo::rules {

/// Does the node only read another one with its dimensions in another order? Dimensions of extent 1 may come and go.
bool is_transposition(const ir::tensor::Graph& graph, const ir::tensor::Node&);
/// Does the transposition take apart the last two dimensions of the node that it reads, those of extent 1 aside? They
/// are not its own last two, and the last one is not its own.
bool parts_rows_and_columns(const ir::tensor::Graph& graph, const ir::tensor::Node& transposition);
/// The map that reads a tensor of the transposition's shape in the order of its source, whose shape is `before`.
ir::tensor::IndexMap inverse(const ir::tensor::Node& transposition, const ir::Shape& before);

}  // namespace deplo::rules
