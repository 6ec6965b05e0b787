// Private to measure/cuda: the energy of a GPU, as NVIDIA's management library counts it. NVML is opened at run time.
#pragma once
#include <filesystem>
#include <memory>

#include "measure/cuda/driver.h"
#include "measure/energy.h"

namespace deplo::measure::cuda {

/// Opens the energy counter of the whole GPU that contains this device of the driver. Throws a one-line
/// Error(environment) if there is no NVML, or if the GPU has no counter. `library`: opens exactly this file; "": any.
std::unique_ptr<EnergyCounter> open_nvml(const Driver&, int device, const std::filesystem::path& library = {});

}  // namespace deplo::measure::cuda
