// The energy of a machine's processors, as Linux reports it (RAPL, through the powercap interface).
#pragma once
#include <filesystem>
#include <memory>

#include "measure/energy.h"

namespace deplo::measure {

/// Opens a counter of the sum over all processor packages: the zones `intel-rapl:N` of the folder, which AMD's
/// processors have, too. A package counts its cores and caches, not the memory. Throws Error(environment) in one line
/// if there is no package, or if this user may not read its counter.
std::unique_ptr<EnergyCounter> open_powercap(const std::filesystem::path& folder = "/sys/class/powercap");

}  // namespace deplo::measure
