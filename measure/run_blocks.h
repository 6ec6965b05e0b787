// Tile programs that are lowered block by block, run on a device.
#pragma once
#include <vector>

#include "ir/emit/tile_program/block_kernel.h"
#include "measure/device.h"

namespace deplo::measure {

/// Builds the kernel and launches it once on these arrays, in place. Microseconds of the device's clock; without `timed`
/// the clock is not asked, and they are 0. What the program
/// prints goes to the standard output of the process. Blocks that wait for one that has not begun wait for ever: who
/// cannot tell whether a program does runs it in a process that may be ended. Throws Error for an assertion that failed,
/// and where the kernel wrote beside an array.
Result<double> run_blocks(Device&, const ir::tile_program::BlockKernel&, std::vector<ir::tile_program::Array>& arrays,
                          bool timed = true);

}  // namespace deplo::measure
