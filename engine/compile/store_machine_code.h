// Statistics of the machine code that a store's trials ran. The code is compiled again from the trials' trails; no GPU
// is needed.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "measure/sqlite/sqlite.h"
#include "measure/store/upkeep/machine_code.h"

namespace deplo::engine {

struct MachineCodeCounts {
  std::int64_t added = 0;
  std::int64_t stale = 0;           // trials whose trail now gives no source, or a source other than the measured one
  std::int64_t other_compiler = 0;  // the source is unchanged, but this NVRTC makes other machine code from it
};

/// Adds the missing machine-code statistics of the chosen trials. Each one is stored at once. `begin` is called before
/// each trial with the kernel's name and the number of trials left, including this one; if it returns false, the work
/// ends. Throws Error(environment) if NVRTC or nvdisasm is missing, and Error if a kernel's text is damaged.
MachineCodeCounts add_machine_code(measure::sqlite::Database&, const measure::upkeep::Filter&, measure::upkeep::Chosen,
                                   const std::function<bool(const std::string& kernel, std::int64_t left)>& begin);

}  // namespace deplo::engine
