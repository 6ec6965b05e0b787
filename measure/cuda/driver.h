// NVIDIA's driver API, opened at run time. Its functions are those of NVIDIA's cuda.h (12.0 and later), declared by
// hand.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/outcome.h"
#include "measure/cuda/library.h"

namespace deplo::measure::cuda {

// The driver's handles.
using ContextHandle = struct OpaqueContext*;
using Module = struct OpaqueModule*;
using Function = struct OpaqueFunction*;
using Stream = struct OpaqueStream*;
using Event = struct OpaqueEvent*;
using Graph = struct OpaqueGraph*;
using GraphExec = struct OpaqueGraphExec*;
using Address = unsigned long long;  // CUdeviceptr

/// CUtensorMap. Only the driver knows the meaning of its contents.
struct alignas(64) TensorMap {
  std::uint64_t opaque[16] = {};
};

/// The driver's functions. Immutable once opened; may be used from several threads. Most members are pointers to
/// functions of the driver, named after what they do.
class Driver {
 public:
  /// Returns the driver of this process, which the first call opens. Throws a one-line Error(environment) if there is
  /// no driver, if it is the toolkit's stub, or if it sees no device.
  static const Driver& get();
  /// `library`: opens exactly this file; "": any. Throws the errors of get().
  explicit Driver(const std::filesystem::path& library = {});

  /// The CUDA version that the driver supports, not the driver's own version: 13000 for CUDA 13.0.
  int version() const { return version_; }
  /// The name and number of an error: "CUDA_ERROR_ILLEGAL_ADDRESS (700)".
  std::string error_name(int code) const;
  /// Returns the failure of a driver call as the failure of a candidate. Its status is `usual`, unless the code has a
  /// more specific one. After illegal_access, hang or device_lost the process can launch nothing more and must end
  /// (docs/cuda.md).
  Failure failure(int code, Status usual, const std::string& what) const;
  /// Throws Error(environment) unless the code is 0.
  void require(int code, const std::string& what) const;

 private:
  Library library_;

 public:
  int (*init)(unsigned flags) = library_.find("cuInit");
  int (*driver_version)(int*) = library_.find("cuDriverGetVersion");
  int (*get_error_name)(int, const char**) = library_.find("cuGetErrorName");

 private:
  /// Starts the driver and returns its version. Throws the errors of get().
  int start() const;
  int version_ = start();  // before looking for functions that a stub or an old driver may lack

 public:
  int (*get_proc_address)(const char* name, void** function, int version, std::uint64_t flags,
                          int* found) = library_.find_optional("cuGetProcAddress_v2");
  int (*device_count)(int*) = library_.find("cuDeviceGetCount");
  int (*device_get)(int*, int index) = library_.find("cuDeviceGet");
  int (*device_name)(char*, int size, int device) = library_.find("cuDeviceGetName");
  int (*device_attribute)(int*, int attribute, int device) = library_.find("cuDeviceGetAttribute");
  int (*device_memory)(std::size_t*, int device) = library_.find("cuDeviceTotalMem_v2");
  int (*device_bus)(char* id, int size, int device) = library_.find("cuDeviceGetPCIBusId");
  int (*context_retain)(ContextHandle*, int device) = library_.find("cuDevicePrimaryCtxRetain");
  int (*context_release)(int device) = library_.find("cuDevicePrimaryCtxRelease_v2");
  int (*context_set)(ContextHandle) = library_.find("cuCtxSetCurrent");
  int (*module_load)(Module*, const void* image) = library_.find("cuModuleLoadData");
  int (*module_unload)(Module) = library_.find("cuModuleUnload");
  int (*module_function)(Function*, Module, const char* name) = library_.find("cuModuleGetFunction");
  int (*module_global)(Address*, std::size_t* bytes, Module, const char* name) = library_.find("cuModuleGetGlobal_v2");
  int (*function_set)(Function, int attribute, int value) = library_.find("cuFuncSetAttribute");
  int (*allocate)(Address*, std::size_t) = library_.find("cuMemAlloc_v2");
  int (*free)(Address) = library_.find("cuMemFree_v2");
  int (*copy_to)(Address, const void*, std::size_t, Stream) = library_.find("cuMemcpyHtoDAsync_v2");
  int (*copy_from)(void*, Address, std::size_t, Stream) = library_.find("cuMemcpyDtoHAsync_v2");
  int (*copy_within)(Address to, Address from, std::size_t, Stream) = library_.find("cuMemcpyDtoDAsync_v2");
  int (*fill)(Address, unsigned char, std::size_t, Stream) = library_.find("cuMemsetD8Async");
  int (*stream_create)(Stream*, unsigned flags) = library_.find("cuStreamCreate");
  int (*stream_destroy)(Stream) = library_.find("cuStreamDestroy_v2");
  int (*stream_wait)(Stream) = library_.find("cuStreamSynchronize");
  int (*event_create)(Event*, unsigned flags) = library_.find("cuEventCreate");
  int (*event_destroy)(Event) = library_.find("cuEventDestroy_v2");
  int (*event_record)(Event, Stream) = library_.find("cuEventRecord");
  int (*event_elapsed)(float* milliseconds, Event, Event) = library_.find("cuEventElapsedTime");
  int (*launch)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                unsigned block_z, unsigned shared_bytes, Stream, void** parameters,
                void** extra) = library_.find("cuLaunchKernel");
  int (*capture_begin)(Stream, int mode) = library_.find("cuStreamBeginCapture_v2");
  int (*capture_end)(Stream, Graph*) = library_.find("cuStreamEndCapture");
  int (*graph_instantiate)(GraphExec*, Graph, unsigned long long flags) = library_.find("cuGraphInstantiateWithFlags");
  int (*graph_upload)(GraphExec, Stream) = library_.find("cuGraphUpload");
  int (*graph_launch)(GraphExec, Stream) = library_.find("cuGraphLaunch");
  int (*graph_exec_destroy)(GraphExec) = library_.find("cuGraphExecDestroy");
  int (*graph_destroy)(Graph) = library_.find("cuGraphDestroy");
};

/// Returns Driver::version() of this machine's driver, without starting the driver; nullopt if there is none.
std::optional<int> installed_driver_version();

}  // namespace deplo::measure::cuda
