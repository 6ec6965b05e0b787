// The PTX of emitted kernels in exact arithmetic.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/cuda/fixture.h"
#include "measure/ptx/prove.h"
#include "measure/ptx/schedule_case.h"

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

}  // namespace
}  // namespace deplo::measure::ptx
