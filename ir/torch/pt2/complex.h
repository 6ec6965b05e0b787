// Complex numbers of a program, as in rotary embeddings (torch.polar) and Fourier transforms. The graph has no complex
// numbers: a complex tensor is a real tensor with a last dimension of its two parts.
#pragma once
#include <functional>
#include <string_view>

#include "ir/torch/pt2/program/call.h"

namespace deplo::ir::torch::pt2 {

/// Returns the result of the function `name` ("aten.polar"), which has a complex argument or result. `takes(argument)`:
/// whether that argument is complex. Throws Error if the function is not supported for complex numbers.
Id read_complex(Call&, std::string_view name, const std::function<bool(std::string_view)>& takes);

}  // namespace deplo::ir::torch::pt2
