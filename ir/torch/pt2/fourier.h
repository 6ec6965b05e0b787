// Fourier transforms of a program, as products with tables of cosines and sines.
#pragma once
#include <optional>
#include <string_view>

#include "ir/torch/pt2/program/call.h"

namespace deplo::ir::torch::pt2 {

/// Returns the result of the function `name` ("aten._fft_r2c", "aten.fft_fft2"). Complex numbers have the form of
/// complex.h. `complex`: whether the function's argument is complex. Returns nullopt if the function is not a Fourier
/// transform.
std::optional<Id> read_fourier(Call&, std::string_view name, bool complex);

}  // namespace deplo::ir::torch::pt2
