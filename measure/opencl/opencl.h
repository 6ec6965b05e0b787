// OpenCL devices through the C API. Only measure/opencl includes the CL headers.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "measure/device.h"

namespace deplo::measure {

/// No fast-math options: a schedule may change the order of sums, but not the functions.
inline constexpr const char* opencl_build_options = "-cl-std=CL1.2 -w";

/// Every available OpenCL device: GPUs and accelerators first, CPU devices last, otherwise in the loader's order. Empty
/// if there is no loader, no driver or no device.
std::vector<DeviceInfo> opencl_devices();
/// The device with this index in opencl_devices(). Throws Error(environment) if there is none.
std::unique_ptr<Device> open_opencl(std::size_t index);
/// True for a CPU device of PoCL, whose builds other processes find in the cache (pocl_files.h).
bool is_pocl(const DeviceInfo&);
/// For processes that build at the same time. PoCL compiles on its worker threads, and by default binds those of every
/// process to the same cores; this turns that off. Must be called before any other function here.
void leave_pocl_workers_unbound();
/// "CL_OUT_OF_RESOURCES" for -5; "OpenCL error -9999" for a number that OpenCL does not name.
std::string opencl_error_name(int code);
/// The first lines of a compiler's log as one line: the error, without the errors that follow from it.
std::string first_lines(const std::string& log);

}  // namespace deplo::measure
