// What tensor copies of the hardware ask for: the one place for their limits.
#pragma once
#include <cstdint>
#include <string>

#include "ir/kernel.h"
#include "ir/types.h"

namespace deplo::ir::tma {

// CUDA driver API, cuTensorMapEncodeTiled: elements of a box each way; bytes that its rows and the source's strides are
// a multiple of.
inline constexpr std::int64_t most_extent = 256, granule = 16;
// CUDA C++ Programming Guide, "Tensor Memory Access": bytes that a box in shared memory is aligned to; rows after which
// a swizzle pattern repeats, and so what its box is aligned to.
inline constexpr std::int64_t alignment = 128, pattern_rows = 8;

/// Bytes of a pattern (CUDA driver API, CUtensorMapSwizzle), which wgmma's descriptors name too.
constexpr bool is_pattern(std::int64_t swizzle) { return swizzle == 32 || swizzle == 64 || swizzle == 128; }
/// Why `d` cannot walk `source`, in one line; "" when it can (cuTensorMapEncodeTiled).
std::string fault(const TmaDescriptor& d, const Buffer& source);
/// Where byte `address` of a copy lies under the pattern: bits 4 and up are flipped by the bits from 7 on (the guide,
/// swizzle modes). For the sanitizer alone: stage_layout.h says the same of rows and columns, and each checks the
/// other.
inline std::int64_t swizzled_address(std::int64_t address, int swizzle) {
  return swizzle == 0 ? address : address ^ (((address / 128) % (swizzle / 16)) * 16);
}

}  // namespace deplo::ir::tma
