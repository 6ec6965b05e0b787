// NVIDIA GPUs through the driver API. No header and no library of CUDA is needed to build or to start.
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

/// Every GPU that the driver shows, in its order; none where there is no driver. Needs no NVRTC.
std::vector<DeviceInfo> cuda_devices();
std::vector<DeviceInfo> cuda_devices(const cuda::Driver&);
/// Why there is none, in one line; "" where there are some.
std::string why_no_cuda();

/// The device with that index in cuda_devices(). Throws Error(environment) in one line: no driver, no device, no NVRTC.
/// Where a Failure is illegal_access, hang or device_lost, or an Error comes out of a call that worked before, no more
/// can be done in this process.
std::unique_ptr<Device> open_cuda(std::size_t index);
/// The driver must outlive the device.
std::unique_ptr<Device> open_cuda(std::size_t index, const cuda::Driver&);

/// The target "sm_XX" of a CUDA device: of those under configs/targets the highest that is not above its architecture,
/// with the limits that the device reports. Throws Error(environment) where all are above it.
Target cuda_target(const DeviceInfo&);

}  // namespace deplo::measure
