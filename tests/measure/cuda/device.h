// A CUDA device on the fake driver.
#pragma once
#include <dlfcn.h>

#include "fake_cuda/fake_cuda.h"
#include "measure/cuda/cuda.h"
#include "measure/cuda/driver.h"
#include "measure/cuda/fixture.h"

namespace deplo::measure::cuda {

inline FakeCuda& fake() {
  static FakeCuda& state = [&]() -> FakeCuda& {
    void* const library = dlopen(DEPLO_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    return *reinterpret_cast<FakeCuda* (*)()>(dlsym(library, "fake_cuda"))();
  }();
  return state;
}

inline ir::Buffer dense_buffer(const std::string& name, ir::DType dtype, ir::Shape shape, ir::Role role) {
  return {name, dtype, role, shape, ir::row_major_strides(shape)};
}

/// Returns a kernel that computes y[i] = 2 x[i]. The fake driver's kernel `k` computes the same.
inline ir::KernelSource twice_source(std::int64_t blocks = 2) {
  ir::KernelSource source = source_of(
      "extern \"C\" __global__ void __launch_bounds__(32) k(const float* x, float* y) {\n"
      "  const int i = blockIdx.x * 32 + threadIdx.x;\n  y[i] = 2 * x[i];\n}\n",
      32);
  source.blocks = blocks;
  return source;
}

class FakeDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    DEPLO_NEED_NVRTC("sm_90");
    fake() = FakeCuda();
    fake().kernels["clock_probe"] = {{8, 8},
                                     [](const FakeLaunch& launch) {
                                       for (unsigned b = 0; b < launch.blocks; ++b) {
                                         auto* const reading = launch.pointer<std::uint64_t>(0) + 3 * b;
                                         reading[0] = b;
                                         reading[1] = static_cast<std::uint64_t>(1e3 * fake().now_us) + 7;
                                         // The cycle counter of each multiprocessor starts at a different value.
                                         reading[2] =
                                             static_cast<std::uint64_t>(fake().clock_mhz * fake().now_us) + 1000 * b;
                                       }
                                     },
                                     1};
    fake().kernels["k"] = {{8, 8}, [](const FakeLaunch& launch) {
                             for (unsigned i = 0; i < launch.blocks * launch.threads; ++i)
                               launch.pointer<float>(1)[i] = 2 * launch.pointer<const float>(0)[i];
                           }};
    driver_ = std::make_unique<Driver>(DEPLO_FAKE_CUDA);
    device_ = open_cuda(0, *driver_);
  }
  void TearDown() override {
    device_.reset();
    EXPECT_TRUE(IsSkipped() || fake().is_clean()) << "something was not given back";
  }

  static std::vector<ir::Buffer> buffers(std::int64_t elements = 64) {
    return {dense_buffer("x", ir::DType::f32, {elements}, ir::Role::input),
            dense_buffer("y", ir::DType::f32, {elements}, ir::Role::output)};
  }
  static KernelCode candidate(ir::KernelSource source = twice_source()) {
    KernelCode result;
    result.kernel.buffers = buffers();
    result.source = std::move(source);
    return result;
  }
  std::unique_ptr<Executable> build(const KernelCode& of) {
    auto executable = device_->build(of);
    if (!executable.ok()) throw std::runtime_error(executable.failure().message);
    return std::move(executable.value());
  }
  static std::vector<float> numbers(std::size_t count, float first = 1) {
    std::vector<float> values(count);
    for (float& value : values) value = first++;
    return values;
  }
  /// Returns the calls since the last forget() that start with `prefix`.
  static std::vector<std::string> calls(const std::string& prefix) {
    std::vector<std::string> found;
    for (const std::string& call : fake().calls)
      if (call.starts_with(prefix)) found.push_back(call);
    return found;
  }
  static void forget() {
    fake().calls.clear();
    fake().launches.clear();
  }

  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Device> device_;
};

}  // namespace deplo::measure::cuda
