// The options that `deplo run` and `deplo bench` share: the device, the inputs, and the source of schedules.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "apps/cli/command.h"
#include "engine/source/inputs.h"
#include "measure/protocol/protocol.h"

namespace deplo::apps {

struct DeviceOptions {
  std::string device = "opencl", target = "auto";
  std::uint64_t seed = 0;                         // for inputs and parameters without values of their own
  engine::Inputs inputs = {};                     // override the source's inputs; the source must have all of them
  double tolerance = measure::default_tolerance;  // of every output's elements, relative to their scale
  std::optional<std::string> tuned;               // the store with the schedules; nullopt: the user's own, if it exists
  bool nearest = false;                           // prefer the schedule of the nearest extents to the heuristic's
  bool require_tuned = false;  // throw Error for a kernel without a measured schedule, before anything runs
};

/// Adds the flags. `inputs`: the file of --inputs, for read_device_flags(). `without_times`: the command takes the PTX
/// machine, which has no times.
void add_device_flags(Command command, DeviceOptions&, std::string& inputs, bool without_times);
/// Reads the file of --inputs, and checks the names of the device and the target. Throws Error that names the flag.
void read_device_flags(DeviceOptions&, const std::string& inputs);

}  // namespace deplo::apps
