// Measured ceilings of a device, and the least work of a kernel under any schedule.
#include "measure/protocol/probe.h"

#include <gtest/gtest.h>

#include "measure/cuda/fixture.h"
#include "measure/opencl/opencl.h"
#include "measure/protocol/problem.h"
#include "measure/scripted.h"
#include "rules/cost/least_work.h"

namespace deplo::measure {
namespace {

ir::Program matmul(const std::string& b_index) {
  return ir::parse(
      "=== loop: matmul ===\n"
      "input a: f32[4, 8]\n"
      "input b: f32[8, 16]\n"
      "output c: f32[4, 16]\n"
      "for a0 in 0..4: # free\n"
      "  for a1 in 0..16: # free\n"
      "    for a2 in 0..8: # reduce\n"
      "      in0 = load a[a0, a2]\n"
      "      in1 = load b[" +
      b_index +
      "]\n"
      "      v0 = exp(in0)\n"
      "      v1 = multiply(v0, in1)\n"
      "      acc0 <- add(acc0, v1)\n"
      "    c[a0, a1] = acc0\n");
}

TEST(LeastWork, CountsWhatNoCompilerCanAvoid) {
  const ir::Work work = rules::least_work(matmul("a2, a1"));
  EXPECT_EQ(work.flops, 4 * 8 + 2 * 4 * 8 * 16);  // exp(a) can be computed once per element of a
  EXPECT_EQ(work.bytes, 4 * (4 * 8 + 8 * 16 + 4 * 16));
  EXPECT_EQ(rules::least_work(matmul("a2, 3")).bytes, 4 * (4 * 8 + 4 * 16));  // only a part of b is read
}

// Tensor cores are far faster than the fp32 ceiling, and here only matmuls of 16-bit operands may use them. So only for
// these matmuls, least_work() counts no FLOPs.
TEST(LeastWork, HoldsProductsOfMatricesToNoFlops) {
  for (const ir::DType dtype : {ir::DType::f32, ir::DType::bf16, ir::DType::f16}) {
    ir::Program loop = ir::parse(
        "=== loop: k ===\ninput a: f32[4, 8]\ninput b: f32[8, 16]\noutput c: f32[4, 16]\nfor a0 in 0..4: # free\n"
        "  for a1 in 0..16: # free\n    for a2 in 0..8: # reduce\n      in0 = load a[a0, a2]\n"
        "      in1 = load b[a2, a1]\n      v0 = multiply(in0, in1)\n      acc0 <- add(acc0, v0)\n"
        "    c[a0, a1] = acc0\n");
    for (ir::Buffer& buffer : loop.buffers)
      if (buffer.role == ir::Role::input) buffer.dtype = dtype;
    const ir::Work any = rules::least_work(loop), matrices = rules::least_work(loop, true);
    EXPECT_EQ(any.flops, 2 * 4 * 8 * 16);
    EXPECT_EQ(matrices.flops, dtype == ir::DType::f32 ? any.flops : 0);
    EXPECT_EQ(matrices.bytes, any.bytes);
  }
  EXPECT_TRUE(has_matrix_instructions("cuda", "sm_80"));
  EXPECT_TRUE(has_matrix_instructions("opencl", avx512_bf16));
  EXPECT_FALSE(has_matrix_instructions("opencl", ""));
}

TEST(Probe, CeilingsOfARealDevice) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto device = open_device("opencl");
  Probe probe(*device);
  EXPECT_EQ(probe.measure().gb_s(), 0);  // memory is slow to measure, so it is measured only on request
  probe.include_memory();
  EXPECT_GT(probe.ceilings().copy_gb_s, 0.1);
  EXPECT_GT(probe.ceilings().read_gb_s, 0.1);
  EXPECT_GT(probe.ceilings().fp32_gflop_s, 1);
  const rules::Ceilings before = probe.ceilings(), now = probe.measure();
  EXPECT_EQ(probe.ceilings(), rules::highest(before, now));
  EXPECT_EQ(probe.measured(), probe.ceilings());
}

// If the device is busy at the start, it seems slow. Good times must stay plausible if a better ceiling is on record.
TEST(Probe, WhatWasKnownIsNotForgotten) {
  const auto device = open_device("interpreter");
  Probe probe(*device, {1, 20, 1000});
  EXPECT_EQ(probe.ceilings(), (rules::Ceilings{1, 20, 1000}));
  EXPECT_EQ(probe.measured(), rules::Ceilings{});
  Problem problem(matmul("a2, a1"), *device, 1, &probe);  // 896 bytes take at least 0.045 µs
  EXPECT_FALSE(problem.implausible(0.042, 1, 0.9).has_value());
  EXPECT_TRUE(problem.implausible(0.038, 1, 0.9).has_value());
}

TEST(Probe, KnownRatesOfMemoryAreMeasuredOnlyAgain) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto device = open_device("opencl");
  Probe probe(*device, {1e5, 1e5, 0});
  probe.include_memory();
  EXPECT_EQ(probe.measured().gb_s(), 0);
  EXPECT_GT(probe.measure().gb_s(), 0.1);
  EXPECT_EQ(probe.ceilings().gb_s(), 1e5);
}

TEST(Probe, ATimeBelowTheCeilingsIsImplausible) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto device = open_device("opencl");
  Probe probe(*device);
  Problem problem(matmul("a2, a1"), *device, 1, &probe);  // 1056 FLOPs
  EXPECT_FALSE(problem.implausible(100, 1, 0.9).has_value());
  EXPECT_EQ(problem.implausible(1e-9, 1, 0.9)->status, Status::implausible);
  Problem without(matmul("a2, a1"), *device, 1);
  EXPECT_FALSE(without.implausible(1e-9, 1, 0.9).has_value());
}

TEST(Probe, OfADeviceThatTakesNoSourceIsUnknown) {
  const auto device = open_device("interpreter");
  Probe probe(*device);
  EXPECT_EQ(probe.ceilings().gb_s(), 0);
  EXPECT_EQ(probe.ceilings().fp32_gflop_s, 0);
}

/// A device that compiles for a GPU that this machine does not have.
class CompilingDevice final : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return Dialect::cuda; }
  std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>& buffers) override {
    return std::make_unique<ScriptedArrays>(buffers);
  }
  Result<std::unique_ptr<Executable>> build(const KernelCode& candidate) override {
    const auto cubin = cuda::compile_cubin(candidate.source, "sm_90");
    built.push_back(cubin.ok() ? "" : cubin.failure().message);
    spills += cubin.ok() ? cubin.value().resources.spill_bytes : 0;
    return Failure{Status::load_error, "no GPU"};
  }
  std::vector<std::string> built;
  std::int64_t spills = 0;

 private:
  DeviceInfo info_{.backend = "cuda", .name = "", .vendor = "", .driver = "", .platform = "", .units = 132};
};

TEST(Probe, ItsKernelsAreCudaToo) {
  using cuda::Nvrtc;
  DEPLO_NEED_NVRTC("sm_90");
  CompilingDevice device;
  Probe probe(device);
  probe.include_memory();
  EXPECT_EQ(device.built, std::vector<std::string>(3));
  EXPECT_EQ(device.spills, 0);
  EXPECT_EQ(probe.ceilings().gb_s(), 0);
}

}  // namespace
}  // namespace deplo::measure
