// Finds out whether two elements of a buffer share an address.
#pragma once
#include <string>

#include "ir/types/types.h"

namespace deplo::ir {

/// Returns "" if every index has its own address, otherwise the reason: "elements [0, 1] and [1, 0] at one address".
/// Extents must be at least 1, and so must strides (except along an extent of 1). Addresses must be at most 2^60. The
/// result is exact except for contrived strides: their search gives up after a million steps (milliseconds), and the
/// returned text says so.
std::string overlap(const Shape& shape, const std::vector<std::int64_t>& strides);

}  // namespace deplo::ir
