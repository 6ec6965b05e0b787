#include "measure/opencl_arrays.h"

#include <fmt/format.h>

#include <algorithm>

#include "measure/elements.h"
#include "measure/opencl.h"

namespace deplo::measure {

void require(cl_int code, const std::string& what) {
  if (code != CL_SUCCESS) throw Error(fmt::format("OpenCL: {}: {}", what, opencl_error_name(code)), Exit::environment);
}

OpenclArrays::OpenclArrays(cl_context context, cl_command_queue queue, bool cpu, const std::vector<ir::Buffer>& buffers)
    : queue_(queue) {
  for (const ir::Buffer& buffer : buffers) {
    const std::size_t size = size_in_bytes(buffer);
    cl_int code = CL_SUCCESS;
    HostMemory host = cpu ? allocate_host_memory(size) : nullptr;
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (host ? CL_MEM_USE_HOST_PTR : 0);
    Memory memory(clCreateBuffer(context, flags, size, host.get(), &code));
    require(code, fmt::format("allocate {} bytes for '{}'", size, buffer.name));
    slots_.push_back({std::move(host), std::move(memory), size, buffer.dtype});
  }
}

void OpenclArrays::write(std::size_t buffer, std::span<const float> values) {
  const Slot& slot = slots_.at(buffer);
  CHECK(values.size() * static_cast<std::size_t>(ir::bytes(slot.dtype)) == slot.size);
  std::vector<std::byte> elements;
  const void* from = values.data();
  if (slot.dtype != ir::DType::f32) {
    elements.resize(slot.size);
    encode(values, slot.dtype, elements.data());
    from = elements.data();
  }
  require(clEnqueueWriteBuffer(queue_, slot.memory.get(), CL_TRUE, 0, slot.size, from, 0, nullptr, nullptr), "write");
}

std::vector<float> OpenclArrays::read(std::size_t buffer) {
  const Slot& slot = slots_.at(buffer);
  const auto read_into = [&](void* to) {
    require(clEnqueueReadBuffer(queue_, slot.memory.get(), CL_TRUE, 0, slot.size, to, 0, nullptr, nullptr), "read");
  };
  if (slot.dtype == ir::DType::f32) {
    std::vector<float> values(slot.size / sizeof(float));
    read_into(values.data());
    return values;
  }
  std::vector<std::byte> elements(slot.size);
  read_into(elements.data());
  return decode(elements, slot.dtype);
}

void OpenclArrays::poison(std::size_t buffer) {
  require(fill(buffer, 0xff, nullptr), "poison");
  require(clFinish(queue_), "poison");
}

// A pattern of one byte is a memset in PoCL; one of four takes longer.
cl_int OpenclArrays::fill(std::size_t buffer, cl_uchar byte, cl_event* done) const {
  const Slot& slot = slots_.at(buffer);
  return clEnqueueFillBuffer(queue_, slot.memory.get(), &byte, sizeof byte, 0, slot.size, 0, nullptr, done);
}

std::unique_ptr<Arrays> OpenclArrays::view(std::span<const std::size_t> buffers, const std::vector<ir::Buffer>& as) {
  CHECK(buffers.size() == as.size());
  std::unique_ptr<OpenclArrays> result(new OpenclArrays(queue_));
  for (std::size_t i = 0; i < as.size(); ++i) {
    CHECK(std::count(buffers.begin(), buffers.end(), buffers[i]) == 1);
    const Slot& slot = slots_.at(buffers[i]);
    CHECK(size_in_bytes(as[i]) <= slot.size);
    require(clRetainMemObject(slot.memory.get()), "share a buffer");
    result->slots_.push_back({nullptr, Memory(slot.memory.get()), size_in_bytes(as[i]), as[i].dtype});
  }
  return result;
}

}  // namespace deplo::measure
