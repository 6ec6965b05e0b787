// An analytic prior: how long a kernel should take, given its work and the device's rates.
#pragma once
#include "core/target.h"
#include "rules/cost/ceilings.h"
#include "rules/cost/features.h"

namespace deplo::rules {

/// Returns the estimated time in microseconds. It is a prior for ranking kernels, not a prediction.
/// On CPUs: the roofline (Williams, Waterman and Patterson, CACM 52, 2009) with a roof for each unit that work can wait
/// for: arithmetic, loads and stores, the issue of instructions, chains of dependent sums. The highest roof counts. The
/// time of the slower memories is added, because little hides their latency. The sum is scaled up by the idle part of
/// the last wave of blocks.
/// On GPUs: the warps of a unit queue for the same roofs. With many warps the highest roof counts, with few warps the
/// sum of the roofs and the latencies. Blocks run in rounds, and the last round leaves units idle. Each launch has a
/// cost. Zeroing an output that is added to is a separate launch.
/// Unknown ceilings are replaced by those of a device with 16 FLOPs per byte. The time is then in arbitrary units for a
/// CPU; for a GPU it assumes the target's units at a usual clock.
double roofline_us(const Features&, const Target&, const Ceilings&);

}  // namespace deplo::rules
