// `deplo worker`: the process in which candidates run. deplo starts it itself; users do not.
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "measure/cuda/compiler/compile.h"
#include "measure/device.h"
#include "measure/opencl/opencl.h"
#include "measure/worker/serve.h"

namespace deplo::apps {
namespace {

// Seconds after which NVRTC gives up a build, long before the tuner kills the process. Most builds that take longer
// never end.
constexpr double build_seconds = 5;

struct WorkerFlags {
  std::string device, build_for, build_on;
  bool once = false;
  std::int64_t tuner = 0;
};

/// Builds candidates on the device, so that the device's cache on disk has them. The built kernels themselves are
/// dropped.
int serve_builds_on(const std::string& name, pid_t tuner) {
  measure::leave_pocl_workers_unbound();
  const auto device = measure::open_device(name);
  return measure::worker::serve_builds(tuner, [&](const measure::KernelCode& code) -> Result<measure::Resources> {
    const auto built = device->build(code);
    if (!built.ok()) return built.failure();
    return built.value()->resources();
  });
}

Result<measure::Resources> compile_for(const std::string& architecture, const measure::KernelCode& code) {
  measure::cuda::CompileOptions options;
  options.seconds = build_seconds;
  if (code.launch) options.more = code.launch->options;
  options.nvrtc = &measure::cuda::Nvrtc::for_machine();  // the same NVRTC as the device that will load the code
  auto cubin = measure::cuda::compile_cubin(code.source, architecture, options);
  if (!cubin.ok()) return cubin.failure();
  return cubin.value().resources;
}

int run_worker(const WorkerFlags& flags) {
  const auto tuner = static_cast<pid_t>(flags.tuner);
  if (!flags.build_for.empty())
    return measure::worker::serve_builds(
        tuner, [&](const measure::KernelCode& code) { return compile_for(flags.build_for, code); });
  if (!flags.build_on.empty()) return serve_builds_on(flags.build_on, tuner);
  require(flags.device, "--device NAME, --build-for ARCHITECTURE or --build-on NAME");
  if (flags.once) return measure::worker::serve_launches(tuner, [&] { return measure::open_device(flags.device); });
  return measure::worker::serve_device(tuner, [&] { return measure::open_device(flags.device); });
}

}  // namespace

void add_worker(Command command, int& exit_code) {
  auto flags = std::make_shared<WorkerFlags>();
  command.hide();
  command.describe(
      "Run candidates for `deplo tune`, which survives if one hangs or crashes.\n`deplo tune` starts workers itself, "
      "with a socket as descriptor 3 and a shared page as 4 (docs/measurement.md, Isolation).");
  command.option("--device", flags->device, "NAME", "Measure on this device.");
  command.flag("--once", flags->once,
               "Launch each kernel once on the device, for `deplo run` of a tile program that runs block by block.");
  command.option("--build-for", flags->build_for, "ARCHITECTURE",
                 "Compile CUDA for this architecture, and fill the cache of cubins.");
  command.option("--build-on", flags->build_on, "NAME", "Build for this device of PoCL, and fill PoCL's cache.");
  command.option("--tuner", flags->tuner, "NUMBER", "The id of the parent process.")
      .between(std::int64_t{1}, std::int64_t{std::numeric_limits<pid_t>::max()});
  command.run([flags, &exit_code] { exit_code = run_worker(*flags); });
}

}  // namespace deplo::apps
