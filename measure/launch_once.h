// One launch of a kernel on contents that are given, as bytes.
#pragma once
#include <cstdint>
#include <vector>

#include "measure/device.h"

namespace deplo::measure {

/// The contents of a kernel's buffers, in their order, little endian; empty: not set before the launch, not read after
/// it.
using Contents = std::vector<std::vector<std::uint8_t>>;

/// Builds the kernel and launches its whole grid once on these contents, in place. Returns microseconds by the device's
/// clock; if not `timed`, 0. What the kernel prints goes to the standard output of the process. A block that waits for
/// one that has not begun waits forever: run such a kernel in a process that can be killed
/// (measure/worker/single_launch.h). Throws Error if the kernel wrote outside of a buffer.
Result<double> launch_once(Device&, const KernelCode&, Contents&, bool timed = true);

}  // namespace deplo::measure
