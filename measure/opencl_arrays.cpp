#include "measure/opencl_arrays.h"

#include <fmt/format.h>

#include <algorithm>

#include "measure/opencl.h"

namespace deplo::measure {

void require(cl_int code, const std::string& what) {
  if (code != CL_SUCCESS) throw Error(fmt::format("OpenCL: {}: {}", what, opencl_error_name(code)), Exit::environment);
}

OpenclArrays::OpenclArrays(cl_context context, cl_command_queue queue, bool cpu, const std::vector<ir::Buffer>& buffers)
    : queue_(queue) {
  for (const ir::Buffer& buffer : buffers) {
    const std::size_t size = std::max<std::size_t>(static_cast<std::size_t>(ir::span(buffer)), 1) * sizeof(float);
    cl_int code = CL_SUCCESS;
    HostMemory host = cpu ? allocate_host_memory(size) : nullptr;
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (host ? CL_MEM_USE_HOST_PTR : 0);
    Memory memory(clCreateBuffer(context, flags, size, host.get(), &code));
    require(code, fmt::format("allocate {} bytes for '{}'", size, buffer.name));
    slots_.push_back({std::move(host), std::move(memory), size});
  }
}

void OpenclArrays::write(std::size_t buffer, std::span<const float> values) {
  const Slot& slot = slots_.at(buffer);
  CHECK(values.size_bytes() == slot.size);
  require(clEnqueueWriteBuffer(queue_, slot.memory.get(), CL_TRUE, 0, slot.size, values.data(), 0, nullptr, nullptr),
          "write");
}

std::vector<float> OpenclArrays::read(std::size_t buffer) {
  const Slot& slot = slots_.at(buffer);
  std::vector<float> values(slot.size / sizeof(float));
  require(clEnqueueReadBuffer(queue_, slot.memory.get(), CL_TRUE, 0, slot.size, values.data(), 0, nullptr, nullptr),
          "read");
  return values;
}

void OpenclArrays::poison(std::size_t buffer) {
  const Slot& slot = slots_.at(buffer);
  const cl_uint ones = 0xffffffffU;
  require(clEnqueueFillBuffer(queue_, slot.memory.get(), &ones, sizeof ones, 0, slot.size, 0, nullptr, nullptr),
          "poison");
  require(clFinish(queue_), "poison");
}

}  // namespace deplo::measure
