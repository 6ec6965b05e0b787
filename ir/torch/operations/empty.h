// Calls on tensors without elements.
#pragma once
#include <optional>

#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// Builds the result of a call that has elements although one of its arguments has none. The result is built from calls
/// on tensors that have elements. Returns nullopt if no argument is empty, or if the result is empty. Throws Error if
/// the operation requires elements.
std::optional<Id> call_on_nothing(Builder&, const Node& call, std::string_view name);

}  // namespace deplo::ir::torch
