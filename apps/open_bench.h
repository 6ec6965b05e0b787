// Where the candidates of a tuning run are measured.
#pragma once
#include <memory>
#include <string>

#include "measure/worker/bench.h"

namespace deplo::apps {

/// The device of that name, in a worker process of this program's own (`deplo worker`) that is replaced when a
/// candidate costs it, with builders beside it where the backend has a use for them; or in this process. Throws Error
/// as measure::open_device does.
std::unique_ptr<measure::Bench> open_bench(const std::string& device, bool in_process);

}  // namespace deplo::apps
