// Private to measure/cuda: the energy of a GPU, as NVIDIA's management library counts it. NVML is opened at run time.
#pragma once
#include <filesystem>
#include <memory>

#include "measure/cuda/driver.h"
#include "measure/energy.h"

namespace deplo::measure::cuda {

/// The counter of the whole GPU that has this device of the driver. Throws Error(environment) in one line if there is
/// no NVML, or if the GPU has no counter.
std::unique_ptr<EnergyCounter> open_nvml(const Driver&, int device);
std::unique_ptr<EnergyCounter> open_nvml(const Driver&, int device, const std::filesystem::path& library);

}  // namespace deplo::measure::cuda
