// Complex numbers of a program. The graph has no complex numbers: a complex tensor is a real tensor with a last
// dimension of its two parts. The expression language defines their functions
// (expression/functions/written_complex.cpp).
#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "ir/torch/pt2/program/call.h"

namespace deplo::ir::torch::pt2 {

/// Returns the results of the function `name` ("aten.polar"), which has complex arguments or results.
/// `is_complex(tensor)`: whether the tensor of this name is complex. Throws Error if the function is not supported for
/// complex numbers.
std::vector<Id> read_complex(Call&, std::string_view name, const std::function<bool(std::string_view)>& is_complex);

}  // namespace deplo::ir::torch::pt2
