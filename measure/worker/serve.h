// The inside of a worker process.
#pragma once
#include <sys/types.h>

#include <functional>
#include <memory>

#include "measure/device.h"

namespace deplo::measure::worker {

/// Measures on the device until the tuner closes its end, which is the end: returns the exit code. `tuner`: the process
/// with which this one dies. What `open` throws is told to the tuner.
int serve_device(pid_t tuner, const std::function<std::unique_ptr<Device>()>& open);

/// Builds ahead, until the tuner closes its end. `compile` leaves what it made where the device's build will find it.
int serve_builds(pid_t tuner, const std::function<Result<Resources>(const KernelCode&)>& compile);

/// Runs tile programs block by block (blocks.h), as serve_device().
int serve_blocks(pid_t parent, const std::function<std::unique_ptr<Device>()>& open);

}  // namespace deplo::measure::worker
