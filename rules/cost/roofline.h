// An analytic prior: how long a kernel should take by what it does and what the device can do.
#pragma once
#include "core/target.h"
#include "rules/cost/ceilings.h"
#include "rules/cost/features.h"

namespace deplo::rules {

/// Microseconds. On CPUs the roofline (Williams, Waterman and Patterson, CACM 52, 2009) with a roof for each unit that
/// work can wait for: arithmetic, loads and stores, the issue of instructions, chains of dependent sums; the highest
/// counts, with the slower memories on top, whose latency little hides, divided by what the last wave of blocks leaves
/// idle. On GPUs the warps of a unit queue for the same roofs: with many warps the highest counts, with few their sum
/// and the latencies. Blocks run in rounds, of which the last leaves units idle; each launch costs, also that which
/// zeroes an output that is added to. Ceilings that are not known are those of a device of 16 FLOPs a byte (a CPU's
/// time is then in arbitrary units, a GPU's that of its units at a usual clock). For ranks: a prior, no prediction.
double roofline_us(const Features&, const Target&, const Ceilings&);

}  // namespace deplo::rules
