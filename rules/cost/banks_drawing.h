// A drawing of staged buffers in the banks of shared memory, for `deplo compile --smem`.
#pragma once
#include <string>

#include "core/target.h"
#include "ir/program.h"

namespace deplo::rules {

/// Of a Tile IR program: for each staged buffer its layout, the banks that its first rows lie in, and for the fill and
/// each Load the wavefronts of a warp, with the threads that meet in a bank. At most 100 columns wide but for what
/// quotes an index. On targets without warps the layouts alone.
std::string draw_banks(const ir::Program& tile, const Target&);

}  // namespace deplo::rules
