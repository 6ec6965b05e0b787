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
                  "Tile(axes=(a0:1=BLOCK, a1:2=THREAD)):\n  Smem s[{}] (f32)\n{}  Sync\n"
                  "  for a2 in 0..16: # free\n    for a3 in 0..16: # free\n"
                  "      in0 = load s[a2, ((a1 * 16) + a3)]\n      y[((a1 * 16) + a3), a2] = in0\n",
                  shape, copy));
}

/// Copies one block of 16 x 16.
Program copying_one(const std::string& to, const std::string& from, int dim = 0, int size = 16) {
  return copying(fmt::format("  CopyTransposed({}, {}, dim={}, size={})\n", to, from, dim, size));
}

void expect_turned(const Program& program, const std::string& call) {
  ASSERT_EQ(verify(program), "");
  EXPECT_EQ(parse(print(program)), program);
  Memory memory = {{"x", {}}, {"h", std::vector<double>(40 * 48)}, {"y", std::vector<double>(32 * 16)}};
  for (int i = 0; i < 40 * 48; ++i) memory["x"].push_back(i);
  interpret(program, memory);
  for (std::size_t row = 0; row < 32; ++row)
    for (std::size_t column = 0; column < 16; ++column)
      EXPECT_EQ(memory["y"][row * 16 + column], static_cast<double>((row + 3) * 48 + column + 5));
  EXPECT_THAT(emit(program, load_target("opencl-cpu")).text, HasSubstr(call));
}

TEST(CopyTransposed, TurnsABlock) {
  expect_turned(copying_one("s[0, (a1 * 16)]", "x[((a1 * 16) + 3), 5]"), "simd_copy_transposed16(&s[a1 * 16], 32, &x[");
}

TEST(CopyTransposed, TurnsABlockOfEight) {
  std::string copies;
  for (const int row : {0, 8})
    for (const int column : {0, 8})
      copies += fmt::format("  CopyTransposed(s[{1}, ((a1 * 16) + {0})], x[((a1 * 16) + {2}), {3}], dim=0, size=8)\n",
                            row, column, row + 3, column + 5);
  expect_turned(copying(copies), "simd_copy_transposed8(&s[a1 * 16 + 8], 32, &x[");
}

TEST(CopyTransposed, IsChecked) {
  const auto fault = [](auto... copy) { return verify(copying_one(copy...)); };
  EXPECT_THAT(fault("s[1, (a1 * 16)]", "x[0, 0]"), HasSubstr("not proven in 0..15"));
  EXPECT_THAT(fault("s[0, (a1 * 17)]", "x[0, 0]"), HasSubstr("not proven in 0..31"));
  EXPECT_THAT(fault("s[0, 0]", "x[25, 0]"), HasSubstr("not proven in 0..39"));
  EXPECT_THAT(fault("s[0, 0]", "x[0, 33]"), HasSubstr("not proven in 0..47"));
  EXPECT_THAT(fault("s[0, 0]", "x[0, 0]", 1), HasSubstr("dim=1"));
  EXPECT_THAT(fault("s[0, 0]", "h[0, 0]"), HasSubstr("of f32"));
  EXPECT_THAT(fault("s[0, 0]", "x[0, 0]", 0, 4), HasSubstr("size=4: a block has 8 or 16 rows"));
  EXPECT_THAT(fault("s[9, 0]", "x[0, 0]", 0, 8), HasSubstr("not proven in 0..15"));
  EXPECT_THAT(
      verify(parse("=== tile: k ===\ninput x: f32[16, 32]\noutput y: f32[16]\n"
                   "Tile(axes=(a0:16=THREAD)):\n  s = Stage(x, origin=(0, 0), slab=(s0:32@1, s1:16@0)) lanes=4\n"
                   "  in0 = load s[0, a0]\n  y[a0] = in0\n")),
      HasSubstr("copies of 4 lanes that are not adjacent"));
}

}  // namespace
}  // namespace deplo::ir
