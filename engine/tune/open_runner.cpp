#include "engine/tune/open_runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "measure/opencl/opencl.h"
#include "measure/ptx/device.h"
#include "measure/worker/local_runner.h"
#include "measure/worker/worker_runner.h"

namespace deplo::engine {
namespace {

constexpr std::size_t max_builders_on_cpu = 16;  // each builder holds LLVM and 260 MB of memory

}  // namespace

measure::worker::WorkerCommand worker_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"worker", "--tuner", std::to_string(getpid())});
  return {worker_program().string(), std::move(arguments)};
}

std::unique_ptr<measure::worker::BuildPool> open_builders(const measure::DeviceInfo& info, const std::string& name) {
  using measure::worker::BuildPool;
  if (info.backend == "cuda")
    return std::make_unique<BuildPool>(BuildPool::default_workers(),
                                       worker_command({"--build-for", info.architecture}));
  if (measure::is_pocl(info))
    return std::make_unique<BuildPool>(std::min(BuildPool::default_workers() + 1, max_builders_on_cpu),
                                       worker_command({"--build-on", name}), measure::worker::Deadlines::of(info));
  return nullptr;
}

std::unique_ptr<measure::worker::Runner> open_runner(const std::string& device, bool in_process,
                                                     std::function<bool()> cancelled,
                                                     std::function<void(const std::string&)> warn) {
  if (!measure::has_times(device))
    throw Error(
        fmt::format("{}: the PTX machine executes kernels but has no times: use it with `deplo run`; commands that "
                    "measure need cuda, opencl or interpreter",
                    device));
  if (in_process) return std::make_unique<measure::worker::LocalRunner>(measure::open_device(device));
  auto runner = std::make_unique<measure::worker::WorkerRunner>(measure::worker::WorkerRunner::Options{
      worker_command({"--device", device}), {}, std::move(cancelled), std::move(warn)});
  if (auto builders = open_builders(runner->info(), device)) runner->build_ahead(std::move(builders));
  return runner;
}

}  // namespace deplo::engine
