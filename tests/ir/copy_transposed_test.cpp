// A block that is transposed on its way to shared memory.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/target.h"
#include "ir/emit/emit.h"
#include "ir/interpret/interpret.h"
#include "ir/program.h"

namespace deplo::ir {
namespace {

using ::testing::HasSubstr;

Program copying(const std::string& copy, const std::string& shape = "16, 32") {
  return parse(
      fmt::format("=== kernel: k ===\ninput x: f32[40, 48]\ninput h: bf16[40, 48]\noutput y: f32[32, 16]\n"
                  "Tile(axes=(a0:1=BLOCK, a1:2=THREAD)):\n  Smem s[{}] (f32)\n  {}\n  Sync\n"
                  "  for a2 in 0..16: # free\n    for a3 in 0..16: # free\n"
                  "      in0 = load s[a2, ((a1 * 16) + a3)]\n      y[((a1 * 16) + a3), a2] = in0\n",
                  shape, copy));
}

TEST(CopyTransposed, TurnsABlock) {
  const Program program = copying("CopyTransposed(s[0, (a1 * 16)], x[((a1 * 16) + 3), 5], dim=0)");
  ASSERT_EQ(verify(program), "");
  EXPECT_EQ(parse(print(program)), program);
  Memory memory = {{"x", {}}, {"h", std::vector<double>(40 * 48)}, {"y", std::vector<double>(32 * 16)}};
  for (int i = 0; i < 40 * 48; ++i) memory["x"].push_back(i);
  interpret(program, memory);
  for (std::size_t row = 0; row < 32; ++row)
    for (std::size_t column = 0; column < 16; ++column)
      EXPECT_EQ(memory["y"][row * 16 + column], static_cast<double>((row + 3) * 48 + column + 5));
  const std::string text = emit(program, load_target("opencl-cpu")).text;
  EXPECT_THAT(text, HasSubstr("simd_copy_transposed(&s[a1 * 16], 32, &x["));
}

TEST(CopyTransposed, IsChecked) {
  EXPECT_THAT(verify(copying("CopyTransposed(s[1, (a1 * 16)], x[0, 0], dim=0)")), HasSubstr("not proven in 0..15"));
  EXPECT_THAT(verify(copying("CopyTransposed(s[0, (a1 * 17)], x[0, 0], dim=0)")), HasSubstr("not proven in 0..31"));
  EXPECT_THAT(verify(copying("CopyTransposed(s[0, 0], x[25, 0], dim=0)")), HasSubstr("not proven in 0..39"));
  EXPECT_THAT(verify(copying("CopyTransposed(s[0, 0], x[0, 33], dim=0)")), HasSubstr("not proven in 0..47"));
  EXPECT_THAT(verify(copying("CopyTransposed(s[0, 0], x[0, 0], dim=1)")), HasSubstr("dim=1"));
  EXPECT_THAT(verify(copying("CopyTransposed(s[0, 0], h[0, 0], dim=0)")), HasSubstr("of f32"));
  EXPECT_THAT(
      verify(parse("=== tile: k ===\ninput x: f32[16, 32]\noutput y: f32[16]\n"
                   "Tile(axes=(a0:16=THREAD)):\n  s = Stage(x, origin=(0, 0), slab=(s0:32@1, s1:16@0)) lanes=8\n"
                   "  in0 = load s[0, a0]\n  y[a0] = in0\n")),
      HasSubstr("copies of 8 lanes that are not adjacent"));
}

}  // namespace
}  // namespace deplo::ir
