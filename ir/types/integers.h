// Integer arithmetic as processors and PyTorch do it, on numbers that a double holds.
#pragma once
#include <span>

#include "ir/op.h"
#include "ir/types/types.h"

namespace deplo::ir {

/// A double holds every integer up to this one. References compute in double, and refuse to calculate beyond it.
inline constexpr double max_exact_integer = 0x1p53;

/// Converts a value to an integer type of kernels. Integers wrap modulo 2^32 in i32. Real numbers lose their fraction.
/// A NaN, or a number that the type cannot hold, becomes the least number of the type, as on x86 (PyTorch leaves this
/// undefined). A narrow integer (i8, u8, i16) keeps the low bits of the i32.
double to_integer(double value, DType from, DType to);
/// Whether an integer is one of a narrow integer type (i8, u8, i16).
inline bool is_held(double integer, DType narrow) { return to_integer(integer, DType::i64, narrow) == integer; }
/// Applies the operation to integers. i32 wraps modulo 2^32. Throws Error if an i64 argument or result of a calculation
/// is beyond max_exact_integer, except for the least number, which to_integer() returns. Comparisons, selections,
/// minima and maxima are exact for all numbers.
double apply_integer(Op, std::span<const double> args, DType);

}  // namespace deplo::ir
