// The expression language: a subset of Python and PyTorch for the command line.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "ir/program.h"
#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// Parses and evaluates statements, which are separated by newlines or `;`: `x = torch.randn(4, 8); F.softmax(x,
/// dim=-1)`. The output is the value of the last expression statement, or else of the last assignment. A tuple gives
/// several outputs. See docs/expressions.md. `default_dtype`: PyTorch's default dtype, of float tensors for which no
/// dtype is given. `sizes`: integers that are assigned to these names before the first statement. `arrays`:
/// names that a user may take for variables, with numbers of elements: the Error of such a name says how to declare it.
/// Throws Error `where:line:column: expected …, found …`. Never crashes, whatever the bytes.
Graph parse_expression(std::string_view text, std::string_view where = "<expression>", DType default_dtype = DType::f32,
                       const Symbols& sizes = {}, const Symbols& arrays = {});

/// The text with `name = value` after each statement outside of functions and blocks that assigns the variable `name`,
/// on the same line. Nullopt if no such statement exists. Throws Error for a text that cannot be parsed.
std::optional<std::string> replace_variable(std::string text, std::string_view where, std::string_view name,
                                            std::string_view value);

}  // namespace deplo::ir::torch
