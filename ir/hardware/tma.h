// The requirements of the hardware's tensor copies (TMA). All limits of TMA are here.
#pragma once
#include <cstdint>
#include <string>

#include "ir/kernel.h"
#include "ir/types/types.h"

namespace deplo::ir::tma {

// CUDA driver API, cuTensorMapEncodeTiled. `max_extent`: largest extent of a box, in elements. `granule`: the rows of
// a box and the source's strides are multiples of this many bytes.
inline constexpr std::int64_t max_extent = 256, granule = 16;
// CUDA C++ Programming Guide, "Tensor Memory Access". `alignment`: of a box in shared memory, in bytes. `pattern_rows`:
// a swizzle pattern repeats after this many rows, to which a swizzled box is aligned.
inline constexpr std::int64_t alignment = 128, pattern_rows = 8;

/// Whether a swizzle pattern of this many bytes exists (CUDA driver API, CUtensorMapSwizzle). wgmma's descriptors use
/// the same patterns.
constexpr bool is_pattern(std::int64_t swizzle) { return swizzle == 32 || swizzle == 64 || swizzle == 128; }
/// Why `d` cannot walk `source` (cuTensorMapEncodeTiled), in one line; "" if it can.
std::string fault(const TmaDescriptor& d, const Buffer& source);
/// The address to which the pattern moves byte `address` of a copy: the bits from 7 on flip the bits from 4 on (the
/// guide, swizzle modes). Only the sanitizer uses this function. stage_layout.h computes the same address from rows and
/// columns, so that each checks the other.
inline std::int64_t swizzled_address(std::int64_t address, int swizzle) {
  return swizzle == 0 ? address : address ^ (((address / 128) % (swizzle / 16)) * 16);
}

}  // namespace deplo::ir::tma
