// Whether two elements of a buffer share an address.
#pragma once
#include <string>

#include "ir/types.h"

namespace deplo::ir {

/// Why not every index has an address of its own: "elements [0, 1] and [1, 0] at one address"; "": every one has.
/// Extents are from 1 on, strides too (of an extent of 1 anything), addresses up to 2^60. Exact for all but contrived
/// strides: for those a search gives up after a million steps (milliseconds) and says so.
std::string overlap(const Shape& shape, const std::vector<std::int64_t>& strides);

}  // namespace deplo::ir
