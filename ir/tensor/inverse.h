// The inverse of index maps that put the elements of a tensor in another order.
#pragma once
#include <optional>
#include <vector>

#include "ir/expr.h"
#include "ir/types/types.h"

namespace deplo::ir::tensor {

/// The place in a view of the element at the coordinates of its source, if view[i, j, …] = source[index] has every
/// element once: each dimension of the view is one of the source, from either end, or its quotient and remainder are,
/// as in `source[(j / 4), i, (j % 4)]`. nullopt otherwise. Dimensions of extent 1 may come and go.
std::optional<std::vector<Expr>> inverse(const std::vector<Expr>& index, const Shape& source, const Shape& view);

}  // namespace deplo::ir::tensor
