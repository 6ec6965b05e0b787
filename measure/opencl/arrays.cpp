#include "measure/opencl/arrays.h"

#include <fmt/format.h>

#include <algorithm>

#include "measure/check/elements.h"
#include "measure/check/red_zone.h"
#include "measure/opencl/opencl.h"

namespace deplo::measure::opencl {

void require(cl_int code, const std::string& what) {
  if (code != CL_SUCCESS) throw Error(fmt::format("OpenCL: {}: {}", what, opencl_error_name(code)), Exit::environment);
}

namespace {

// Returns a sub-buffer of `size` bytes, from `offset` on after the first red zone.
Memory part(const Memory& whole, std::size_t offset, std::size_t size, const std::string& what) {
  const cl_buffer_region region{red_zone_bytes + offset, size};
  cl_int code = CL_SUCCESS;
  Memory memory(clCreateSubBuffer(whole.get(), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  require(code, what);
  return memory;
}

// Returns another owner of the same memory.
Memory shared(const Memory& memory) {
  require(clRetainMemObject(memory.get()), "share a buffer");
  return Memory(memory.get());
}

}  // namespace

OpenclArrays::OpenclArrays(cl_context context, cl_command_queue queue, bool cpu, const std::vector<ir::Buffer>& buffers)
    : queue_(queue) {
  for (const ir::Buffer& buffer : buffers) slots_.push_back(allocate(context, cpu, buffer));
}

OpenclArrays::Slot OpenclArrays::allocate(cl_context context, bool cpu, const ir::Buffer& buffer) const {
  const std::size_t size = size_in_bytes(buffer), with_zones = size + 2 * red_zone_bytes;
  const std::string what = fmt::format("allocate {} bytes for '{}'", size, buffer.name);
  cl_int code = CL_SUCCESS;
  HostMemory host = cpu ? allocate_host_memory(with_zones) : nullptr;
  const cl_mem_flags flags = CL_MEM_READ_WRITE | (host ? CL_MEM_USE_HOST_PTR : 0);
  Memory whole(clCreateBuffer(context, flags, with_zones, host.get(), &code));
  require(code, what);
  Memory memory = part(whole, 0, size, what);
  const std::size_t number = slots_.size();
  const std::vector<std::byte> zone = red_zone(number);
  for (const std::size_t at : {std::size_t{0}, red_zone_bytes + size})
    require(clEnqueueWriteBuffer(queue_, whole.get(), CL_TRUE, at, zone.size(), zone.data(), 0, nullptr, nullptr),
            what);
  return {std::move(host), std::move(whole), std::move(memory), size,   0, size,
          number,          buffer.dtype,     buffer.name,       nullptr};
}

std::optional<std::string> OpenclArrays::overrun() {
  std::vector<std::byte> before(red_zone_bytes), behind(red_zone_bytes);
  for (const Slot& slot : slots_) {
    const auto read = [&](std::size_t at, std::vector<std::byte>& to) {
      require(clEnqueueReadBuffer(queue_, slot.whole.get(), CL_TRUE, at, to.size(), to.data(), 0, nullptr, nullptr),
              "read");
    };
    read(0, before);
    read(red_zone_bytes + slot.capacity, behind);
    if (auto found = damage(before, behind, slot.zones, slot.name)) return found;
  }
  return std::nullopt;
}

void OpenclArrays::write(std::size_t buffer, const ir::Numbers& values) {
  const Slot& slot = slots_.at(buffer);
  CHECK(values.size() * static_cast<std::size_t>(ir::bytes(slot.dtype)) == slot.size);
  write_elements(values, slot.dtype, [&](const void* from) {
    require(clEnqueueWriteBuffer(queue_, slot.memory.get(), CL_TRUE, 0, slot.size, from, 0, nullptr, nullptr), "write");
  });
}

ir::Numbers OpenclArrays::read(std::size_t buffer) {
  const Slot& slot = slots_.at(buffer);
  return read_elements(slot.size, slot.dtype, [&](void* to) {
    require(clEnqueueReadBuffer(queue_, slot.memory.get(), CL_TRUE, 0, slot.size, to, 0, nullptr, nullptr), "read");
  });
}

void OpenclArrays::write_bytes(std::size_t buffer, std::span<const std::uint8_t> bytes) {
  const Slot& slot = slots_.at(buffer);
  CHECK(bytes.size() <= slot.size);
  if (bytes.empty()) return;
  require(clEnqueueWriteBuffer(queue_, slot.memory.get(), CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr, nullptr),
          "write");
}

std::vector<std::uint8_t> OpenclArrays::read_bytes(std::size_t buffer) {
  const Slot& slot = slots_.at(buffer);
  std::vector<std::uint8_t> bytes(slot.size);
  require(clEnqueueReadBuffer(queue_, slot.memory.get(), CL_TRUE, 0, slot.size, bytes.data(), 0, nullptr, nullptr),
          "read");
  return bytes;
}

void OpenclArrays::poison(std::size_t buffer) {
  require(fill(buffer, 0xff, nullptr), "poison");
  require(clFinish(queue_), "poison");
}

void OpenclArrays::save(std::size_t buffer) {
  Slot& slot = slots_.at(buffer);
  const std::string what = fmt::format("save the {} bytes of '{}'", slot.size, slot.name);
  if (!slot.saved) {
    cl_context context = nullptr;
    require(clGetMemObjectInfo(slot.whole.get(), CL_MEM_CONTEXT, sizeof context, &context, nullptr), what);
    cl_int code = CL_SUCCESS;
    slot.saved.reset(clCreateBuffer(context, CL_MEM_READ_WRITE, slot.size, nullptr, &code));
    require(code, what);
  }
  require(clEnqueueCopyBuffer(queue_, slot.memory.get(), slot.saved.get(), 0, 0, slot.size, 0, nullptr, nullptr), what);
  require(clFinish(queue_), what);
}

cl_int OpenclArrays::restore(std::size_t buffer, cl_event* done) const {
  const Slot& slot = slots_.at(buffer);
  CHECK(slot.saved);
  return clEnqueueCopyBuffer(queue_, slot.saved.get(), slot.memory.get(), 0, 0, slot.size, 0, nullptr, done);
}

void* OpenclArrays::host_memory(std::size_t buffer) {
  const HostMemory& host = slots_.at(buffer).host;
  return host ? static_cast<std::byte*>(host.get()) + red_zone_bytes : nullptr;
}

// PoCL fills with a pattern of one byte by memset; a pattern of four bytes takes longer.
cl_int OpenclArrays::fill(std::size_t buffer, cl_uchar byte, cl_event* done) const {
  const Slot& slot = slots_.at(buffer);
  return clEnqueueFillBuffer(queue_, slot.memory.get(), &byte, sizeof byte, 0, slot.size, 0, nullptr, done);
}

std::unique_ptr<Arrays> OpenclArrays::view(std::span<const Place> places, const std::vector<ir::Buffer>& as) {
  CHECK(places.size() == as.size());
  std::unique_ptr<OpenclArrays> result(new OpenclArrays(queue_));
  for (std::size_t i = 0; i < as.size(); ++i) {
    CHECK(std::count(places.begin(), places.end(), places[i]) == 1);
    const Slot& slot = slots_.at(places[i].buffer);
    const std::size_t size = size_in_bytes(as[i]), offset = static_cast<std::size_t>(places[i].offset);
    CHECK(offset + size <= slot.size);
    Memory memory = offset == 0 ? shared(slot.memory) : part(slot.whole, slot.offset + offset, size, "view a buffer");
    result->slots_.push_back({nullptr, shared(slot.whole), std::move(memory), slot.capacity, slot.offset + offset, size,
                              slot.zones, as[i].dtype, as[i].name, nullptr});
  }
  return result;
}

}  // namespace deplo::measure::opencl
