// What a device's kernels are compiled for.
#pragma once
#include <string>
#include <string_view>

#include "core/target.h"
#include "measure/device_info.h"

namespace deplo::engine {

/// The target of that name, or what the device is for "auto". `place` and `device_name` are for the message of the
/// Error that a target in another language gives.
Target pick_target(const std::string& name, const measure::DeviceInfo&, Dialect, std::string_view device_name,
                   std::string_view place);

}  // namespace deplo::engine
