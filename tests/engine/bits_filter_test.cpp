// Which schedules a search leaves out because of their bits.
#include "engine/tune/bits_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/rng.h"
#include "engine/source/kernel.h"
#include "rules/lower.h"

namespace deplo::engine::bits_filter_test {
namespace {

const ir::Program& matmul() {
  static const ir::Program loop = load_kernel("matmul", {{"M", 16}, {"N", 16}, {"K", 256}}, "test");
  return loop;
}

/// seed 0: the heuristic's.
Compiled schedule(std::uint64_t seed, const Target& target) {
  rules::Lowering lowering(matmul(), target);
  Rng rng(seed);
  while (lowering.fork()) lowering.choose(seed == 0 ? 0 : rng.below(lowering.fork()->options.size()));
  return compile(lowering);
}

BitsFilter filter(const BitsWish& wish, const std::optional<Compiled>& wanted = std::nullopt) {
  return {wish, matmul(), 0, {}, wanted};
}

TEST(BitsFilter, LeavesOutWhatItIsAskedTo) {
  const Target target = load_target("sm_90");
  BitsFilter any = filter({}), deterministic = filter({.deterministic = true});
  const Compiled wanted = schedule(1, target);
  ASSERT_TRUE(fingerprint(matmul(), wanted.code.kernel, {}).is_known());
  BitsFilter same = filter({.same_as = "a trail"}, wanted);
  EXPECT_EQ(same.refusal(wanted), "");
  int atomic = 0, equal = 0, others = 0;
  for (std::uint64_t seed = 2; seed < 60; ++seed) {
    const Compiled drawn = schedule(seed, target);
    const ir::Fingerprint found = fingerprint(matmul(), drawn.code.kernel, {});
    const bool is_equal = found == fingerprint(matmul(), wanted.code.kernel, {});
    EXPECT_EQ(any.refusal(drawn), "");
    EXPECT_EQ(deterministic.refusal(drawn).empty(), found.is_known()) << deterministic.refusal(drawn);
    EXPECT_EQ(same.refusal(drawn).empty(), is_equal) << same.refusal(drawn);
    EXPECT_EQ(same.refusal(drawn), same.refusal(drawn));
    atomic += found.is_known() ? 0 : 1;
    equal += is_equal ? 1 : 0;
    others += found.is_known() && !is_equal ? 1 : 0;
  }
  EXPECT_GT(atomic, 0);
  EXPECT_GT(equal, 0);
  EXPECT_GT(others, 0);
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
      EXPECT_STREQ(
          error.what(),
          "--same-bits-as heuristic: expected a schedule whose order is known, found one of matmul: its blocks "
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
