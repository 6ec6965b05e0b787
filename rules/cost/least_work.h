// What no schedule of a kernel can avoid, counted so low that a compiler cannot do with less.
#pragma once
#include <cstdint>

#include "ir/program.h"
#include "rules/cost/ceilings.h"

namespace deplo::rules {

/// Of verified Loop IR. Unlike ir::work: an f32 operation counts once for each value of the axes that its operands
/// depend on (a compiler moves the rest out of the loops), a buffer only where an access walks all of it (a gather
/// reads a part), and what stands under a condition not at all. `matrices`: other instructions than those of fp32 may
/// multiply matrices; then nothing of a kernel that has such products counts, because ceilings are those of fp32.
ir::Work least_work(const ir::Program& loop, bool matrices = false);

/// Microseconds that a launch with such work takes at least, one of a batch: at its start the last cache of `l2_bytes`
/// may hold what the batch reads, at its end what it wrote. A ceiling that is not known bounds nothing.
double least_us(const ir::Work& least, const Ceilings&, std::int64_t l2_bytes, std::int64_t batch);

}  // namespace deplo::rules
