// The positions of a kernel's space.
#include "engine/compile/kernel_space.h"

#include <gtest/gtest.h>

#include "core/rng.h"
#include "rules/lower.h"
#include "search/trails.h"

namespace deplo::engine::kernel_space_test {
namespace {

ir::Program matmul() {
  return ir::parse(
      "=== loop: matmul ===\n"
      "input a: bf16[256, 128]\n"
      "input b: bf16[128, 256]\n"
      "output c: bf16[256, 256]\n"
      "for a0 in 0..256: # free\n"
      "  for a1 in 0..256: # free\n"
      "    for a2 in 0..128: # reduce\n"
      "      in0 = load a[a0, a2]\n"
      "      in1 = load b[a2, a1]\n"
      "      v0 = multiply(in0, in1)\n"
      "      acc0 <- add(acc0, v0)\n"
      "    c[a0, a1] = acc0\n");
}

// There are more paths than the space has places for kept positions. Every position must be as the rules make it.
TEST(KernelSpace, KeptPositionsAreThoseOfTheRules) {
  const Target target = load_target("sm_90");
  const KernelSpace space(matmul(), target);
  Rng rng(1);
  std::size_t positions = 0;
  for (int path = 0; path < 700; ++path) {
    search::PositionPtr position = space.root();
    rules::Lowering lowering(matmul(), target);
    const bool compares = path % 10 == 0;  // the other paths are only walked
    for (; position->fork(); ++positions) {
      const std::size_t option = rng.below(position->fork()->options.size());
      if (compares) {
        ASSERT_TRUE(lowering.fork());
        ASSERT_EQ(position->fork()->knob, lowering.fork()->knob);
        ASSERT_EQ(position->fork()->options, lowering.fork()->options);
        lowering.choose(option);
      }
      position = position->choose(option);
    }
    if (!compares) continue;
    ASSERT_FALSE(lowering.fork());
    ASSERT_EQ(position->trail(), lowering.trail());
    ASSERT_EQ(KernelSpace::lowering(*position).program(), lowering.program());
  }
  EXPECT_GT(positions, 8000U);
}

TEST(KernelSpace, APathThatIsWalkedAgainGivesTheSamePositions) {
  const KernelSpace space(matmul(), load_target("sm_90"));
  const auto first_position = [&] { return space.root()->choose(0); };
  EXPECT_NE(first_position(), nullptr);
  EXPECT_EQ(first_position(), first_position()) << "kept from the second time on";
}

}  // namespace
}  // namespace deplo::engine::kernel_space_test
