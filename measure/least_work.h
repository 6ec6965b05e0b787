// What no schedule of a kernel can avoid, counted so low that a compiler cannot do with less.
#pragma once
#include "ir/program.h"

namespace deplo::measure {

/// Of verified Loop IR. Unlike ir::work: an f32 operation counts once for each value of the axes that its operands
/// depend on (a compiler moves the rest out of the loops), a buffer only where an access walks all of it (a gather
/// reads a part), and what stands under a condition not at all.
ir::Work least_work(const ir::Program& loop);

}  // namespace deplo::measure
