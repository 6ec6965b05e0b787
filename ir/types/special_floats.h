// Counts the elements of an array in memory that are no numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/types/types.h"

namespace deplo::ir {

struct SpecialFloats {
  std::size_t nans = 0;      // those of `all_ones` included
  std::size_t all_ones = 0;  // NaNs whose bits are all 1
};

/// `elements`: the array, of type f16, bf16, f32 or f64. It need not be aligned.
SpecialFloats count_special_floats(std::span<const std::uint8_t> elements, DType);

}  // namespace deplo::ir
