// The operations of Torch IR (operation.h) by name, and the types of their results.
#pragma once
#include <span>
#include <string_view>

#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// Checks and normalises the attributes of `call`, sets missing ones to their defaults, and returns the type of the
/// result. `args`: the argument nodes. Throws Error `op: expected …, found …`.
TensorType infer(Node& call, std::span<const Node* const> args);
/// Whether the attribute of an inferred call has its default value, so that print leaves it out.
bool is_default(const Node& call, std::span<const Node* const> args, std::string_view attribute);

/// Broadcasts by NumPy's rule. Throws Error with both shapes.
Shape broadcast(std::string_view op, const Shape&, const Shape&);
/// PyTorch's promotion: bool < int < float. A scalar node does not widen a tensor of its own kind. f16 with bf16 gives
/// f32.
DType promote(const Node& a, const Node& b);

}  // namespace deplo::ir::torch
