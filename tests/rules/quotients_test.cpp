// Tests that, on CPUs, a value that several iterations of a loop share is loaded and unpacked once for all of them, and
// that large windows are walked line by line.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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

/// Returns the Kernel IR of the heuristic's schedule, except that no loop is unrolled.
std::string rolled_text(const ir::Program& loop, const char* target_name) {
  const Target target = load_target(target_name);
  Lowering lowering(loop, target);
  while (lowering.fork()) {
    const std::vector<Value>& options = lowering.fork()->options;
    const auto once = std::ranges::find(options, Value{std::int64_t{1}});
    const bool unrolls = lowering.fork()->knob.starts_with("mark_unroll.");
    lowering.choose(unrolls && once != options.end() ? static_cast<std::size_t>(once - options.begin()) : 0);
  }
  return ir::print(materialize(lowering.program(), target));
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
    EXPECT_THAT(rolled_text(sums(index), "opencl-cpu"), Not(HasSubstr("# free"))) << index;
  EXPECT_THAT(split_text(sums("(a1 / 48)"), "opencl-cpu"), Not(HasSubstr("# free"))) << "all turns";
  EXPECT_THAT(split_text(sums("(a1 / 8)"), "sm_90"), Not(HasSubstr("# free")));
}

/// Returns a depthwise convolution with channels last: `window` lines of `window` elements, `step` apart.
ir::Program window_sums(std::int64_t window, std::int64_t step, std::int64_t outputs, std::int64_t channels) {
  const std::int64_t padded = (outputs - 1) * step + window;
  return ir::parse(fmt::format(
      "=== loop: windows ===\ninput x: f32[{0}, {0}, {3}]\ninput w: f32[{1}, {1}, {3}]\noutput y: f32[{4}, {4}, {3}]\n"
      "for a0 in 0..{4}: # free\n  for a1 in 0..{4}: # free\n    for a2 in 0..{3}: # free\n"
      "      for a3 in 0..{5}: # reduce\n        in0 = load x[((a0 * {2}) + (a3 / {1})), ((a1 * {2}) + (a3 % {1})), "
      "a2]\n"
      "        in1 = load w[(a3 / {1}), (a3 % {1}), a2]\n        v0 = multiply(in0, in1)\n"
      "        acc0 <- add(acc0, v0)\n      y[a0, a1, a2] = acc0\n",
      padded, window, step, channels, outputs, window * window));
}

TEST(Windows, LargeOnesAreWalkedLineByLine) {
  const std::string text = split_text(window_sums(7, 1, 28, 192), "opencl-cpu-avx2");
  EXPECT_THAT(text, HasSubstr("  for a4 in 0..7: # free\n"));
  EXPECT_THAT(text, HasSubstr("    for a5 in 0..7: # reduce unroll\n"));
  EXPECT_THAT(text, HasSubstr("load w[a4, a5, (a2 * 16)]\n"));
  EXPECT_THAT(text, HasSubstr("load x[(a0 + a4), (((a1 * 7) + a5) + 6), (a2 * 16)]\n")) << "seven outputs";
}

TEST(Windows, SmallOnesAreUnrolledWhole) {
  const std::string text = split_text(window_sums(3, 1, 28, 192), "opencl-cpu-avx2");
  EXPECT_THAT(text, HasSubstr("in 0..9: # reduce unroll\n"));
  EXPECT_THAT(text, Not(HasSubstr("in 0..3")));
}

/// A sum of 32 rows in 16 vectors took PoCL 4 s to build when it was unrolled, and no less time to run.
TEST(Windows, LongSumsOfManyVectorsAreNotUnrolled) {
  const ir::Program loop = ir::parse(
      "=== loop: columns ===\ninput x: f32[32, 4096]\noutput y: f32[4096]\nfor a0 in 0..4096: # free\n"
      "  for a1 in 0..32: # reduce\n    in0 = load x[a1, a0]\n    acc0 <- add(acc0, in0)\n  y[a0] = acc0\n");
  EXPECT_THAT(split_text(loop, "opencl-cpu-avx2"), HasSubstr("in 0..32: # reduce\n"));
}

/// A cumulative sum over the elements of windows has 128 sums without vectors, because the windows' positions divide.
TEST(Windows, LinesOfManySumsAreNotUnrolled) {
  const ir::Program loop = ir::parse(
      "=== loop: windows ===\ninput x: f32[24, 24]\noutput y: f32[25, 400]\nfor a0 in 0..400: # free\n"
      "  for a1 in 0..25: # scan\n    in0 = load x[((a0 / 20) + (a1 / 5)), ((a0 % 20) + (a1 % 5))]\n"
      "    acc0 <- add(acc0, in0)\n    y[a1, a0] = acc0\n");
  EXPECT_THAT(split_text(loop, "opencl-cpu-avx2"), HasSubstr("in 0..25: # scan\n"));
}

class QuotientsOf : public ::testing::TestWithParam<const char*> {};

TEST_P(QuotientsOf, EveryScheduleMeansTheSame) {
  const Target target = load_target(GetParam());
  for (const char* name : {"packed_words", "packed_columns", "packed_bytes"})
    for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 256}, {3, 40}, {16, 96}, {5, 33}})
      check_drawn_schedules(packed(name, m, n), target, 4, fmt::format("{} {} x {}", name, m, n));
}

TEST_P(QuotientsOf, EveryScheduleOfAWindowMeansTheSame) {
  const Target target = load_target(GetParam());
  for (const std::int64_t window : {3, 5, 7})
    for (const std::int64_t step : {1, 2})
      check_drawn_schedules(window_sums(window, step, 6, 20), target, 4, fmt::format("{} by {}", window, step));
}

INSTANTIATE_TEST_SUITE_P(Cpus, QuotientsOf, ::testing::Values("opencl-cpu", "opencl-cpu-bf16", "opencl-cpu-avx2"));

}  // namespace
}  // namespace deplo::rules
