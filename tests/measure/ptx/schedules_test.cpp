// Random schedules of every CUDA target: through the emitter and NVRTC, then on the PTX machine, which must compute what
// the reference says and find nothing wrong. A failure prints the seed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "measure/cuda/fixture.h"
#include "measure/ptx/schedule_case.h"
#include "rules/programs.h"

namespace deplo::measure::ptx {
namespace {

void check(const ScheduleCase& c, std::uint64_t seed) {
  if (!cuda::Nvrtc::get().supports(c.target)) return;
  const auto device = open_device(fmt::format("ptx:{}:{}", c.target, seed));
  EXPECT_EQ(run(loop_of(c), candidate_of(c), *device), "") << describe(c) << "\n" << trail_of(c);
}

void check(std::uint64_t first, std::uint64_t count) {
  if (!cuda::Nvrtc::available()) GTEST_SKIP() << "no NVRTC: CUDA kernels are not compiled";
  for (std::uint64_t seed = first; seed < first + count; ++seed) check(random_case(seed), seed);
}

TEST(PtxSchedules, AFew) { check(1, 24); }
TEST(PtxSchedules, Many) { check(1'000, 400); }

// The heuristic's schedule of every kernel that leaves no element unwritten, for each architecture.
TEST(PtxSchedules, HeuristicsOfAllKernels) {
  if (!cuda::Nvrtc::available()) GTEST_SKIP() << "no NVRTC: CUDA kernels are not compiled";
  std::uint64_t seed = 0;
  for (const rules::Kernel& kernel : rules::kernels()) {
    if (kernel.name.starts_with("guarded")) continue;
    for (const char* target : {"sm_80", "sm_90", "sm_100", "sm_120"}) {
      ScheduleCase c{.kernel = kernel.name, .target = target, .symbols = {}, .types = static_cast<int>(seed % 3)};
      for (const std::string& symbol : kernel.symbols) c.symbols[symbol] = seed % 2 == 0 ? 64 : 33;
      check(c, ++seed);
    }
  }
}

}  // namespace
}  // namespace deplo::measure::ptx
