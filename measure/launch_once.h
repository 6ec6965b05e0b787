// Launches a kernel once on given contents of its buffers.
#pragma once
#include <cstdint>
#include <vector>

#include "measure/device.h"

namespace deplo::measure {

/// The bytes of a kernel's buffers, in the buffers' order, little endian. A buffer with an empty entry is not set
/// before the launch and not read after it.
using Contents = std::vector<std::vector<std::uint8_t>>;

/// Builds the kernel and launches its whole grid once on these contents, in place. Returns microseconds by the device's
/// clock; if not `timed`, 0. What the kernel prints goes to the standard output of the process. If a block waits for a
/// block that has not begun, the launch may never end: run such a kernel in a process that can be killed
/// (measure/worker/single_launch.h). Throws Error if the kernel wrote outside of a buffer.
Result<double> launch_once(Device&, const KernelCode&, Contents&, bool timed = true);

}  // namespace deplo::measure
