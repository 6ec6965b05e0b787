// What a program of one's own must know to launch a kernel that `deplo compile` prints.
#pragma once
#include <string>

#include "core/target.h"
#include "measure/device.h"

namespace deplo::apps {

/// Returns comment lines for the kernel's source: its blocks, threads, dynamic shared memory (in bytes) and parameters
/// in order, each tensor map (in elements), which buffers must be 0 before a launch or are changed in place by it, and
/// the compiler's options. Returns "" for a user's own kernel, whose text says its launch.
std::string launch_comment(const measure::KernelCode&, const Target&);

}  // namespace deplo::apps
