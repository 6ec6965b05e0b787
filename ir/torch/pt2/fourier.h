// Fourier transforms of a program: products with tables of cosines and sines.
#pragma once
#include <optional>
#include <string_view>

#include "ir/torch/pt2/program/call.h"

namespace deplo::ir::torch::pt2 {

/// The result of the function `name` ("aten._fft_r2c", "aten.fft_fft2"); complex numbers are as in complex.h. `complex`:
/// whether its argument is. nullopt: the function is no Fourier transform.
std::optional<Id> read_fourier(Call&, std::string_view name, bool complex);

}  // namespace deplo::ir::torch::pt2
