// Schedules that a search leaves out because their results have other bits.
#include "engine/tune/bits_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/rng.h"
#include "engine/loop/kernel.h"
#include "rules/lower.h"

namespace deplo::engine::bits_filter_test {
namespace {

const ir::Program& matmul() {
  static const ir::Program loop = load_kernel("matmul", {{"M", 16}, {"N", 16}, {"K", 256}}, "test");
  return loop;
}

/// Compiles a random schedule; seed 0 gives the heuristic's schedule.
Compiled schedule(std::uint64_t seed, const Target& target) {
  rules::Lowering lowering(matmul(), target);
  Rng rng(seed);
  while (lowering.fork()) lowering.choose(seed == 0 ? 0 : rng.below(lowering.fork()->options.size()));
  return compile(lowering);
}

BitsFilter filter(const BitsWish& wish, const std::optional<Compiled>& wanted = std::nullopt) {
  return {wish, matmul(), 0, {}, wanted};
}

struct Counts {
  int atomic = 0, equal = 0, others = 0;
};

/// Compares random schedules of the target with the first one whose order of additions is known.
void check_schedules(const Target& target, Counts& counts) {
  std::uint64_t first = 1;
  while (!ir::order_dependence(schedule(first, target).code.kernel).empty()) ++first;
  const Compiled wanted = schedule(first, target);
  const ir::Fingerprint known = fingerprint(matmul(), wanted.code.kernel, {});
  BitsFilter any = filter({}), deterministic = filter({.deterministic = true}),
             same = filter({.same_as = "a trail"}, wanted);
  EXPECT_EQ(same.refusal(wanted), "");
  for (std::uint64_t seed = first + 1; seed < first + 40; ++seed) {
    const Compiled drawn = schedule(seed, target);
    const ir::Fingerprint found = fingerprint(matmul(), drawn.code.kernel, {});
    EXPECT_EQ(any.refusal(drawn), "");
    EXPECT_EQ(deterministic.refusal(drawn).empty(), found.is_known()) << deterministic.refusal(drawn);
    EXPECT_EQ(same.refusal(drawn).empty(), found == known) << same.refusal(drawn);
    EXPECT_EQ(same.refusal(drawn), same.refusal(drawn));
    ++(!found.is_known() ? counts.atomic : found == known ? counts.equal : counts.others);
  }
}

// On a GPU many schedules add atomically. On a CPU many schedules have the same order of additions.
TEST(BitsFilter, LeavesOutWhatItIsAskedTo) {
  Counts counts;
  for (const char* target : {"sm_90", "opencl-cpu-avx2"}) check_schedules(load_target(target), counts);
  EXPECT_GT(counts.atomic, 0);
  EXPECT_GT(counts.equal, 0);
  EXPECT_GT(counts.others, 0);
}

TEST(BitsFilter, LeavesOutOtherOrdersOfRows) {
  const Target target = load_target("opencl-cpu-avx2");
  const Compiled wanted = schedule(0, target);
  const std::string rows = print(row_fingerprint(matmul(), wanted.code.kernel, {}));
  BitsFilter same = filter({.same_rows_as = rows});
  EXPECT_EQ(same.refusal(wanted), "");
  int left_out = 0;
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    const Compiled drawn = schedule(seed, target);
    const bool differs = print(row_fingerprint(matmul(), drawn.code.kernel, {})) != rows;
    EXPECT_EQ(!same.refusal(drawn).empty(), differs) << same.refusal(drawn);
    left_out += differs ? 1 : 0;
  }
  EXPECT_GT(left_out, 0);
  EXPECT_LT(left_out, 39);
  for (const char* wrong : {"heuristic", "0123456789abcde", "0123456789ABCDEF"})
    EXPECT_THROW(check_bits({.same_rows_as = wrong}), Error) << wrong;
  EXPECT_EQ(describe(BitsWish{.same_rows_as = rows}), " same-rows-as=" + rows);
}

TEST(BitsFilter, NeedsAScheduleWhoseOrderIsKnown) {
  const Target target = load_target("sm_90");
  for (std::uint64_t seed = 1; seed < 60; ++seed) {
    const Compiled drawn = schedule(seed, target);
    if (ir::order_dependence(drawn.code.kernel).empty()) continue;
    try {
      filter({.same_as = "heuristic"}, drawn);
      ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(),
                   "--same-bits-as heuristic: expected a schedule whose order of additions is known, found one of "
                   "matmul: its blocks "
                   "add to c in any order");
    }
    return;
  }
  FAIL() << "no schedule adds";
}

TEST(BitsFilter, IsAPartOfTheSettings) {
  EXPECT_EQ(describe(BitsWish{}), "");
  EXPECT_EQ(describe(BitsWish{true, "heuristic"}), " deterministic same-bits-as=heuristic");
}

}  // namespace
}  // namespace deplo::engine::bits_filter_test
