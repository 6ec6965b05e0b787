// NVIDIA's driver API, opened at run time. Its functions are those of NVIDIA's cuda.h (12.0 and later), declared by
// hand.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/outcome.h"

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
  explicit Driver(const std::filesystem::path& file);

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

  int (*init)(unsigned flags);
  int (*driver_version)(int*);
  int (*get_error_name)(int, const char**);
  int (*get_proc_address)(const char* name, void** function, int version, std::uint64_t flags, int* found);
  int (*device_count)(int*);
  int (*device_get)(int*, int index);
  int (*device_name)(char*, int size, int device);
  int (*device_attribute)(int*, int attribute, int device);
  int (*device_memory)(std::size_t*, int device);
  int (*device_bus)(char* id, int size, int device);
  int (*context_retain)(ContextHandle*, int device);
  int (*context_release)(int device);
  int (*context_set)(ContextHandle);
  int (*module_load)(Module*, const void* image);
  int (*module_unload)(Module);
  int (*module_function)(Function*, Module, const char* name);
  int (*module_global)(Address*, std::size_t* bytes, Module, const char* name);
  int (*function_set)(Function, int attribute, int value);
  int (*allocate)(Address*, std::size_t);
  int (*free)(Address);
  int (*copy_to)(Address, const void*, std::size_t, Stream);
  int (*copy_from)(void*, Address, std::size_t, Stream);
  int (*copy_within)(Address to, Address from, std::size_t, Stream);
  int (*fill)(Address, unsigned char, std::size_t, Stream);
  int (*stream_create)(Stream*, unsigned flags);
  int (*stream_destroy)(Stream);
  int (*stream_wait)(Stream);
  int (*event_create)(Event*, unsigned flags);
  int (*event_destroy)(Event);
  int (*event_record)(Event, Stream);
  int (*event_elapsed)(float* milliseconds, Event, Event);
  int (*launch)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                unsigned block_z, unsigned shared_bytes, Stream, void** parameters, void** extra);
  int (*capture_begin)(Stream, int mode);
  int (*capture_end)(Stream, Graph*);
  int (*graph_instantiate)(GraphExec*, Graph, unsigned long long flags);
  int (*graph_upload)(GraphExec, Stream);
  int (*graph_launch)(GraphExec, Stream);
  int (*graph_exec_destroy)(GraphExec);
  int (*graph_destroy)(Graph);

 private:
  Driver();
  void open(const class Library&);
  void find_functions(const class Library&);
  int version_ = 0;
};

/// Returns Driver::version() of this machine's driver, without starting the driver; nullopt if there is none.
std::optional<int> installed_driver_version();

/// True if the process cannot use the driver after a call that returned this code. CUDA Driver API, "CUresult", and
/// measurement.md.
bool is_sticky(int code);

}  // namespace deplo::measure::cuda
