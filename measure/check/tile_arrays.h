// Converts arrays of tile programs to numbers that can be compared and written to files.
#pragma once
#include <vector>

#include "ir/tile_program/interpret/interpret.h"
#include "ir/types/numbers.h"

namespace deplo::measure {

/// Returns the type in which elements are compared and written to files: their own type if kernels have it, else i32 or
/// f32.
ir::DType comparable_dtype(ir::DType);
/// Returns the elements of an array, converted to that type.
ir::Numbers numbers_of(const ir::tile_program::Array&, ir::DType);

/// Returns, for each number, the largest difference from it that rounding explains. `reference` is rounded to the
/// array's type `stored`; if that has 16 bits, a sum in f32 may round to the next number. `reference` also includes the
/// program's intermediate roundings, such as those of an attention's weights. A device may round these values
/// differently or not at all, so `exact` is computed without intermediate roundings (Launch::exact16).
std::vector<double> rounding_of(const std::vector<double>& reference, const std::vector<double>& exact,
                                ir::DType stored);

}  // namespace deplo::measure
