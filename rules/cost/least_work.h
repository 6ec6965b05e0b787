// The work that no schedule of a kernel can avoid. It is a lower bound: no compiler can do with less.
#pragma once
#include <cstdint>

#include "ir/program.h"
#include "rules/cost/ceilings.h"

namespace deplo::rules {

/// Returns the least work of `loop`, which must be verified Loop IR. Unlike ir::work:
/// - An f32 operation counts once for each value of the axes that its operands depend on, because a compiler moves the
///   rest out of the loops.
/// - A buffer counts only if an access walks all of it; a gather reads only a part.
/// - Statements under a condition do not count.
/// `matrices`: whether instructions other than those of fp32 may multiply matrices. Then the FLOPs of a kernel with
/// such products do not count, because ceilings are those of fp32.
ir::Work least_work(const ir::Program& loop, bool matrices = false);

/// Returns how many bytes of each launch may never leave the last cache, of `l2_bytes`: at the start of a batch of
/// `batch` launches it may hold what the batch reads, and at its end what the batch wrote.
double cached_bytes(std::int64_t l2_bytes, std::int64_t batch);

/// Returns the minimum time in microseconds of one launch with such work, out of a batch of `batch` launches. An
/// unknown ceiling bounds nothing.
double least_us(const ir::Work& min_work, const Ceilings&, std::int64_t l2_bytes, std::int64_t batch);

}  // namespace deplo::rules
