// Any OpenCL device through the C API. The CL headers stand in measure/opencl only.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "measure/device.h"

namespace deplo::measure {

/// No fast-math options: what a schedule may change is the order of sums, not the functions.
inline constexpr const char* opencl_build_options = "-cl-std=CL1.2 -w";

/// Every available OpenCL device: GPUs and accelerators first, CPU devices last, else in the loader's order. Empty
/// where there is no loader, no driver or no device.
std::vector<DeviceInfo> opencl_devices();
/// The device with that index in opencl_devices(). Throws Error(environment) where there is none.
std::unique_ptr<Device> open_opencl(std::size_t index);
/// Is it a CPU of PoCL's, whose builds another process finds again (pocl_files.h)?
bool is_pocl(const DeviceInfo&);
/// PoCL compiles on its worker threads, and else binds those of every process to the same cores: for processes that
/// build beside each other. To be called before anything else here.
void leave_pocl_workers_unbound();
/// "CL_OUT_OF_RESOURCES" for -5; "OpenCL error -9999" for a number that OpenCL does not name.
std::string opencl_error_name(int code);
/// The first lines of a compiler's log as one line: where the error is, not the cascade after it.
std::string first_lines(const std::string& log);

}  // namespace deplo::measure
