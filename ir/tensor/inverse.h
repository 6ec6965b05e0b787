// Inverts index maps that put the elements of a tensor in another order.
#pragma once
#include <optional>
#include <vector>

#include "ir/expr.h"
#include "ir/types/types.h"

namespace deplo::ir::tensor {

/// Returns the place in a view of the element at the coordinates of its source, if view[i, j, …] = source[index]
/// contains every element exactly once; nullopt otherwise. Each dimension of the source must be indexed by a dimension
/// of the view, forwards or backwards, or by its quotient or remainder, as in `source[(j / 4), i, (j % 4)]`. Dimensions
/// of extent 1 may be added or removed.
std::optional<std::vector<Expr>> inverse(const std::vector<Expr>& index, const Shape& source, const Shape& view);

}  // namespace deplo::ir::tensor
