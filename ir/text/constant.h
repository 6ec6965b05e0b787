// What a constant in the text of a program stands for.
#pragma once

namespace deplo::ir {

/// Of f32: beyond its range an infinity, below its normal numbers the nearest that it has (which may be 0), as PyTorch
/// and every device make of it. Else the number itself, which is not rounded: references are in double.
double f32_constant(double);

}  // namespace deplo::ir
