// Where the candidates of a tuning run are measured.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "measure/worker/runner.h"

namespace deplo::engine {

/// The device of that name, in a worker process (`deplo worker`, core/file.h) that is replaced when a candidate costs
/// it, with builders beside it where the backend has a use for them; or in this process. `cancelled` is polled while a
/// worker measures; `warn` is told of a device that became slower. Throws Error as measure::open_device does.
std::unique_ptr<measure::worker::Runner> open_runner(const std::string& device, bool in_process,
                                                     std::function<bool()> cancelled,
                                                     std::function<void(const std::string&)> warn);

}  // namespace deplo::engine
