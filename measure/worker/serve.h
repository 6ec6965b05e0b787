// The main functions of worker processes.
#pragma once
#include <sys/types.h>

#include <functional>
#include <memory>

#include "measure/device.h"

namespace deplo::measure::worker {

/// Measures on the device until the tuner closes its end of the socket, which ends the process. Returns the exit code
/// if `open` throws; the tuner receives that Error. `tuner` is the parent process; this process dies with it.
int serve_device(pid_t tuner, const std::function<std::unique_ptr<Device>()>& open);

/// Builds candidates ahead until the tuner closes its end of the socket. `compile` must store its result in the cache
/// where the device's build finds it.
int serve_builds(pid_t tuner, const std::function<Result<Resources>(const KernelCode&)>& compile);

/// Like serve_device(), but launches each kernel once (single_launch.h).
int serve_launches(pid_t parent, const std::function<std::unique_ptr<Device>()>& open);

}  // namespace deplo::measure::worker
