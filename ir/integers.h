// Arithmetic of integers as processors and PyTorch have it, on numbers that a double holds.
#pragma once
#include <span>

#include "ir/op.h"
#include "ir/types.h"

namespace deplo::ir {

/// Doubles hold every integer up to this one, and so do references: beyond it they refuse to calculate.
inline constexpr double most_exact_integer = 0x1p53;

/// What a conversion of a value gives: an integer modulo 2^32 in i32; a real number without its fraction, and where the
/// type does not hold that, or of NaN, the least number of the type, as x86 has it (PyTorch leaves it open).
double to_integer(double value, DType from, DType to);
/// op(args) of integers: i32 modulo 2^32. Throws Error where an i64 that is calculated, or one that it is calculated of,
/// is beyond most_exact_integer. Comparisons, choices, minima and maxima are exact for all numbers.
double apply_integer(Op, std::span<const double> args, DType);

}  // namespace deplo::ir
