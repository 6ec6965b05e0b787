// The PTX machine as a device: its names, the findings in candidates, and the effect of a seed.
#include "measure/ptx/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "measure/cuda/fixture.h"
#include "measure/host_arrays.h"

namespace deplo::measure {
namespace {

using ::testing::HasSubstr;

using cuda::Nvrtc;  // for DEPLO_NEED_NVRTC

std::string refusal(const char* name) {
  try {
    open_device(name);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(PtxDevice, Names) {
  for (const char* wrong : {"ptx", "ptx:", "ptx:90", "ptx:sm_90:", "ptx:sm_90:x", "ptx:sm_90:1:2"})
    EXPECT_THAT(refusal(wrong), HasSubstr("expected")) << wrong;
  if (!cuda::Nvrtc::available()) GTEST_SKIP() << "no NVRTC: CUDA kernels are not compiled";
  EXPECT_THAT(refusal("ptx:sm_75"), HasSubstr("expected an architecture from sm_80 on"));
  EXPECT_THAT(refusal("ptx:sm_85"), HasSubstr("expected an architecture that NVRTC"));
  const auto device = open_device("ptx:sm_90:7");
  EXPECT_EQ(device->info().backend, "ptx");
  EXPECT_EQ(device->info().architecture, "sm_90");
  EXPECT_EQ(device->dialect(), Dialect::cuda);
  EXPECT_EQ(target_of(device->info()).name, "sm_90");
  EXPECT_EQ(find_device("ptx:sm_90:7"), device->info());
  EXPECT_FALSE(has_times("ptx:sm_90"));
  EXPECT_TRUE(has_times("cuda:0"));
}

KernelCode by_hand(const std::string& body, std::int64_t threads = 32) {
  KernelCode candidate;
  candidate.kernel.name = "k";
  candidate.kernel.buffers = {{"x", ir::DType::f32, ir::Role::output, {64}, {1}}};
  candidate.source = cuda::source_of("extern \"C\" __global__ void k(float* x) {\n" + body + "\n}\n", threads);
  return candidate;
}

std::string outcome(const KernelCode& candidate, const char* name = "ptx:sm_80") {
  const auto device = open_device(name);
  const auto built = device->build(candidate);
  if (!built.ok()) return built.failure().message;
  const auto arrays = device->allocate(candidate.kernel.buffers);
  const auto failed = built.value()->execute(*arrays, candidate.source.blocks);
  return failed ? failed->message : "";
}

TEST(PtxDevice, FindingsNameTheLineOfTheSource) {
  DEPLO_NEED_NVRTC("sm_80");
  EXPECT_EQ(outcome(by_hand("x[threadIdx.x] = 1;")), "");
  const std::string finding = outcome(by_hand("const int i = threadIdx.x;\nx[64 + i] = 1;"));
  EXPECT_THAT(finding, HasSubstr("CUDA line 3: st.global"));
  EXPECT_THAT(finding,
              HasSubstr("out of bounds: 4 bytes at byte 256 of 'x', which has 256 bytes; block 0, warp 0, lane 0"));
  EXPECT_THAT(
      outcome(by_hand("__shared__ float s[64];\ns[threadIdx.x] = x[0];\nx[threadIdx.x] = s[threadIdx.x ^ 32];", 64)),
      HasSubstr("race: reads 4 bytes at byte"));
  EXPECT_THAT(
      outcome(by_hand("__shared__ float s[64];\nif (threadIdx.x == 0) s[0] = 1;\nx[threadIdx.x] = s[threadIdx.x];")),
      HasSubstr("reads uninitialized shared memory"));
  EXPECT_THAT(outcome(by_hand("x[0] = clock64();")), HasSubstr("expected a register or a variable, found '%clock64'"));
  EXPECT_THAT(outcome(by_hand("int unused = ;")), HasSubstr("kernel.cu(2): error"));
}

// Runs with the same seed are equal. Other seeds give other interleavings.
TEST(PtxDevice, ASeedIsARun) {
  DEPLO_NEED_NVRTC("sm_80");
  KernelCode candidate =
      by_hand("if (threadIdx.x % 32 == 0) x[atomicAdd((int*)x + 63, 1)] = threadIdx.x / 32 + blockIdx.x * 4;", 128);
  candidate.source.blocks = 8;
  const auto order = [&](const char* name) {
    const auto device = open_device(name);
    const auto built = device->build(candidate);
    const auto arrays = device->allocate(candidate.kernel.buffers);
    EXPECT_FALSE(built.value()->execute(*arrays, 8).has_value());
    return arrays->read(0).doubles();
  };
  EXPECT_EQ(order("ptx:sm_80:1"), order("ptx:sm_80:1"));
  std::set<std::vector<double>> orders;
  for (const char* name : {"ptx:sm_80:1", "ptx:sm_80:2", "ptx:sm_80:3", "ptx:sm_80:4", "ptx:sm_80:5"})
    orders.insert(order(name));
  EXPECT_GT(orders.size(), 2U);
}

}  // namespace
}  // namespace deplo::measure
