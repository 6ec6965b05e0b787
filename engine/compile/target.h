// The target that a device's kernels are compiled for.
#pragma once
#include <string>
#include <string_view>

#include "core/target.h"
#include "engine/foreign/opaque_kernel.h"
#include "measure/device_info.h"

namespace deplo::engine {

/// The target `name`, or for "auto" the device's own target. Throws Error if the target has another language than the
/// device; `place` and `device_name` are for its message.
Target pick_target(const std::string& name, const measure::DeviceInfo&, Dialect, std::string_view device_name,
                   std::string_view place);
/// True if the device builds source text of this language.
bool runs_language(const measure::DeviceInfo&, Dialect language);
/// Throws Error, prefixed by `place`, unless the device runs the language of an opaque kernel.
void check_language(const OpaqueKernel&, const measure::DeviceInfo&, std::string_view place);

}  // namespace deplo::engine
