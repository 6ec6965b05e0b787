// The value of a constant in the text of a program.
#pragma once

namespace deplo::ir {

/// Returns the value of an f32 constant. A number beyond the range of f32 becomes infinite. A number below the normal
/// numbers becomes the nearest f32, which may be 0, as in PyTorch and on every device. Any other number is not rounded,
/// because references compute in double.
double f32_constant(double);

}  // namespace deplo::ir
