// Private to measure/opencl: owners of cl_ objects, and the buffers of a kernel.
#pragma once
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "measure/device.h"
#include "measure/host_memory.h"

namespace deplo::measure::opencl {

/// Owns one reference to a cl_ object.
template <auto release>
struct Release {
  template <class T>
  void operator()(T* object) const {
    release(object);
  }
};

template <class T, auto release>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, Release<release>>;
using Context = Owned<cl_context, clReleaseContext>;
using Queue = Owned<cl_command_queue, clReleaseCommandQueue>;
using Memory = Owned<cl_mem, clReleaseMemObject>;
using Program = Owned<cl_program, clReleaseProgram>;
using Kernel = Owned<cl_kernel, clReleaseKernel>;
using Event = Owned<cl_event, clReleaseEvent>;

/// Throws Error(environment) unless `code` is CL_SUCCESS. For calls that fail only if the machine does (memory, a lost
/// device).
void require(cl_int code, const std::string& what);

class OpenclArrays final : public Arrays {
 public:
  /// On a CPU the buffers are in host memory, in large pages.
  OpenclArrays(cl_context, cl_command_queue, bool cpu, const std::vector<ir::Buffer>&);
  void write(std::size_t buffer, const ir::Numbers& values) override;
  ir::Numbers read(std::size_t buffer) override;
  void write_bytes(std::size_t buffer, std::span<const std::uint8_t> bytes) override;
  std::vector<std::uint8_t> read_bytes(std::size_t buffer) override;
  void poison(std::size_t buffer) override;
  void save(std::size_t buffer) override;
  std::unique_ptr<Arrays> view(std::span<const Place> places, const std::vector<ir::Buffer>& as) override;
  std::optional<std::string> overrun() override;
  /// PoCL's CPU device works directly on these bytes (CL_MEM_USE_HOST_PTR). If a driver copied them, the check of the
  /// outputs would fail.
  void* host_memory(std::size_t buffer) override;

  /// Enqueues a fill of the buffer with `byte`.
  cl_int fill(std::size_t buffer, cl_uchar byte, cl_event* done) const;
  /// Enqueues a copy of the saved contents to the buffer.
  cl_int restore(std::size_t buffer, cl_event* done) const;
  std::size_t count() const { return slots_.size(); }
  cl_mem get(std::size_t buffer) const { return slots_[buffer].memory.get(); }

 private:
  explicit OpenclArrays(cl_command_queue queue) : queue_(queue) {}
  struct Slot;
  Slot allocate(cl_context, bool cpu, const ir::Buffer&) const;
  struct Slot {
    HostMemory host;           // the memory of `whole`; must outlive it; null on GPUs
    Memory whole, memory;      // the buffer with its red zones, and the buffer alone
    std::size_t capacity = 0;  // bytes between the red zones
    std::size_t offset = 0;    // where the buffer begins between the red zones, in bytes; 0 except in views
    std::size_t size = 0;      // in bytes
    std::size_t zones = 0;     // number of the red zones, as in red_zone()
    ir::DType dtype = ir::DType::f32;
    std::string name;
    Memory saved = nullptr;
  };
  cl_command_queue queue_;
  std::vector<Slot> slots_;
};

}  // namespace deplo::measure::opencl
