// Tests that, on CPUs, a value that several iterations of a loop share is loaded and unpacked once for all of them.
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

std::string split_text(const ir::Program& loop, const char* target_name) {
  const Target target = load_target(target_name);
  return ir::print(materialize(heuristic(loop, target).program(), target));
}

ir::Program packed(const char* name, std::int64_t m, std::int64_t n) {
  return ir::parse(kernel(name).text, {{"M", m}, {"N", n}}, name);
}

/// Returns a kernel with sums over a1. `of_q` and `of_s` are the row indices with which it loads q and s.
ir::Program sums(std::string_view of_q, std::string_view of_s = "a1") {
  return ir::parse(
      fmt::format("=== loop: sums ===\ninput q: f32[64, 512]\ninput s: f32[64, 512]\noutput y: f32[512]\n"
                  "for a0 in 0..512: # free\n  for a1 in 0..48: # reduce\n    in0 = load q[{}, a0]\n"
                  "    in1 = load s[{}, a0]\n    v0 = multiply(in0, in1)\n    acc0 <- add(acc0, v0)\n  y[a0] = acc0\n",
                  of_q, of_s));
}

TEST(Quotients, TheLoadStandsAroundTheTurnsThatShareIt) {
  const std::string text = split_text(sums("(a1 / 8)"), "opencl-cpu");
  EXPECT_THAT(text, HasSubstr("  for a2 in 0..6: # free\n"));
  EXPECT_THAT(text, HasSubstr("    in0:f32x16 = load q[a2, (a0 * 128)]\n"));
  EXPECT_THAT(text, HasSubstr("    for a3 in 0..8: # reduce unroll\n"));
  EXPECT_THAT(text, HasSubstr("      in8:f32x16 = load s[((a2 * 8) + a3), (a0 * 128)]\n"));
}

TEST(Quotients, LoopsStandInEachOther) {
  const std::string text = split_text(sums("(a1 / 24)", "(a1 / 8)"), "opencl-cpu");
  EXPECT_THAT(text, HasSubstr("  for a2 in 0..2: # free\n"));
  EXPECT_THAT(text, HasSubstr("\n    in0:f32x16 = load q[a2, (a0 * 128)]\n"));
  EXPECT_THAT(text, HasSubstr("    for a3 in 0..3: # free\n"));
  EXPECT_THAT(text, HasSubstr("\n      in8:f32x16 = load s[((a2 * 3) + a3), (a0 * 128)]\n"));
  EXPECT_THAT(text, HasSubstr("      for a4 in 0..8: # reduce unroll\n"));
}

TEST(Quotients, OnlyWhereTurnsShareALoad) {
  for (const char* index : {"a1", "(a1 % 8)", "((a1 + 1) / 8)", "(a1 / 7)", "((a1 / 8) + (a1 % 2))"})
    EXPECT_THAT(split_text(sums(index), "opencl-cpu"), Not(HasSubstr("# free"))) << index;
  EXPECT_THAT(split_text(sums("(a1 / 48)"), "opencl-cpu"), Not(HasSubstr("# free"))) << "all turns";
  EXPECT_THAT(split_text(sums("(a1 / 8)"), "sm_90"), Not(HasSubstr("# free")));
}

class QuotientsOf : public ::testing::TestWithParam<const char*> {};

TEST_P(QuotientsOf, EveryScheduleMeansTheSame) {
  const Target target = load_target(GetParam());
  for (const char* name : {"packed_words", "packed_columns", "packed_bytes"})
    for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 256}, {3, 40}, {16, 96}, {5, 33}})
      check_drawn_schedules(packed(name, m, n), target, 4, fmt::format("{} {} x {}", name, m, n));
}

INSTANTIATE_TEST_SUITE_P(Cpus, QuotientsOf, ::testing::Values("opencl-cpu", "opencl-cpu-bf16", "opencl-cpu-avx2"));

}  // namespace
}  // namespace deplo::rules
