// NVML's energy counter, and measured energies of launches, on the fake driver.
#include <gmock/gmock.h>

#include <functional>

#include "measure/cuda/device.h"
#include "measure/cuda/nvml.h"
#include "measure/protocol/energy.h"

namespace deplo::measure::cuda {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string fault(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::environment);
    EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("\n")));
    return error.what();
  }
  return "";
}

class CudaEnergy : public FakeDevice {
 protected:
  std::unique_ptr<EnergyCounter> open(int device = 40) const { return open_nvml(*driver_, device, DEPLO_FAKE_CUDA); }
  /// Returns the energy in mJ of a launch of the kernel k that takes `us`, on three sets of operands.
  double energy_mj(double us) {
    fake().kernels["k"].us = us;
    OperandSets sets(*device_, buffers(), 3);
    const auto executable = build(candidate());
    const auto counter = open();
    forget();
    return energy_of_launch(*executable, sets, 2, us, *counter).value_or_throw();
  }
};

TEST_F(CudaEnergy, IsThatOfTheGpuOnTheSameBus) {
  const auto counter = open();
  EXPECT_THAT(calls("nvmlDeviceGetHandle"), ::testing::ElementsAre("nvmlDeviceGetHandleByPciBusId 0000:2a:00.0"));
  const double before = counter->millijoules().value();
  fake().now_us += 99e3;
  EXPECT_EQ(counter->millijoules().value(), before);
  fake().now_us += 2e3;
  EXPECT_EQ(counter->millijoules().value() - before, 30e3);
  fake().fail["nvmlDeviceGetTotalEnergyConsumption"] = 3;
  const auto lost = counter->millijoules();
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.failure().status, Status::no_energy);
  EXPECT_EQ(lost.failure().message, "NVML can no longer read the energy: Not Supported (3)");
}

TEST_F(CudaEnergy, WhatIsMissingIsSaidInOneLine) {
  EXPECT_THAT(fault([&] { open(41); }), "NVML: cannot find the GPU 0000:2b:00.0: Not Found (6)");
  fake().fail["nvmlInit_v2"] = 9;
  EXPECT_EQ(fault([&] { open(); }), "NVML: cannot start: Not Supported (9)");
  fake().fail["nvmlDeviceGetTotalEnergyConsumption"] = 3;
  EXPECT_EQ(fault([&] { open(); }),
            "NVML: cannot read the energy of the GPU 0000:2a:00.0, which only GPUs from Volta on count: Not Supported "
            "(3)");
  EXPECT_THAT(fault([&] { open_nvml(*driver_, 40, "/nowhere/libnvidia-ml.so.1"); }),
              HasSubstr("no NVML: expected a library in /nowhere/libnvidia-ml.so.1; it comes with the driver"));
  EXPECT_THAT(fault([&] { device_->energy(); }), HasSubstr("NVML"));
}

// The launches run without pauses, without readings of the clock, and without a new graph for each batch.
TEST_F(CudaEnergy, ShortLaunchesReplayOneGraph) {
  EXPECT_NEAR(energy_mj(10), 3, 3 * energy_tie / 2);
  EXPECT_THAT(calls("cuGraphInstantiate"), SizeIs(1));
  EXPECT_THAT(calls("cuGraphInstantiate"), Each("cuGraphInstantiate steps=498"));
  EXPECT_GE(calls("cuGraphLaunch").size(), 100U);
  EXPECT_THAT(calls("cuEventRecord"), IsEmpty());
  EXPECT_THAT(calls("cuLaunchKernel clock_probe"), IsEmpty());
}

TEST_F(CudaEnergy, LongLaunchesNeedNoGraph) {
  EXPECT_NEAR(energy_mj(2000), 600, 600 * energy_tie / 2);
  EXPECT_THAT(calls("cuGraph"), IsEmpty());
  // Batches of two launches use the three sets in turn.
  const auto x_of = [](std::size_t launch) { return fake().launches.at(launch).pointer<float>(0); };
  EXPECT_NE(x_of(0), x_of(1));
  EXPECT_NE(x_of(1), x_of(2));
  EXPECT_NE(x_of(0), x_of(2));
  EXPECT_EQ(x_of(0), x_of(3));
}

TEST_F(CudaEnergy, AFailedLaunchIsOne) {
  OperandSets sets(*device_, buffers(), 3);
  const auto executable = build(candidate());
  const auto counter = open();
  for (const double us : {10.0, 2000.0}) {
    fake().fails_at_wait = 1;
    const auto failed = energy_of_launch(*executable, sets, 2, us, *counter);
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.failure().status, Status::launch_error);
  }
}

}  // namespace
}  // namespace deplo::measure::cuda
