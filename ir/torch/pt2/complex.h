// Complex numbers of a program, as rotary embeddings (torch.polar) and Fourier transforms have them. The graph has none: a complex tensor is a
// real one with a last dimension of its two parts.
#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "ir/torch/pt2/program/call.h"

namespace deplo::ir::torch::pt2 {

/// The result of the function `name` ("aten.polar"), of which an argument or the result is complex. `takes(argument)`:
/// whether that argument is. Throws Error if the function does something else to complex numbers.
Id read_complex(Call&, std::string_view name, const std::function<bool(std::string_view)>& takes);

}  // namespace deplo::ir::torch::pt2
