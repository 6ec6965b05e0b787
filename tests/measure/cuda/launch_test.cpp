// A user's own kernel on the fake driver: its grid, its values between the buffers, its options, and arguments that do
// not fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "measure/cuda/device.h"

namespace deplo::measure::cuda {
namespace {

using ::testing::HasSubstr;

class OwnLaunch : public FakeDevice {
 protected:
  /// y[i] = SCALE * x[i] + shift.
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
    code.launch = Launch{{1, 2}, {8, 4}, {{1, bytes}}, "-DSCALE=3"};
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
