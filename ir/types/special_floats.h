// Counts the NaNs of an array in memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/types/types.h"

namespace deplo::ir {

struct SpecialFloats {
  std::size_t nans = 0;      // including those of `all_ones`
  std::size_t all_ones = 0;  // NaNs whose bits are all 1
};

/// Counts the NaNs of `elements`, an array of f16, bf16, f32 or f64. The array need not be aligned.
SpecialFloats count_special_floats(std::span<const std::uint8_t> elements, DType);

}  // namespace deplo::ir
