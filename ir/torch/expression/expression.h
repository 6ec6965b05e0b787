// The expression language: a subset of Python and PyTorch for the command line.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "ir/program.h"
#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// Parses and evaluates statements that are separated by newlines or `;`: `x = torch.randn(4, 8); F.softmax(x,
/// dim=-1)`. The output is the value of the last expression statement. Without one, it is `Model(*get_init_inputs())
/// (*get_inputs())` if the text defines these three, as KernelBench's files do, or else the value of the last
/// assignment. A tuple gives several outputs. See docs/expressions.md. `default_dtype`: PyTorch's default
/// dtype, used for float tensors without a given dtype. `sizes`: integers that are assigned to these names before the
/// first statement. `arrays`: names that a user may mistake for variables, with numbers of elements; the Error about
/// such a name says how to declare it. Throws Error `where:line:column: expected …, found …`. Never crashes, whatever
/// the input.
Graph parse_expression(std::string_view text, std::string_view where = "<expression>", DType default_dtype = DType::f32,
                       const Symbols& sizes = {}, const Symbols& arrays = {});

/// Returns the text with `name = value` added after each statement that assigns the variable `name` outside of
/// functions and blocks, on the same line. Returns nullopt if no such statement exists. Throws Error if the text cannot
/// be parsed.
std::optional<std::string> replace_variable(std::string text, std::string_view where, std::string_view name,
                                            std::string_view value);

}  // namespace deplo::ir::torch
