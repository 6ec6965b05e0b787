// NVIDIA GPUs through the driver API. Building and starting deplo needs no CUDA header or library.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/target.h"
#include "measure/device.h"

namespace deplo::measure {

namespace cuda {
class Driver;
}

/// Every GPU that the driver shows, in its order; none if there is no driver. Does not need NVRTC.
std::vector<DeviceInfo> cuda_devices();
std::vector<DeviceInfo> cuda_devices(const cuda::Driver&);
/// Why cuda_devices() is empty, in one line; "" if it is not.
std::string why_no_cuda();

/// The device with this index in cuda_devices(). Throws Error(environment) in one line: no driver, no device, or no
/// NVRTC. After a Failure illegal_access, hang or device_lost, or an Error from a call that worked before, this process
/// cannot use the device any more.
std::unique_ptr<Device> open_cuda(std::size_t index);
/// The driver must outlive the device.
std::unique_ptr<Device> open_cuda(std::size_t index, const cuda::Driver&);

/// The target "sm_XX" of a CUDA device: the highest one under configs/targets that is not above its architecture, with
/// the limits that the device reports. Throws Error(environment) if all are above it.
/// The target of configs/targets that an architecture, such as "sm_90a", is or comes after. Throws Error(environment).
Target architecture_target(std::string_view architecture);
Target cuda_target(const DeviceInfo&);

}  // namespace deplo::measure
