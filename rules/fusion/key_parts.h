// The keys of an attention in parts, for kernels with fewer blocks than the target has units: a decode has one query, and
// its blocks are the heads of keys. The first kernel sums up each part by itself, the second one combines the parts.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include "core/target.h"
#include "ir/program.h"
#include "rules/fusion/fuse.h"

namespace deplo::rules::fusion {

/// Of a kernel by place() with one SoftmaxSum. `wanted` parts, or fewer where one would have no key of its own; 0: as many
/// as the target has units for.
KeyParts choose_key_parts(const ir::Program& attention, std::int64_t wanted, const Target&);

/// The two kernels. The first one writes the parts, a tensor of this name, which the second one reads: the greatest score
/// of each part and its sums, along the first dimension.
std::pair<ir::Program, ir::Program> part_keys(const ir::Program& attention, const KeyParts&, const std::string& tensor);

}  // namespace deplo::rules::fusion
