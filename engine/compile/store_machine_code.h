// Statistics of the machine code that a store's trials ran. The code is compiled again from their trails; no GPU is
// needed.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "measure/sqlite/sqlite.h"
#include "measure/store/upkeep/machine_code.h"

namespace deplo::engine {

struct MachineCodeCounts {
  std::int64_t added = 0;
  std::int64_t stale = 0;           // the trail now gives no source, or another one than was measured
  std::int64_t other_compiler = 0;  // the same source now gives other machine code, because another NVRTC was used
};

/// Adds the statistics that the store lacks for the chosen trials, and stores each one at once. `begin` is called
/// before each with the kernel's name and the number of trials left, including this one; if it returns false, the work
/// ends. Throws Error(environment) if NVRTC or nvdisasm is missing, and Error if a kernel's text is damaged.
MachineCodeCounts add_machine_code(measure::sqlite::Database&, const measure::upkeep::Filter&, measure::upkeep::Chosen,
                                   const std::function<bool(const std::string& kernel, std::int64_t left)>& begin);

}  // namespace deplo::engine
