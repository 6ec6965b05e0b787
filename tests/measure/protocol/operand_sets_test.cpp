// Rotation keeps operands cold. Samples at a low clock are taken again.
#include "measure/protocol/operand_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/protocol/sampling.h"
#include "measure/scripted.h"

namespace deplo::measure {
namespace {

using ::testing::ElementsAre;
constexpr std::int64_t mib = 1 << 20;

TEST(OperandSets, AsManyAsMakeTheCacheCold) {
  EXPECT_EQ(operand_set_count(10 * mib, 50 * mib), 15U);
  EXPECT_EQ(operand_set_count(10 * mib + 1, 50 * mib), 15U);
  EXPECT_EQ(operand_set_count(10 * mib - 1, 50 * mib), 16U);
  EXPECT_EQ(operand_set_count(1, 50 * mib), 64U);
  EXPECT_EQ(operand_set_count(200 * mib, 50 * mib), 1U);
  EXPECT_EQ(operand_set_count(4096 * mib, 50 * mib), 1U);
  EXPECT_EQ(operand_set_count(100 * mib, 1024 * mib), 10U);  // limited by max_operand_bytes
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

/// A device that records its pauses.
class ClockedDevice final : public Device {
 public:
  explicit ClockedDevice(bool cpu = true) { info_.cpu = cpu; }
  const DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return Dialect::opencl; }
  std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>& buffers) override {
    return std::make_unique<ScriptedArrays>(buffers);
  }
  Result<std::unique_ptr<Executable>> build(const KernelCode&) override { return Failure{}; }
  void pause(double milliseconds) override { rests.push_back(milliseconds); }
  std::vector<double> rests;

 private:
  DeviceInfo info_{.backend = "", .name = "", .vendor = "", .driver = "", .platform = ""};
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

TEST(OperandSets, OnAGpuABatchIsAWholeNumberOfRotations) {
  ClockedDevice gpu(false), cpu(true);
  const Protocol protocol;
  const OperandSets ten(gpu, copy_program().buffers, 10), on_cpu(cpu, copy_program().buffers, 10);
  EXPECT_EQ(batch_size(200, 6, protocol, ten), 30) << "33 launches, rounded down";
  EXPECT_EQ(batch_size(200, 6, protocol, on_cpu), 33);
  EXPECT_EQ(batch_size(200, 1, protocol, ten), 60) << "within the most of a batch";
  EXPECT_EQ(batch_size(200, 150, protocol, ten), 10) << "each set once";
  EXPECT_EQ(batch_size(200, 20e3, protocol, ten), 1) << "ten launches take 200 ms";
}

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
  EXPECT_NEAR(taken.sample.us, 1e5 / 900, 1e-9);  // after two rests, the lower clock is accepted
  EXPECT_THAT(device.rests, ElementsAre(50, 75));
  for (int i = 0; i < 3; ++i) sampler.take(kernel, sets, 1, 1);
  EXPECT_TRUE(sampler.take(kernel, sets, 1, 1).value().rejected.empty());
  for (const double rest : device.rests) EXPECT_LE(rest, 500);
}

}  // namespace
}  // namespace deplo::measure
