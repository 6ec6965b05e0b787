// Calls along a dimension of a tensor that has none.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// Builds a call that names a dimension although its arguments have none. In PyTorch such tensors have the dimensions
/// -1 and 0 there. So the call gets vectors of one element, and its result loses that dimension. Returns nullopt for
/// other calls.
std::optional<Id> call_without_dimensions(Builder&, std::string_view op, const std::vector<Id>& args, const Attributes&,
                                          std::string_view name);

}  // namespace deplo::ir::torch
