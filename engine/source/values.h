// The values of a graph's inputs and parameters.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/types/types.h"
#include "ir/types/value_source.h"

namespace deplo::engine {

/// Returns the values of a tensor, row-major. Values drawn from a fill are the same for the same seed and name.
/// Integers are rounded towards zero; booleans are 0 and 1. Throws Error that names the tensor if a file does not have
/// as many values as the shape.
ir::Numbers source_values(const ir::ValueSource&, std::string_view name, const ir::TensorType&, std::uint64_t seed);

/// Permutes dimensions: dimension d of the result is dimension permutation[d] of `values`, whose shape is `shape`. Both
/// are row-major.
ir::Numbers permute(const ir::Numbers& values, const ir::Shape& shape, const std::vector<int>& permutation);

}  // namespace deplo::engine
