#include "measure/launch.h"

#include <fmt/format.h>

namespace deplo::measure {

std::string describe(const Launch& launch) {
  return fmt::format("{} blocks of {} threads", fmt::join(launch.blocks, "x"), fmt::join(launch.threads, "x"));
}

}  // namespace deplo::measure
