// The expression language: the subset of Python and PyTorch that one writes on a command line.
#pragma once
#include <string_view>

#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// `x = torch.randn(4, 8); F.softmax(x, dim=-1)`: statements separated by newlines or `;`, the value of the last
/// expression statement (or else of the last assignment) is the output; a tuple gives several outputs. See
/// docs/expressions.md. `default_dtype` is PyTorch's, which tensors of floats have where nothing names one. Throws Error
/// `where:line:column: expected …, found …`. Never crashes on any bytes.
Graph parse_expression(std::string_view text, std::string_view where = "<expression>",
                       DType default_dtype = DType::f32);

}  // namespace deplo::ir::torch
