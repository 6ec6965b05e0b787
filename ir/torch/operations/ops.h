// The operations of Torch IR (operation.h) by name, and the types that they give.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// Every operation's name, sorted.
std::vector<std::string_view> op_names();
bool is_op(std::string_view name);
/// Fills in defaults, normalises, checks, infers: the attributes of `call` are replaced. `args` are the argument nodes.
/// Throws Error `op: expected …, found …`.
TensorType infer(Node& call, std::span<const Node* const> args);
/// Whether the attribute of an inferred call has the value that it would have if it were not given (print leaves it
/// out).
bool is_default(const Node& call, std::span<const Node* const> args, std::string_view attribute);

/// NumPy's rule; throws Error naming both shapes.
Shape broadcast(std::string_view op, const Shape&, const Shape&);
/// PyTorch's promotion: bool < int < float; a rank-0 scalar node of a tensor's own kind does not widen it; f16 with
/// bf16 gives f32.
DType promote(const Node& a, const Node& b);

}  // namespace deplo::ir::torch
