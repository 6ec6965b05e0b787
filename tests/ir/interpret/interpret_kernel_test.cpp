#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ir/interpret/interpret_case.h"

namespace deplo::ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Lines of a kernel that sums rows by a tree. Each planted fault below changes one of these lines.
struct Kernel {
  std::string fill = "  s[a1] = acc0\n";
  std::string before = "  Sync\n";
  std::string tree = "  TreeHalve(s, op=add, length=8, tid=a1)\n";
  std::string read = "  total = load s[0]\n";
  std::string write = "  y[a0] = total\n";
  std::string text() const {
    return "=== kernel: rows ===\ninput x: f32[2, 32]\noutput y: f32[2]\nTile(axes=(a0:2=BLOCK, a1:8=THREAD)):\n"
           "  Smem s[8] (f32)\n  Init(acc0, op=add)\n"
           "  StridedLoop(a2 = (a1 * 2); < 32; += 16): # reduce\n"
           "    in0:f32x2 = load x[a0, a2]\n    v0 = lanes_add(in0)\n    acc0 <- add(acc0, v0)\n" +
           fill + before + tree + read + write;
  }
};

TEST(InterpretKernel, TreeReductionInSharedMemory) {
  const Memory memory = run(Kernel().text());
  Values y(2);
  for (std::size_t i = 0; i < 64; ++i) y[i / 32] += memory.at("x")[i];
  expect_near(memory.at("y"), y);
}

TEST(InterpretKernel, FindsAReadOfAnotherThreadsWrite) {
  EXPECT_THAT(error_of(Kernel{.before = ""}.text()),
              AllOf(HasSubstr("race"), HasSubstr("reads"), HasSubstr("TreeHalve(s")));
}

TEST(InterpretKernel, FindsAWriteOfWhatAnotherThreadReads) {
  EXPECT_THAT(error_of(Kernel{.write = "  s[a1] = total\n  y[a0] = total\n"}.text()),
              AllOf(HasSubstr("race"), HasSubstr("read"), HasSubstr("`s[a1] = total`")));
}

TEST(InterpretKernel, FindsTwoWritesOfOneElement) {
  EXPECT_THAT(error_of(Kernel{.fill = "  s[(a1 / 2)] = acc0\n"}.text()),
              AllOf(HasSubstr("race"), HasSubstr("wrote"), HasSubstr("`s[(a1 / 2)] = acc0`")));
}

TEST(InterpretKernel, FindsAReadOfNothing) {
  EXPECT_THAT(error_of(Kernel{.fill = "  if (a1 < 7):\n    s[a1] = acc0\n"}.text()),
              AllOf(HasSubstr("nothing wrote"), HasSubstr("TreeHalve")));
}

TEST(InterpretKernel, FindsIndicesOutOfRange) {
  EXPECT_THAT(error_of(Kernel{.read = "  total = load s[(a1 + 1)]\n"}.text()),
              AllOf(HasSubstr("out of range: 8 in dimension 0 of s"), HasSubstr("thread 7")));
  EXPECT_THAT(error_of(Kernel{.write = "  y[(a0 + 1)] = total\n"}.text()),
              HasSubstr("out of range: 2 in dimension 0 of y"));
  EXPECT_THAT(error_of(Kernel{.read = "  bad:f32x4 = load x[a0, 30]\n  total = lanes_add(bad)\n"}.text()),
              HasSubstr("out of range: 33 in dimension 1 of x"));
}

TEST(InterpretKernel, FindsDivergentBarriers) {
  EXPECT_THAT(error_of(Kernel{.before = "  if (a1 < 4):\n    Sync\n"}.text()),
              AllOf(HasSubstr("divergent"), HasSubstr("thread 4 does not reach `Sync`")));
  EXPECT_THAT(
      error_of(
          Kernel{.before = "  Sync\n  if (a1 < 4):\n", .tree = "    TreeHalve(s, op=add, length=8, tid=a1)\n"}.text()),
      HasSubstr("divergent"));
}

TEST(InterpretKernel, AMissingWriteLeavesThePoison) {
  const Memory memory = run(Kernel{.write = "  if (a0 < 1):\n    y[a0] = total\n"}.text());
  EXPECT_FALSE(std::isnan(memory.at("y")[0]));
  EXPECT_TRUE(std::isnan(memory.at("y")[1]));
}

TEST(InterpretKernel, VectorsBroadcastScalarsAndKeepLanes) {
  const Memory memory = run(R"(=== kernel: vectors ===
input x: f32[16]
input s: f32[2]
output y: f32[16]
Tile(axes=(a0:2=BLOCK, a1:2=THREAD)):
  Init(acc0:f32x4, op=add)
  k = load s[a0]
  in0:f32x4 = load x[((a0 * 8) + (a1 * 4))]
  acc0:f32x4 <- fma(acc0, in0, k)
  v0:f32x4 = add(acc0, 1)
  y[((a0 * 8) + (a1 * 4))]:x4 = v0
)");
  Values y(16);
  for (std::size_t i = 0; i < 16; ++i) y[i] = memory.at("x")[i] * memory.at("s")[i / 8] + 1;
  expect_near(memory.at("y"), y);
}

}  // namespace
}  // namespace deplo::ir
