// What tensor copies of the hardware ask for.
#pragma once
#include <string>

#include "ir/stmt_async.h"
#include "ir/types.h"

namespace deplo::ir {

/// Why `d` cannot walk `source`, in one line; "" when it can (CUDA driver API, cuTensorMapEncodeTiled).
std::string tma_fault(const TmaDescriptor& d, const Buffer& source);
/// Where byte `address` of a copy lies under the pattern, which repeats after 8 * swizzle bytes: bits 4 and up are
/// flipped by the bits from 7 on (CUDA C++ Programming Guide, "Tensor Memory Access", swizzle modes).
inline std::int64_t swizzled_address(std::int64_t address, int swizzle) {
  return swizzle == 0 ? address : address ^ (((address / 128) % (swizzle / 16)) * 16);
}

}  // namespace deplo::ir
