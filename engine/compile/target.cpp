#include "engine/compile/target.h"

#include <fmt/format.h>

#include "core/error.h"
#include "measure/device.h"

namespace deplo::engine {

Target pick_target(const std::string& name, const measure::DeviceInfo& info, Dialect dialect,
                   std::string_view device_name, std::string_view place) {
  if (name == "auto") return measure::target_of(info);
  Target target = load_target(name);
  if (target.dialect != dialect)
    throw Error(fmt::format("{}: expected a target in {} for the device {}, found {} ({})", place, deplo::name(dialect),
                            device_name, target.name, deplo::name(target.dialect)));
  return target;
}

bool runs_language(const measure::DeviceInfo& device, Dialect language) {
  if (language == Dialect::opencl) return device.backend == "opencl";
  return device.backend == "cuda" || device.backend == "ptx";
}

void check_language(const OpaqueKernel& kernel, const measure::DeviceInfo& device, std::string_view place) {
  if (runs_language(device, kernel.language())) return;
  const bool cuda = kernel.language() == Dialect::cuda;
  throw Error(fmt::format("{}: expected {} device for a kernel in {}, found {} ({}){}", place,
                          cuda ? "a CUDA" : "an OpenCL", cuda ? "CUDA C++" : "OpenCL C", device.name, device.backend,
                          cuda ? "; `deplo check` runs it without a GPU" : ""));
}

}  // namespace deplo::engine
