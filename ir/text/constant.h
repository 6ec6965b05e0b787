// The value of a constant in the text of a program.
#pragma once

namespace deplo::ir {

/// The value of an f32 constant. Beyond the range of f32 it is infinite. Below the normal numbers it is the nearest
/// f32, which may be 0, as in PyTorch and on every device. Otherwise it is not rounded, because references are in
/// double.
double f32_constant(double);

}  // namespace deplo::ir
