// Sums of matrix instructions, computed as tensor cores do: by direct calls, and by the PTX machine.
#include "measure/ptx/instructions/tensor_sum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/file.h"
#include "measure/cuda/fixture.h"
#include "measure/device.h"
#include "measure/ptx/device.h"

namespace deplo::measure::ptx::tensor_sum_test {
namespace {

/// Returns `sum` plus the sum of 1 * value for all values, which have 16 bits.
float sum_of(const char* architecture, const std::vector<double>& values, float sum = 0) {
  std::vector<Aligned> a(values.size(), {1, 0}), b;
  for (const double value : values) b.push_back({value, value == 0 ? -126 : std::ilogb(value)});
  return tensor_sum_of(architecture)(a, b, sum, 2);
}

TEST(TensorSum, CutsOffBehindSomeBitsOfTheGreatest) {
  std::vector<double> values(8, 0x1p-25);
  EXPECT_EQ(sum_of("sm_90a", values, 1), 1 + 0x1p-22);  // 25 bits after the leading bit of 1 are kept
  EXPECT_EQ(sum_of("sm_80", values, 1), 1);             // 24 bits are kept
  values.assign(8, 0x1.8p-24);
  EXPECT_EQ(sum_of("sm_80", values, 1), 1 + 0x1p-21);
  EXPECT_EQ(sum_of("sm_100a", values, -1), -1 + 8 * 0x1.8p-24);
}

TEST(TensorSum, CutsOffTheResultToo) {
  EXPECT_EQ(sum_of("sm_90", {0x1.8p-24}, 1), 1);  // to nearest it would be 1 + 2^-23
  EXPECT_EQ(sum_of("sm_90", {-0x1p-25}, 1), 1 - 0x1p-24);
  EXPECT_EQ(sum_of("sm_90", {-0x1.8p-24}, -1), -1);
}

TEST(TensorSum, RepeatsForEightProductsBeforeHopper) {
  // sm_80 adds the first eight products and then the last eight. So it cuts 2^-26 off only if its group of eight or the
  // sum so far contains 1. sm_90 adds all 16 products at once.
  std::vector<double> values(16, 0);
  values[0] = 1;
  values[8] = -1;
  values[9] = 0x1p-26;
  EXPECT_EQ(sum_of("sm_90", values), 0);
  EXPECT_EQ(sum_of("sm_80", values), 0);
  values[0] = 0;
  values[8] = 0;
  values[1] = 0x1p-26;
  EXPECT_EQ(sum_of("sm_90", values), 0x1p-25);
  values[1] = 1;
  values[2] = -1;
  EXPECT_EQ(sum_of("sm_90", values), 0);
  EXPECT_EQ(sum_of("sm_80", values), 0x1p-26);  // the first eight add up to 0
}

TEST(TensorSum, AlignsByTheExponentsOfTheFactors) {
  // The exponents of the factors give 1.5 * 1.5 = 2.25 the exponent 0, so that 2^-25 is not cut off.
  const std::vector<Aligned> a = {{1.5, 0}, {1, 0}, {1.5, 0}}, b = {{1.5, 0}, {0x1p-25, -25}, {-1.5, 0}};
  EXPECT_EQ(tensor_sum_of("sm_90")(a, b, 0, 2), 0x1p-25F);
}

TEST(TensorSum, TakesWhatIsNoNumberAndTheEndsOfTheType) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(sum_of("sm_90", {infinity, 1}), infinity);
  EXPECT_TRUE(std::isnan(sum_of("sm_90", {infinity, -infinity})));
  EXPECT_TRUE(std::isnan(sum_of("sm_90", {1}, std::numeric_limits<float>::quiet_NaN())));
  constexpr float greatest = std::numeric_limits<float>::max();
  EXPECT_EQ(sum_of("sm_90", {0x1p103}, greatest), greatest);  // the sum stays below 2^128
  EXPECT_EQ(sum_of("sm_90", {0x1p104}, greatest), infinity);
  EXPECT_EQ(sum_of("sm_90", {0x1p-149}), 0x1p-149F);
  EXPECT_EQ(sum_of("sm_90", {0, 0}, -0.0F), 0);
}

// The first 512 sums of experiments/cuda/tensor_sums.py, which an H200 computed.
class TensorSums : public ::testing::TestWithParam<const char*> {
 protected:
  static std::vector<std::uint8_t> data(const std::string& name) {
    const std::string bytes = read_file(DEPLO_SOURCE_DIR "/tests/data/tensor_sums/" + name + ".bin");
    return {bytes.begin(), bytes.end()};
  }
  static std::vector<std::uint8_t> sums_on(const char* device_name) {
    const std::string name = GetParam(), type = name.substr(name.find('_') + 1);
    KernelCode code;
    code.kernel.buffers = {{"a", ir::DType::i32, ir::Role::input, {512}, {1}},
                           {"b", ir::DType::i32, ir::Role::input, {256}, {1}},
                           {"c", ir::DType::f32, ir::Role::input, {512}, {1}},
                           {"d", ir::DType::f32, ir::Role::output, {512}, {1}}};
    code.source.text = "#define TYPE " + type + "\n#define IS_TF32 " + (type == "tf32" ? "1" : "0") +
                       "\n#define WGMMA " + (name.starts_with("wgmma") ? "1" : "0") + "\n" +
                       read_file(DEPLO_SOURCE_DIR "/experiments/cuda/tensor_sums.cu");
    code.source.entry = "tensor_sums";
    code.source.threads = 128;
    code.source.architecture_specific = true;
    code.launch = Launch{{1}, {128}};
    const auto device = open_ptx(device_name);
    const auto arrays = device->allocate(code.kernel.buffers);
    for (std::size_t i = 0; i < 3; ++i) arrays->write_bytes(i, data(code.kernel.buffers[i].name));
    const auto built = device->build(code);
    EXPECT_TRUE(built.ok()) << built.failure().message;
    const auto failure = built.value()->execute(*arrays, 1);
    EXPECT_FALSE(failure) << failure->message;
    return arrays->read_bytes(3);
  }
};

TEST_P(TensorSums, HaveTheBitsOfAnH200) {
  DEPLO_NEED_NVRTC("sm_90");
  const std::vector<std::uint8_t> expected = data(std::string("h200_") + GetParam());
  EXPECT_EQ(sums_on("ptx:sm_90:truncated"), expected);
  EXPECT_NE(sums_on("ptx:sm_90"), expected);
  if (!std::string_view(GetParam()).starts_with("wgmma")) {
    EXPECT_NE(sums_on("ptx:sm_80:truncated"), expected);
  }
}
INSTANTIATE_TEST_SUITE_P(Kinds, TensorSums, ::testing::Values("f16", "bf16", "tf32", "wgmma_f16", "wgmma_bf16"));

TEST(PtxDeviceName, HasASeedAndTheWordTruncated) {
  for (const char* name : {"ptx:sm_90:", "ptx:sm_90:x", "ptx:sm_90:truncated:7", "ptx:sm_90:7:", "ptx:truncated",
                           "ptx:", "ptx:sm_90:7:truncated:truncated"})
    EXPECT_THROW(open_ptx(name), Error) << name;
}

}  // namespace
}  // namespace deplo::measure::ptx::tensor_sum_test
