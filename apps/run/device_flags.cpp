#include "apps/run/device_flags.h"

#include <fmt/format.h>

#include "apps/cli/flags.h"
#include "engine/compile/tuned.h"
#include "engine/source/experiment.h"

namespace deplo::apps {

void add_device_flags(Command command, DeviceOptions& options, std::string& inputs, bool without_times) {
  command
      .option("--device", options.device, "DEVICE",
              fmt::format("Use this device: cuda, cuda:N, opencl, opencl:N{} (see `deplo devices`).",
                          without_times ? ", interpreter or ptx:sm_N" : " or interpreter"))
      .show_default();
  command.seldom()
      .option("--target", options.target, "TARGET",
              "Compile for this target: a name under configs/targets, or auto (that of the device).")
      .show_default();
  add_seed(command, options.seed, "Draw random inputs and parameters from this seed.");
  add_tolerance(command, options.tolerance);
  add_inputs(command, inputs);
  command.option("--tuned", options.tuned, "FILE",
                 "Use schedules from a store written by `deplo tune`, or from a pack of `deplo db export` [" +
                     engine::default_store() + ", if it exists].");
  add_nearest(command, options.nearest);
  command.seldom().flag(
      "--require-tuned", options.require_tuned,
      "If a kernel has no measured schedule, run nothing, name the nearest entry of the store, and end with exit "
      "code 1.");
  command.excludes("--require-tuned", {"--nearest"});
}

void read_device_flags(DeviceOptions& options, const std::string& inputs) {
  if (!inputs.empty()) options.inputs = engine::load_inputs(inputs);
  engine::check_device(options.device, "--device");
  engine::check_target(options.target, "--target");
}

}  // namespace deplo::apps
