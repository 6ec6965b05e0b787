// Splits the keys of an attention into parts if its kernel has fewer blocks than the target has units. Example: a
// decode has one query, and one block per head of keys. The first kernel sums up each part, the second one combines the
// parts.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/target.h"
#include "ir/program.h"
#include "rules/fusion/fuse.h"

namespace deplo::rules::fusion {

/// `attention` is a kernel from place() with one SoftmaxSum. Splits its keys into `wanted` parts, or fewer if a part
/// would have no key of its own.
KeyParts fixed_key_parts(const ir::Program& attention, std::int64_t wanted);
/// The numbers of parts that are worth trying. The first one is the heuristic's: enough parts to keep the target's
/// units busy.
std::vector<KeyParts> key_parts_options(const ir::Program& attention, const Target&);

/// Returns the two kernels. The first one writes a tensor named `tensor`, which the second one reads. Along its first
/// dimension, the tensor holds the greatest score of a part and the part's sums.
std::pair<ir::Program, ir::Program> part_keys(const ir::Program& attention, const KeyParts&, const std::string& tensor);

}  // namespace deplo::rules::fusion
