#include "engine/tune/open_bench.h"

#include <unistd.h>

#include <utility>

#include "core/file.h"
#include "measure/worker/local_bench.h"
#include "measure/worker/worker_bench.h"

namespace deplo::engine {
namespace {

/// What `deplo worker` (commands_worker.cpp) takes.
measure::WorkerCommand worker(const std::string& role, const std::string& what) {
  return {worker_program().string(), {"worker", "--tuner", std::to_string(getpid()), role, what}};
}

}  // namespace

std::unique_ptr<measure::Bench> open_bench(const std::string& device, bool in_process,
                                           std::function<bool()> cancelled) {
  if (in_process) return std::make_unique<measure::LocalBench>(measure::open_device(device));
  auto bench = std::make_unique<measure::WorkerBench>(
      measure::WorkerBench::Options{worker("--device", device), {}, std::move(cancelled)});
  // On a CPU building would disturb what is being measured.
  if (bench->info().backend == "cuda")
    bench->build_ahead(std::make_unique<measure::BuildPool>(measure::BuildPool::default_workers(),
                                                            worker("--build-for", bench->info().architecture)));
  return bench;
}

}  // namespace deplo::engine
