// Private to compose: operations on coordinates are coordinates.
#pragma once
#include <optional>

#include "ir/tensor/tensor.h"

namespace deplo::rules {

/// The value of an Elementwise node whose arguments are Coordinates and whole Scalars (of nodes of `graph`), as an
/// expression of the coordinates; nullopt where it has none, or a large one.
///
///   less_equal(j, i)  ->  (j < (i + 1))
std::optional<ir::Expr> of_coordinates(const ir::tensor::Graph& graph, const ir::tensor::Node&);

}  // namespace deplo::rules
