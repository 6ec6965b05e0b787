// The PTX of emitted kernels in exact arithmetic.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/cuda/fixture.h"
#include "measure/ptx/prove.h"
#include "measure/ptx/schedule_case.h"
#include "rules/programs.h"

namespace deplo::measure::ptx {
namespace {

std::string verdict(const ScheduleCase& c) {
  return print(EmittedProof(with_index_ranges(loop_of(c)), 1).verdict(candidate_of(c), c.target, c.seed));
}

TEST(PtxProve, Matmul) {
  DEPLO_NEED_NVRTC("sm_90");
  for (const char* target : {"sm_80", "sm_90"})
    for (const int types : {0, 1, 2}) {
      const ScheduleCase c{
          .kernel = "matmul", .target = target, .symbols = {{"M", 64}, {"N", 64}, {"K", 64}}, .types = types};
      EXPECT_EQ(verdict(c), "proved") << describe(c);
    }
}

TEST(PtxProve, ZZAll) {
  for (const rules::Kernel& kernel : rules::kernels())
    for (const int types : {0, 1, 2})
      for (const char* target : {"sm_80", "sm_90"}) {
        if (kernel.name.starts_with("guarded") || (types == 0 && kernel.name != "integers")) continue;
        ScheduleCase c{.kernel = kernel.name, .target = target, .symbols = {}, .types = types};
        for (const std::string& symbol : kernel.symbols) c.symbols[symbol] = 33;
        constexpr double many = 2e6;  // operations, about a second
        while (ir::work(loop_of(c)).flops > many)
          for (auto& [symbol, size] : c.symbols) size = (size + 1) / 2;
        fmt::print("{}: {}\n", describe(c), verdict(c));
      }
}
TEST(PtxProve, ZZRandom) {
  (void)0;
  for (std::uint64_t seed = 1; seed < 100; ++seed) {
    const ScheduleCase c = random_case(seed);
    if (!cuda::Nvrtc::get().supports(c.target)) continue;
    fmt::print("{}: {}\n", describe(c), verdict(c));
  }
}

}  // namespace
}  // namespace deplo::measure::ptx
