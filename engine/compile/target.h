// The target that a device's kernels are compiled for.
#pragma once
#include <string>
#include <string_view>

#include "core/target.h"
#include "engine/foreign/opaque_kernel.h"
#include "measure/device_info.h"

namespace deplo::engine {

/// Returns the target called `name`, or the device's own target for "auto". Throws Error if the target's language
/// differs from the device's; `place` and `device_name` are for the message.
Target pick_target(const std::string& name, const measure::DeviceInfo&, Dialect, std::string_view device_name,
                   std::string_view place);
/// Returns true if the device builds source text in this language.
bool runs_language(const measure::DeviceInfo&, Dialect language);
/// Throws Error, prefixed by `place`, if the device does not run the language of the opaque kernel.
void check_language(const OpaqueKernel&, const measure::DeviceInfo&, std::string_view place);

}  // namespace deplo::engine
