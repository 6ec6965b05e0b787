// Calls on tensors without elements.
#pragma once
#include <optional>

#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// The result of a call that has elements although one of its tensors has none: made of calls on tensors that have
/// some. nullopt where no tensor is empty or the result is. Throws Error for an operation that has no such result.
std::optional<Id> call_on_nothing(Builder&, const Node& call, std::string_view name);

}  // namespace deplo::ir::torch
