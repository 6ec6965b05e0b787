// Runs tile programs that are lowered block by block on a device.
#pragma once
#include <vector>

#include "measure/device.h"
#include "rules/blocks/block_kernel.h"

namespace deplo::measure {

/// Builds the kernel and launches it once on these arrays, in place. Returns microseconds by the device's clock; if not
/// `timed`, 0. The program prints to the standard output of the process. A block that waits for one that has not begun
/// waits forever. If the program may do that, run it in a process that can be killed (measure/worker/blocks.h). Throws
/// Error if an assertion failed, or if the kernel wrote outside of an array.
Result<double> run_blocks(Device&, const rules::BlockKernel&, std::vector<ir::tile_program::Array>& arrays,
                          bool timed = true);

}  // namespace deplo::measure
