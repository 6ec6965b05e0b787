// The flags that `deplo run` and `deplo bench` share.
#pragma once
#include <string>

#include "apps/cli/command.h"
#include "apps/run/device_options.h"

namespace deplo::apps {

/// Adds the flags. `inputs`: the file of --inputs, for read_device_flags(). `without_times`: the
/// command takes the PTX machine, which has no times.
void add_device_flags(Command command, DeviceOptions&, std::string& inputs, bool without_times);
/// Reads the file of --inputs, and checks the names of the device and the target. Throws Error that names the flag.
void read_device_flags(DeviceOptions&, const std::string& inputs);

}  // namespace deplo::apps
