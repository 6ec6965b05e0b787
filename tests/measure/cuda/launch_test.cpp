// A user's kernel on the fake driver: its grid, scalars between the buffers, compiler options, constant variables, and
// arguments that do not match the kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "measure/cuda/device.h"

namespace deplo::measure::cuda {
namespace {

using ::testing::HasSubstr;

class OwnLaunch : public FakeDevice {
 protected:
  /// Returns a kernel that computes y[i] = SCALE * x[i] + shift, with the given parameters in its signature.
  static KernelCode own(const std::string& parameters = "const float* x, const int shift, float* y") {
    ir::KernelSource source = source_of(
        "extern \"C\" __global__ void own(" + parameters +
            ") {\n"
            "  const int i = blockIdx.y * 32 + threadIdx.y * 8 + threadIdx.x;\n  y[i] = SCALE * x[i] + shift;\n}\n",
        32);
    source.entry = "own";
    KernelCode code = candidate(std::move(source));
    const std::int32_t shift = 5;
    std::vector<std::uint8_t> bytes(sizeof shift);
    std::memcpy(bytes.data(), &shift, sizeof shift);
    code.launch = Launch{{1, 2}, {8, 4}, {{1, bytes}}, {}, "-DSCALE=3"};
    return code;
  }
};

TEST_F(OwnLaunch, HasItsGridAndItsValues) {
  fake().kernels["own"] = {{8, 4, 8}, [](const FakeLaunch& launch) {
                             EXPECT_EQ(launch.blocks, 1u);
                             EXPECT_EQ(launch.blocks_y, 2u);
                             EXPECT_EQ(launch.threads, 8u);
                             for (int i = 0; i < 64; ++i)
                               launch.pointer<float>(2)[i] =
                                   3 * launch.pointer<const float>(0)[i] + static_cast<float>(launch.number<int>(1));
                           }};
  const auto executable = build(own());
  const auto arrays = device_->allocate(buffers());
  arrays->write(0, ir::Numbers(numbers(64)));
  ASSERT_FALSE(executable->execute(*arrays, 1));
  EXPECT_EQ(arrays->read(1)[0], 8);
  EXPECT_EQ(arrays->read(1)[63], 3 * 64 + 5);
  Arrays* const set = arrays.get();
  EXPECT_TRUE(executable->sample({&set, 1}, 1, 3).ok());
}

// An instance of a template has a mangled name. NVRTC reports this name, and the cache keeps it.
TEST_F(OwnLaunch, TemplatesAreInstantiated) {
  DEPLO_NEED_NVRTC("sm_90");
  const ir::KernelSource source = [] {
    ir::KernelSource made = source_of(
        "namespace ns {\ntemplate <typename T, int N>\n__global__ void own(const T* x, T* y) {\n"
        "  y[threadIdx.x] = x[threadIdx.x] * N;\n}\n}\n"
        "template <int N> __global__ void other(float* y) { y[0] = N; }\n");
    made.entry = "ns::own<float, 7>";
    return made;
  }();
  for (int i = 0; i < 2; ++i) {
    const auto cubin = compile_cubin(source, "sm_90");
    ASSERT_TRUE(cubin.ok()) << cubin.failure().message;
    EXPECT_EQ(cubin.value().entry, "_ZN2ns3ownIfLi7EEEvPKT_PS1_");
    EXPECT_GT(cubin.value().resources.registers, 0);
  }
  ir::KernelSource wrong = source;
  wrong.entry = "ns::own<float, x>";
  EXPECT_FALSE(compile_cubin(wrong, "sm_90").ok());
}

// An array that is not a parameter: before a launch, its contents are copied to a variable of the code.
TEST_F(OwnLaunch, ConstantVariablesAreFilled) {
  fake().kernels["own"] = {{8}, [](const FakeLaunch& launch) {
                             const auto* const constant = reinterpret_cast<const float*>(fake().variables["c"].data());
                             for (int i = 0; i < 64; ++i) launch.pointer<float>(0)[i] = 2 * constant[i];
                           }};
  KernelCode code = own();
  code.source.text =
      "__constant__ float c[64];\nextern \"C\" __global__ void own(float* y) {\n"
      "  const int i = blockIdx.y * 32 + threadIdx.y * 8 + threadIdx.x;\n  y[i] = 2 * c[i];\n}\n";
  code.launch->scalars.clear();
  code.launch->symbols = {{0, "c"}};
  fake().variables["c"].assign(64 * sizeof(float), 0);
  const auto executable = build(code);
  const auto arrays = device_->allocate(buffers());
  arrays->write(0, ir::Numbers(numbers(64)));
  ASSERT_FALSE(executable->execute(*arrays, 1));
  EXPECT_EQ(arrays->read(1)[63], 2 * 64);
  fake().variables["c"].assign(64 * sizeof(float), 0);
  Arrays* const set = arrays.get();
  EXPECT_TRUE(executable->sample({&set, 1}, 1, 3).ok());
  EXPECT_EQ(arrays->read(1)[0], 2);
  const auto fault = [&] {
    const auto built = device_->build(code);
    return built.ok() ? "built" : built.failure().message;
  };
  fake().variables["c"].resize(8);
  EXPECT_EQ(fault(), "expected a __constant__ variable 'c' of 256 bytes, found one of 8 bytes");
  code.launch->symbols[0].is_parameter = true;
  EXPECT_THAT(fault(), HasSubstr("expected a kernel 'own' with the 2 arguments of the space, found one with 1 param"));
  code.launch->symbols[0].is_parameter = false;
  code.launch->symbols[0].name = "d";
  EXPECT_EQ(fault(), "expected a __constant__ variable 'd' of 256 bytes, found none");
}

TEST_F(OwnLaunch, ArgumentsThatDoNotFitAreABuildError) {
  const auto fault = [&](const KernelCode& code) {
    const auto built = device_->build(code);
    return built.ok() ? "built" : built.failure().message;
  };
  EXPECT_THAT(fault(own("const float* x, const int shift, float* y, int more")),
              HasSubstr("expected a kernel 'own' with the 3 arguments of the space, found one with 4 parameters"));
  EXPECT_THAT(fault(own("const float* x, const double shift, float* y")),
              HasSubstr("expected 4 bytes as argument 1 of the kernel 'own', found a parameter of 8 bytes"));
  KernelCode without = own();
  without.launch->options.clear();
  EXPECT_THAT(fault(without), HasSubstr("SCALE"));
}

}  // namespace
}  // namespace deplo::measure::cuda
