// Opens the runner that measures the candidates of a tuning run, and the processes that build kernels.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "measure/worker/build_pool.h"
#include "measure/worker/runner.h"

namespace deplo::engine {

/// Returns the command line of `deplo worker` with these arguments (apps/cli/commands_worker.cpp).
measure::worker::WorkerCommand worker_command(std::vector<std::string> arguments);

/// Opens the device in this process (`in_process`) or in a worker process (`deplo worker`, core/file.h). If a candidate
/// kills the worker, a new worker is started. A worker has builder processes if the backend supports them. `cancelled`
/// is polled while a worker measures. `warn` is called if the device becomes slower. Throws Error like
/// measure::open_device.
std::unique_ptr<measure::worker::Runner> open_runner(const std::string& device, bool in_process,
                                                     std::function<bool()> cancelled,
                                                     std::function<void(const std::string&)> warn);

/// Returns builder processes for the device `name`, or null if its backend has no cache in which it finds what they
/// build.
std::unique_ptr<measure::worker::BuildPool> open_builders(const measure::DeviceInfo&, const std::string& name);

}  // namespace deplo::engine
