// Calls in `.pt2` files of definitions that are written in the expression language.
#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "ir/torch/operations/family.h"

namespace deplo::ir::torch {

/// Returns a tensor of a call as a value of the language. A scalar becomes a number.
using ToValue = std::function<python::Value(Id)>;

/// Calls a definition (expression/functions/written.cpp) and returns its results, as nodes of the graph that is read.
std::vector<Id> call_definition(pt2::Call&, std::string_view definition,
                                const std::function<python::Arguments(python::Session&, const ToValue&)>& arguments);

}  // namespace deplo::ir::torch
