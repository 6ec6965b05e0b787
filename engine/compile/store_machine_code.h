// Figures of the machine code that a store's trials ran, made again from their trails. Needs no GPU.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "measure/sqlite/sqlite.h"
#include "measure/store/upkeep/machine_code.h"

namespace deplo::engine {

struct MachineCodeCounts {
  std::int64_t added = 0;
  std::int64_t stale = 0;           // the trail now gives another source than the one that was measured, or none
  std::int64_t other_compiler = 0;  // the same source gives other machine code: another NVRTC made what was measured
};

/// Adds figures of the chosen trials that the store has none of; each is stored when it is made. `begin` is told the
/// kernel and how many are left, this one among them; false ends it. Throws Error(environment) where NVRTC or nvdisasm is missing, and
/// Error where a kernel's text is damaged.
MachineCodeCounts add_machine_code(measure::sqlite::Database&, const measure::upkeep::Filter&, measure::upkeep::Chosen,
                                   const std::function<bool(const std::string& kernel, std::int64_t left)>& begin);

}  // namespace deplo::engine
