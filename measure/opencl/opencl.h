// OpenCL devices through the C API. Only measure/opencl includes the CL headers.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "measure/device.h"

namespace deplo::measure {

/// No fast-math options: a schedule may change the order of sums, but must not change the functions.
inline constexpr const char* opencl_build_options = "-cl-std=CL1.2 -w";

/// Returns every available OpenCL device: GPUs and accelerators first, CPU devices last, otherwise in the loader's
/// order. Empty if there is no loader, no driver or no device.
std::vector<DeviceInfo> opencl_devices();
/// Opens the device with this index in opencl_devices(). Throws Error(environment) if there is none.
std::unique_ptr<Device> open_opencl(std::size_t index);
/// True for a CPU device of PoCL. Other processes find its builds in the cache (pocl_files.h).
bool is_pocl(const DeviceInfo&);
/// Turns off the binding of PoCL's workers to cores. PoCL compiles on its worker threads, and by default binds the
/// workers of every process to the same cores, which slows down processes that build at the same time. Must be called
/// before any other function of this header.
void leave_pocl_workers_unbound();
/// Returns the name of an error code: "CL_OUT_OF_RESOURCES" for -5, "OpenCL error -9999" for a number without a name.
std::string opencl_error_name(int code);
/// Returns the first lines of a compiler's log as one line. It has the error, without most errors that follow from it.
std::string first_lines(const std::string& log);

}  // namespace deplo::measure
