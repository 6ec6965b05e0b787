#include "opencl_runtime.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <type_traits>

namespace {

void check(cl_int code, const char* what) {
  if (code != CL_SUCCESS) throw std::runtime_error(std::string(what) + ": OpenCL error " + std::to_string(code));
}

template <class Handle, cl_int (*release)(Handle)>
struct Release {
  using pointer = Handle;
  void operator()(Handle handle) const { release(handle); }
};
template <class Handle, cl_int (*release)(Handle)>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Release<Handle, release>>;
using Memory = Owned<cl_mem, clReleaseMemObject>;
using Code = Owned<cl_program, clReleaseProgram>;
using Function = Owned<cl_kernel, clReleaseKernel>;

cl_device_id find_device(const std::string& name) {
  cl_uint platforms = 0;
  check(clGetPlatformIDs(0, nullptr, &platforms), "platforms");
  std::vector<cl_platform_id> all(platforms);
  check(clGetPlatformIDs(platforms, all.data(), nullptr), "platforms");
  for (cl_platform_id platform : all) {
    cl_device_id devices[64];
    cl_uint count = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 64, devices, &count) != CL_SUCCESS) continue;
    for (cl_uint i = 0; i < std::min(count, 64u); ++i) {
      char found[1024] = "";
      clGetDeviceInfo(devices[i], CL_DEVICE_NAME, sizeof found, found, nullptr);
      if (name.empty() || name == found) return devices[i];
    }
  }
  throw std::runtime_error(name.empty() ? "no OpenCL device" : "no OpenCL device is called " + name);
}

std::size_t count(const deplo::Tensor& tensor) {
  std::size_t elements = 1;
  for (const std::int64_t extent : tensor.shape) elements *= static_cast<std::size_t>(extent);
  return elements;
}

std::size_t bytes(const deplo::Tensor& tensor) { return count(tensor) * deplo::bytes_of_element(tensor.dtype); }

/// IEEE 754 binary16: 10 bits of fraction, exponents from -14 on. Rounds to the nearest, ties to even.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) {
    const double size = std::abs(static_cast<double>(value));
    const int exponent = size > 0 ? std::max(std::ilogb(size), -14) : -14;
    bits = size < 65520
               ? static_cast<std::uint16_t>((exponent + 14) * 1024 + std::nearbyint(std::ldexp(size, 10 - exponent)))
           : std::isnan(value) ? 0x7e00
                               : 0x7c00;
    if (std::signbit(value)) bits |= 0x8000;
  }
  explicit operator float() const {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                        : exponent == 0 ? std::ldexp(fraction, -24)
                                        : std::ldexp(1024 + fraction, exponent - 25);
    return static_cast<float>((bits & 0x8000) != 0 ? -size : size);
  }
};
/// The upper half of a float. Rounds to the nearest, ties to even.
struct Bfloat16 {
  std::uint16_t bits = 0;
  Bfloat16() = default;
  explicit Bfloat16(float value) {
    std::uint32_t word = 0;
    std::memcpy(&word, &value, sizeof word);
    bits = std::isnan(value) ? 0x7fc0 : static_cast<std::uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16);
  }
  explicit operator float() const {
    const std::uint32_t word = static_cast<std::uint32_t>(bits) << 16;
    float value = 0;
    std::memcpy(&value, &word, sizeof value);
    return value;
  }
};

/// stored() and loaded() convert values to and from the bytes in the device's memory.
template <class Stored>
std::vector<char> stored(const std::vector<float>& values) {
  std::vector<char> memory(values.size() * sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Stored value = static_cast<Stored>(values[i]);
    std::memcpy(&memory[i * sizeof value], &value, sizeof value);
  }
  return memory;
}
template <class Stored>
std::vector<float> loaded(const std::vector<char>& memory) {
  std::vector<float> values(memory.size() / sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored value;
    std::memcpy(&value, &memory[i * sizeof value], sizeof value);
    values[i] = static_cast<float>(value);
  }
  return values;
}

/// Calls `use` with an element of the tensor's type as it is in memory, and returns the result.
template <class Use>
auto with_element(const deplo::Tensor& tensor, const Use& use) {
  switch (tensor.dtype) {
    case deplo::DType::f32:
      return use(float());
    case deplo::DType::f64:
      return use(double());
    case deplo::DType::f16:
      return use(Half());
    case deplo::DType::bf16:
      return use(Bfloat16());
    case deplo::DType::i8:
      return use(std::int8_t());
    case deplo::DType::i16:
      return use(std::int16_t());
    case deplo::DType::i32:
      return use(std::int32_t());
    case deplo::DType::i64:
      return use(std::int64_t());
    case deplo::DType::boolean:
    case deplo::DType::u8:
      return use(std::uint8_t());
    case deplo::DType::u16:
      return use(std::uint16_t());
    case deplo::DType::u32:
      return use(std::uint32_t());
    case deplo::DType::u64:
      return use(std::uint64_t());
  }
  throw std::runtime_error(tensor.name + ": a type of a later version of deplo");
}

/// Returns the values of the graph's parameter with the dimensions in the order of `tensor`.
std::vector<float> permuted(const std::vector<float>& given, const deplo::Tensor& tensor) {
  if (tensor.permutation.empty()) return given;
  const std::size_t rank = tensor.shape.size();
  std::vector<std::size_t> stride(rank, 1);  // strides in the graph's parameter, by dimension of the tensor
  for (std::size_t d = 0; d < rank; ++d)
    for (std::size_t inner = 0; inner < rank; ++inner)
      if (tensor.permutation[inner] > tensor.permutation[d]) stride[d] *= static_cast<std::size_t>(tensor.shape[inner]);
  std::vector<float> values(count(tensor));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::size_t from = 0, rest = i;
    for (std::size_t d = rank; d-- > 0; rest /= static_cast<std::size_t>(tensor.shape[d]))
      from += rest % static_cast<std::size_t>(tensor.shape[d]) * stride[d];
    values[i] = given.at(from);
  }
  return values;
}

class Runtime {
 public:
  explicit Runtime(const deplo::Program& program) : program_(program), device_(find_device(program.device)) {
    cl_int code = CL_SUCCESS;
    context_.reset(clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code));
    check(code, "context");
    queue_.reset(clCreateCommandQueue(context_.get(), device_, 0, &code));
    check(code, "queue");
    for (const std::int64_t bytes : program.slots) {
      slots_.emplace_back(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, std::size_t(bytes), nullptr, &code));
      check(code, "memory");
    }
    for (const deplo::Tensor& tensor : program.tensors) memory_.push_back(memory_of(tensor));
    for (const deplo::Kernel& kernel : program.kernels) build(kernel);
  }

  void write(const deplo::Tensor& tensor, const std::vector<float>& values) {
    if (values.size() != count(tensor)) throw std::runtime_error(tensor.name + ": another number of values");
    const std::vector<char> memory =
        with_element(tensor, [&](auto element) { return stored<decltype(element)>(values); });
    write_bytes(tensor, memory.data(), memory.size());
  }

  std::vector<float> read(const deplo::Tensor& tensor) {
    std::vector<char> memory(bytes(tensor));
    if (memory.empty()) return {};
    check(clEnqueueReadBuffer(queue_.get(), slots_[tensor.slot].get(), CL_TRUE, offset(tensor), memory.size(),
                              memory.data(), 0, nullptr, nullptr),
          "read");
    return with_element(tensor, [&](auto element) { return loaded<decltype(element)>(memory); });
  }

  void launch(const deplo::Launch& launch) {
    const deplo::Kernel& kernel = program_.kernels[launch.kernel];
    const cl_kernel function = functions_[launch.kernel].get();
    set_arguments(function, launch, kernel.scalars);
    for (const std::size_t i : kernel.zeroed) zero(program_.tensors[launch.arguments[i]]);
    for (const deplo::Kernel::Initial& initial : kernel.initial)
      write_bytes(program_.tensors[launch.arguments[initial.argument]], initial.bytes.data(), initial.bytes.size());
    std::vector<std::size_t> local(kernel.block_extents.begin(), kernel.block_extents.end());
    std::vector<std::size_t> global(kernel.grid_extents.begin(), kernel.grid_extents.end());
    if (local.empty()) local = {std::size_t(kernel.block)}, global = {std::size_t(kernel.grid)};
    for (std::size_t i = 0; i < local.size(); ++i) global[i] *= local[i];
    check(clEnqueueNDRangeKernel(queue_.get(), function, static_cast<cl_uint>(local.size()), nullptr, global.data(),
                                 local.data(), 0, nullptr, nullptr),
          "launch");
    if (!kernel.assertions.empty())
      check_assertions(kernel, program_.tensors[launch.arguments[kernel.assertion_argument]]);
  }

 private:
  static std::size_t offset(const deplo::Tensor& tensor) { return static_cast<std::size_t>(tensor.offset); }

  /// Returns the memory that a kernel gets as the argument for a tensor: its slot, or a part of the slot.
  Memory memory_of(const deplo::Tensor& tensor) const {
    const cl_mem slot = slots_[tensor.slot].get();
    if (tensor.offset == 0) {
      check(clRetainMemObject(slot), "memory");
      return Memory(slot);
    }
    const cl_buffer_region region{offset(tensor), bytes(tensor)};
    cl_int code = CL_SUCCESS;
    Memory part(clCreateSubBuffer(slot, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    check(code, "memory");
    return part;
  }

  /// Sets the tensors in their order, and the scalars at their positions.
  void set_arguments(cl_kernel function, const deplo::Launch& launch,
                     const std::vector<deplo::Kernel::Scalar>& scalars) const {
    auto scalar = scalars.begin();
    auto tensor = launch.arguments.begin();
    for (cl_uint i = 0; i < launch.arguments.size() + scalars.size(); ++i) {
      cl_int code = CL_SUCCESS;
      if (scalar != scalars.end() && scalar->position == i) {
        const bool is_local = scalar->bytes.empty();
        code = clSetKernelArg(function, i, is_local ? scalar->local_bytes : scalar->bytes.size(),
                              is_local ? nullptr : scalar->bytes.data());
        ++scalar;
      } else {
        const cl_mem memory = memory_[*tensor++].get();
        code = clSetKernelArg(function, i, sizeof memory, &memory);
      }
      check(code, "argument");
    }
  }

  void write_bytes(const deplo::Tensor& tensor, const void* from, std::size_t count) {
    check(clEnqueueWriteBuffer(queue_.get(), slots_[tensor.slot].get(), CL_TRUE, offset(tensor), count, from, 0,
                               nullptr, nullptr),
          "write");
  }

  /// Throws if the launch ended with a failed assertion.
  void check_assertions(const deplo::Kernel& kernel, const deplo::Tensor& tensor) {
    const auto failed = static_cast<std::size_t>(read(tensor).at(0));
    if (failed != 0) throw std::runtime_error(kernel.assertions.at(failed - 1));
  }

  void build(const deplo::Kernel& kernel) {
    std::string options;
    for (const std::string& option : program_.build_options) options += option + " ";
    for (const std::string& option : kernel.build_options) options += option + " ";
    const char* text = kernel.source.c_str();
    cl_int code = CL_SUCCESS;
    Code built(clCreateProgramWithSource(context_.get(), 1, &text, nullptr, &code));
    check(code, "program");
    check(clBuildProgram(built.get(), 1, &device_, options.c_str(), nullptr, nullptr), kernel.name.c_str());
    functions_.emplace_back(clCreateKernel(built.get(), kernel.entry.c_str(), &code));
    check(code, kernel.entry.c_str());
  }

  void zero(const deplo::Tensor& tensor) {
    const char nothing = 0;
    check(clEnqueueFillBuffer(queue_.get(), slots_[tensor.slot].get(), &nothing, sizeof nothing, offset(tensor),
                              bytes(tensor), 0, nullptr, nullptr),
          "fill");
  }

  const deplo::Program& program_;
  cl_device_id device_;
  Owned<cl_context, clReleaseContext> context_;
  Owned<cl_command_queue, clReleaseCommandQueue> queue_;
  std::vector<Memory> slots_, memory_;  // by slot; by tensor
  std::vector<Function> functions_;
};

}  // namespace

std::vector<std::vector<float>> run(const deplo::Program& program,
                                    const std::map<std::string, std::vector<float>>& inputs) {
  Runtime runtime(program);
  for (const deplo::Tensor& tensor : program.tensors)
    if (tensor.kind != deplo::Tensor::Kind::computed)
      runtime.write(tensor, permuted(inputs.at(tensor.of.empty() ? tensor.name : tensor.of), tensor));
  for (const deplo::Launch& launch : program.launches) runtime.launch(launch);
  std::vector<std::vector<float>> outputs;
  for (const std::size_t output : program.outputs) outputs.push_back(runtime.read(program.tensors[output]));
  return outputs;
}
