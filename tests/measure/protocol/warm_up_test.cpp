// A GPU's clock from idle to steady. Scripts give the clock in each millisecond.
#include "measure/protocol/warm_up.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace deplo::measure {
namespace {

/// Returns the number of milliseconds of launches until the warm-up is done.
int spin(WarmUp warm_up, const std::function<double(int ms)>& clock) {
  int ms = 0;
  for (; !warm_up.done(); ++ms) warm_up.add(1000, clock(ms));
  return ms;
}

TEST(WarmUp, GoesOnWhileTheClockRises) {
  // The clock stays idle for longer than a steady clock must last. Then it rises by 100 MHz every 20 ms.
  const auto ramp = [](int ms) { return ms < 120 ? 345.0 : std::min(345.0 + 100 * ((ms - 120) / 20), 1980.0); };
  const int took = spin({1980, 0}, ramp);
  EXPECT_EQ(ramp(took - 100), 1980) << took;
  EXPECT_LT(took, 600);
}

TEST(WarmUp, ASteadyClockTakes100MsAtFirstThenTen) {
  const auto steady = [](int) { return 1755.0; };
  EXPECT_EQ(spin({1980, 0}, steady), 110);
  EXPECT_EQ(spin({1980, 1755}, steady), 10);
  EXPECT_EQ(spin({1980, 1800}, steady), 10) << "within 3 %";
}

TEST(WarmUp, AKernelThatLowersTheClockIsWaitedFor) {
  EXPECT_EQ(spin({1980, 1980}, [](int ms) { return ms < 5 ? 1980.0 : 1500.0; }), 110);
}

TEST(WarmUp, NoiseIsNoRise) {
  EXPECT_LE(spin({1980, 0}, [](int ms) { return 1700 + 8.0 * (ms % 3); }), 130);
}

TEST(WarmUp, ALowClockIsGivenASecond) {
  EXPECT_EQ(spin({1980, 0}, [](int) { return 345.0; }), 1000);
  EXPECT_EQ(spin({0, 0}, [](int) { return 345.0; }), 110) << "nothing says that it is low";
}

TEST(WarmUp, WithoutAClock10Ms) {
  EXPECT_EQ(spin({1980, 0}, [](int) { return 0.0; }), 10);
  EXPECT_EQ(spin({0, 0}, [](int) { return 0.0; }), 10);
}

}  // namespace
}  // namespace deplo::measure
