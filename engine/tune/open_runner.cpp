#include "engine/tune/open_runner.h"

#include <unistd.h>

#include <utility>

#include "core/file.h"
#include "measure/worker/local_runner.h"
#include "measure/worker/worker_runner.h"

namespace deplo::engine {
namespace {

/// What `deplo worker` (commands_worker.cpp) takes.
measure::worker::WorkerCommand worker(const std::string& role, const std::string& what) {
  return {worker_program().string(), {"worker", "--tuner", std::to_string(getpid()), role, what}};
}

}  // namespace

std::unique_ptr<measure::worker::Runner> open_runner(const std::string& device, bool in_process,
                                                     std::function<bool()> cancelled,
                                                     std::function<void(const std::string&)> warn) {
  if (in_process) return std::make_unique<measure::worker::LocalRunner>(measure::open_device(device));
  auto runner = std::make_unique<measure::worker::WorkerRunner>(
      measure::worker::WorkerRunner::Options{worker("--device", device), {}, std::move(cancelled), std::move(warn)});
  // On a CPU building would disturb what is being measured.
  if (runner->info().backend == "cuda")
    runner->build_ahead(std::make_unique<measure::worker::BuildPool>(
        measure::worker::BuildPool::default_workers(), worker("--build-for", runner->info().architecture)));
  return runner;
}

}  // namespace deplo::engine
