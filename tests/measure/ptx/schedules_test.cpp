// Random schedules of every CUDA target: through the emitter and NVRTC, then on the PTX machine, which must compute what
// the reference says and find nothing wrong. A failure prints the seed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "measure/cuda/fixture.h"
#include "measure/ptx/schedule_case.h"

namespace deplo::measure::ptx {
namespace {

void check(std::uint64_t first, std::uint64_t count) {
  if (!cuda::Nvrtc::available()) GTEST_SKIP() << "no NVRTC: CUDA kernels are not compiled";
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const ScheduleCase c = random_case(seed);
    if (!cuda::Nvrtc::get().supports(c.target)) continue;
    const auto device = open_device(fmt::format("ptx:{}:{}", c.target, seed));
    const KernelCode candidate = candidate_of(c);
    EXPECT_EQ(run(loop_of(c), candidate, *device), "") << describe(c) << "\n" << trail_of(c);
  }
}

TEST(PtxSchedules, AFew) { check(1, 24); }
TEST(PtxSchedules, Many) { check(1'000, 400); }

}  // namespace
}  // namespace deplo::measure::ptx
