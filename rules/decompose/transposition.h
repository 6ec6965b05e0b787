// Private to compose: queries about index maps that only change the order of elements.
#pragma once
#include <optional>
#include <set>

#include "ir/tensor/tensor.h"

namespace deplo::rules {

/// Returns the inverse of the node's index map if the map separates the last two dimensions of its source (dimensions
/// of extent 1 are ignored): they are not both among the node's last two dimensions, and the source's last dimension is
/// not the node's last. The inverse reads a tensor of the node's shape in the order of the node's source. nullopt
/// otherwise.
std::optional<ir::tensor::IndexMap> parting_inverse(const ir::tensor::Graph& graph, const ir::tensor::Node&);

/// Returns whether the map repeats the elements of a transposed input along its last dimension, as a matmul reads its
/// rows. The fusion decides whether a kernel first copies such an input, so the transposition stays a separate node.
bool repeats_transposed_rows(const ir::tensor::Graph& graph, const ir::tensor::Node& map);

/// Returns the dimension of the index map that walks the last dimension of a node in `products`. The map may read that
/// node directly or through other maps. nullopt if there is no such dimension.
std::optional<std::size_t> walks_columns(const ir::tensor::Graph& graph, const ir::tensor::Node& map,
                                         const std::set<int>& products);
/// Returns the map with its dimension `from` moved to just before the last one. `shape` is the map's shape, and is
/// updated.
ir::tensor::IndexMap with_columns_late(const ir::tensor::IndexMap& map, ir::Shape& shape, std::size_t from);

}  // namespace deplo::rules
