// Private to compose: index maps that only change the order of elements.
#pragma once
#include <optional>
#include <set>

#include "ir/tensor/tensor.h"

namespace deplo::rules {

/// The map that reads a tensor of the node's shape in the order of the node's source, if the node is an index map that
/// takes the last two dimensions of its source apart, those of extent 1 aside: they are not its own last two, and the
/// last one is not its own. nullopt otherwise.
std::optional<ir::tensor::IndexMap> parting_inverse(const ir::tensor::Graph& graph, const ir::tensor::Node&);

/// Does the map repeat the elements of a transposed input along its last dimension, as a matmul reads its rows? Whether
/// a kernel copies such an input first is for the fusion to decide, so the transposition stays a node of its own.
bool repeats_transposed_rows(const ir::tensor::Graph& graph, const ir::tensor::Node& map);

/// The dimension of the index map that walks the last one of a node in `products`, which the map reads itself or
/// through another map. nullopt: there is none.
std::optional<std::size_t> walks_columns(const ir::tensor::Graph& graph, const ir::tensor::Node& map,
                                         const std::set<int>& products);
/// The map with its dimension `from` moved to before its last one. `shape`: the map's; it is changed, too.
ir::tensor::IndexMap with_columns_late(const ir::tensor::IndexMap& map, ir::Shape& shape, std::size_t from);

}  // namespace deplo::rules
