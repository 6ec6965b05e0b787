// Calls on tensors without elements.
#pragma once
#include <optional>

#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// The result of a call that has elements although one of its arguments has none. It is built from calls on tensors
/// that have elements. nullopt if no argument is empty, or if the result is. Throws Error if the operation requires
/// elements.
std::optional<Id> call_on_nothing(Builder&, const Node& call, std::string_view name);

}  // namespace deplo::ir::torch
