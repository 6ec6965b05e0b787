// Cold operands by rotation, samples at a clock that compares, what a device can do at best.
#include "measure/operand_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/least_work.h"
#include "measure/opencl.h"
#include "measure/sampling.h"
#include "scripted.h"

namespace deplo::measure {
namespace {

using testing::ElementsAre;
constexpr std::int64_t mib = 1 << 20;

TEST(OperandSets, AsManyAsMakeTheCacheCold) {
  EXPECT_EQ(operand_set_count(10 * mib, 50 * mib), 15U);
  EXPECT_EQ(operand_set_count(10 * mib + 1, 50 * mib), 15U);
  EXPECT_EQ(operand_set_count(10 * mib - 1, 50 * mib), 16U);
  EXPECT_EQ(operand_set_count(1, 50 * mib), 64U);
  EXPECT_EQ(operand_set_count(200 * mib, 50 * mib), 1U);
  EXPECT_EQ(operand_set_count(4096 * mib, 50 * mib), 1U);
  EXPECT_EQ(operand_set_count(100 * mib, 1024 * mib), 10U);  // the bound of all together
  EXPECT_EQ(operand_set_count(10 * mib, 0), 1U);
}

TEST(OperandSets, BatchesGoOnWhereTheLastEnded) {
  ScriptedDevice device;
  OperandSets sets(device, copy_program().buffers, 3);
  const auto numbers = [&](int launches) {
    std::vector<std::size_t> result;
    for (Arrays* const each : sets.next(launches))
      for (std::size_t i = 0; i < sets.size(); ++i)
        if (&sets[i] == each) result.push_back(i);
    return result;
  };
  EXPECT_THAT(numbers(1), ElementsAre(0));
  EXPECT_THAT(numbers(1), ElementsAre(1));
  EXPECT_THAT(numbers(2), ElementsAre(2, 0));
  EXPECT_THAT(numbers(7), ElementsAre(1, 2, 0));
  EXPECT_THAT(numbers(1), ElementsAre(2));
  EXPECT_EQ(sets.warm()[0], &sets[0]);
}

/// Says clocks by a script, and counts its rests.
class ClockedDevice final : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return Dialect::opencl; }
  std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>& buffers) override {
    return std::make_unique<ScriptedArrays>(buffers);
  }
  Result<std::unique_ptr<Executable>> build(const Candidate&) override { return Failure{}; }
  void pause(double milliseconds) override { rests.push_back(milliseconds); }
  std::vector<double> rests;

 private:
  DeviceInfo info_{.backend = "", .name = "", .vendor = "", .driver = "", .platform = "", .cpu = true};
};

class ClockedKernel final : public Executable {
 public:
  explicit ClockedKernel(std::function<double(int)> clock) : clock_(std::move(clock)) {}
  Result<double> launch(Arrays&, std::int64_t) override { return 1.0; }
  Result<Sample> sample(std::span<Arrays* const>, std::int64_t, int) override {
    const double clock = clock_(samples++);
    return Sample{1e5 / clock, clock};
  }
  const Resources& resources() const override { return resources_; }
  int samples = 0;

 private:
  std::function<double(int)> clock_;
  Resources resources_;
};

TEST(Sampler, SamplesAtALowClockAreTakenAgain) {
  ClockedDevice device;
  OperandSets sets(device, copy_program().buffers, 1);
  ClockedKernel kernel([](int i) { return i >= 10 && i < 14 ? 700.0 : 1000.0; });
  Sampler sampler(device, 0.97);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(sampler.take(kernel, sets, 1, 1).value().rejected.empty());
  const auto taken = sampler.take(kernel, sets, 1, 1).value();
  EXPECT_EQ(taken.sample.us, 100);
  EXPECT_EQ(taken.rejected.size(), 4U);
  EXPECT_THAT(device.rests, ElementsAre(50));
}

TEST(Sampler, ALastingChangeIsGotUsedTo) {
  ClockedDevice device;
  OperandSets sets(device, copy_program().buffers, 1);
  ClockedKernel kernel([](int i) { return i < 40 ? 1000.0 : 900.0; });
  Sampler sampler(device, 0.97);
  for (int i = 0; i < 40; ++i) sampler.take(kernel, sets, 1, 1);
  const auto taken = sampler.take(kernel, sets, 1, 1).value();
  EXPECT_NEAR(taken.sample.us, 1e5 / 900, 1e-9);  // after two rests it counts
  EXPECT_THAT(device.rests, ElementsAre(50, 75));
  for (int i = 0; i < 3; ++i) sampler.take(kernel, sets, 1, 1);
  EXPECT_TRUE(sampler.take(kernel, sets, 1, 1).value().rejected.empty());
  for (const double rest : device.rests) EXPECT_LE(rest, 500);
}

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
  const ir::Work work = least_work(matmul("a2, a1"));
  EXPECT_EQ(work.flops, 4 * 8 + 2 * 4 * 8 * 16);  // exp(a) can be computed once
  EXPECT_EQ(work.bytes, 4 * (4 * 8 + 8 * 16 + 4 * 16));
  EXPECT_EQ(least_work(matmul("a2, 3")).bytes, 4 * (4 * 8 + 4 * 16));  // of b a part is read
}

TEST(Probe, CeilingsOfARealDevice) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto device = open_device("opencl");
  Probe probe(*device);
  EXPECT_GT(probe.ceilings().copy_gb_s, 0.1);
  EXPECT_GT(probe.ceilings().read_gb_s, 0.1);
  EXPECT_GT(probe.ceilings().fp32_gflop_s, 1);
  const Ceilings before = probe.ceilings();
  probe.measure();
  EXPECT_GE(probe.ceilings().fp32_gflop_s, before.fp32_gflop_s);
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

}  // namespace
}  // namespace deplo::measure
