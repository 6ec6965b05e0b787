// Tests that, on CPUs, a loop with one or two accumulators adds to four of each, so that no addition waits for the
// previous one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/drawn_schedules.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::rules {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Returns a kernel that reduces the rows of x. `statements` may read x[a0, a1] as in0.
ir::Program rows(std::int64_t n, std::string_view statements, std::string_view result) {
  return ir::parse(
      fmt::format("=== loop: rows ===\ninput x: f32[3, {0}]\noutput y: f32[3]\nfor a0 in 0..3: # free\n"
                  "  for a1 in 0..{0}: # reduce\n    in0 = load x[a0, a1]\n{1}  y[a0] = {2}\n",
                  n, statements, result));
}

std::string kernel_text(const ir::Program& loop, const char* target_name) {
  const Target target = load_target(target_name);
  return ir::print(materialize(heuristic(loop, target).program(), target));
}

TEST(ParallelSums, OfFourAccumulators) {
  const std::string text = kernel_text(rows(1024, "    acc0 <- add(acc0, in0)\n", "acc0"), "opencl-cpu");
  EXPECT_THAT(text, HasSubstr("< 1024; += 64): # reduce unroll=2\n"));
  EXPECT_THAT(text, HasSubstr("  acc0:f32x16 <- add(acc0, acc1)\n  acc2:f32x16 <- add(acc2, acc3)\n"
                              "  acc0:f32x16 <- add(acc0, acc2)\n"));
}

TEST(ParallelSums, TripsThatFourDoesNotDivideStandBehind) {
  const std::string text = kernel_text(rows(16 * 10, "    acc0 <- maximum(acc0, in0)\n", "acc0"), "opencl-cpu");
  EXPECT_THAT(text, HasSubstr("Init(acc3:f32x16, op=maximum)"));
  EXPECT_THAT(text, HasSubstr("< 128; += 64)"));
  EXPECT_THAT(text, HasSubstr("= 128; < 160; += 16)"));
}

TEST(ParallelSums, NotOfFewTripsOrManyAccumulatorsOrOnGpus) {
  const ir::Program few = rows(16 * 7, "    acc0 <- add(acc0, in0)\n", "acc0");
  EXPECT_THAT(kernel_text(few, "opencl-cpu"), Not(HasSubstr("acc1")));
  const ir::Program three = rows(1024,
                                 "    acc0 <- add(acc0, in0)\n    acc1 <- maximum(acc1, in0)\n"
                                 "    acc2 <- minimum(acc2, in0)\n"
                                 "  v0 = add(acc0, acc1)\n  v1 = add(v0, acc2)\n",
                                 "v1");
  EXPECT_THAT(kernel_text(three, "opencl-cpu"), Not(HasSubstr("acc3")));
  const ir::Program one = rows(1024, "    acc0 <- add(acc0, in0)\n", "acc0");
  EXPECT_THAT(kernel_text(one, "sm_90"), Not(HasSubstr("acc1")));
}

class ParallelSumsOf : public ::testing::TestWithParam<const char*> {};

TEST_P(ParallelSumsOf, EveryScheduleMeansTheSame) {
  const Target target = load_target(GetParam());
  const std::string_view statements[] = {"    acc0 <- add(acc0, in0)\n", "    acc0 <- maximum(acc0, in0)\n",
                                         "    v0 = multiply(in0, in0)\n    acc0 <- add(acc0, v0)\n"};
  for (const std::int64_t n : {8, 31, 33, 144, 160, 1000, 1009})
    for (const std::string_view lines : statements)
      check_drawn_schedules(rows(n, lines, "acc0"), target, 4, fmt::format("{} {}", n, lines));
}

INSTANTIATE_TEST_SUITE_P(Targets, ParallelSumsOf, ::testing::Values("opencl-cpu", "opencl-cpu-avx2", "sm_80"));

}  // namespace
}  // namespace deplo::rules
