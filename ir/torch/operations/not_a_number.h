// Tensors of NaN.
#pragma once
#include <string_view>

#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// Returns a tensor of NaN, computed as 0 / 0, because a kernel cannot have a NaN constant. The type has floats.
Id not_a_number(Builder&, const TensorType&, std::string_view name);

}  // namespace deplo::ir::torch
