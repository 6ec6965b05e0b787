// Private to compose: turns operations on coordinates into expressions of coordinates.
#pragma once
#include <optional>

#include "ir/tensor/tensor.h"

namespace deplo::rules {

/// Returns the value of an Elementwise node as an expression of coordinates, if its arguments (nodes of `graph`) are
/// Coordinates and integer Scalars. nullopt if there is no such expression, or only a large one.
///
///   less_equal(j, i)  ->  (j < (i + 1))
std::optional<ir::Expr> of_coordinates(const ir::tensor::Graph& graph, const ir::tensor::Node&);

}  // namespace deplo::rules
