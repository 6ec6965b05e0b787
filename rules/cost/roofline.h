// An analytic prior: how long a kernel should take by what it does and what the device can do.
#pragma once
#include "core/target.h"
#include "rules/cost/ceilings.h"
#include "rules/cost/features.h"

namespace deplo::rules {

/// Microseconds. The roofline (Williams, Waterman and Patterson, CACM 52, 2009) with a roof for each unit that work can
/// wait for: arithmetic, loads and stores, the issue of instructions, chains of dependent sums, each level of the
/// memory; the highest counts, on CPUs with the slower memories on top, whose latency little hides. Divided by what the
/// last wave of blocks leaves idle and, on GPUs, by what too few resident threads cannot hide (Volkov, Better
/// performance at lower occupancy, GTC 2010: a quarter is enough where threads have work of their own).
/// Ceilings that are not known are those of a device of 16 FLOPs a byte, and the time is then in arbitrary units. For
/// ranks: a prior, no prediction.
double roofline_us(const Features&, const Target&, const Ceilings&);

}  // namespace deplo::rules
