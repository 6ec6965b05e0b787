// Draws staged buffers in the banks of shared memory, for `deplo compile --smem`.
#pragma once
#include <string>

#include "core/target.h"
#include "ir/program.h"

namespace deplo::rules {

/// Draws each staged buffer of a Tile IR program: its layout, the banks of its first rows, and, for the fill and each
/// Load, the wavefronts of a warp and the threads that meet in a bank. At most 100 columns wide, except for lines that
/// quote an index. On targets without warps: the layouts only.
std::string draw_banks(const ir::Program& tile, const Target&);

}  // namespace deplo::rules
