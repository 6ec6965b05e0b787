// NVIDIA GPUs through the driver API. Building and starting deplo needs no CUDA header or library.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "core/target.h"
#include "measure/device.h"

namespace deplo::measure {

namespace cuda {
class Driver;
}

/// Returns every GPU that the driver reports, in the driver's order; none if there is no driver. Does not need NVRTC.
std::vector<DeviceInfo> cuda_devices();
std::vector<DeviceInfo> cuda_devices(const cuda::Driver&);

/// Opens the device with this index in cuda_devices(). Throws a one-line Error(environment) if there is no driver, no
/// device, or no NVRTC. After a Failure illegal_access, hang or device_lost, or an Error from a call that worked
/// before, this process cannot use the device any more.
std::unique_ptr<Device> open_cuda(std::size_t index);
/// The driver must outlive the device.
std::unique_ptr<Device> open_cuda(std::size_t index, const cuda::Driver&);

/// Returns the highest target of configs/targets that is not above an architecture, such as "sm_90a". Throws
/// Error(environment) if all targets are above it.
Target architecture_target(std::string_view architecture);
/// Returns the target "sm_XX" of a CUDA device: architecture_target() with the limits that the device reports. Throws
/// Error(environment) if the device is older than sm_80.
Target cuda_target(const DeviceInfo&);

}  // namespace deplo::measure
