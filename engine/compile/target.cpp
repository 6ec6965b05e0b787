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

}  // namespace deplo::engine
