// A pipeline of tensor copies: the right program passes, and each planted fault is found at its statement.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpret/interpret_case.h"

namespace deplo::ir::interpret_tma_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Block tiles of 16 x 32; k in four chunks of 16, of which the last exceeds the source by 4; two slots, swizzled.
const std::string matmul = R"(=== kernel: mm ===
input a: f32[32, 60]
input b: f32[60, 32]
output c: f32[32, 32]
TmaDescriptor a_desc(a, box=(16, 16)) swizzle=64
TmaDescriptor b_desc(b, box=(16, 32)) swizzle=128
Tile(axes=(a0:2=BLOCK, a1:16=THREAD, a2:8=THREAD)):
  Smem a_smem[2, 16, 16] (f32) align=512
  Smem b_smem[2, 16, 32] (f32) align=1024
  MbarrierInit mbar[2] (count=1)
  Sync # first
  Init(acc0:f32x4, op=add)
  if (((a1 * 8) + a2) < 1):
    MbarrierArriveExpectTx(mbar[0], bytes=3072)
    TmaLoad(a_smem[0, 0, 0], a_desc[(a0 * 16), 0], mbar[0])
    TmaLoad(b_smem[0, 0, 0], b_desc[0, 0], mbar[0])
  for a3 in 0..3: # reduce
    MbarrierWait(mbar[(a3 % 2)], phase=((a3 / 2) % 2))
    ProxyFence
    Sync
    if (((a1 * 8) + a2) < 1):
      MbarrierArriveExpectTx(mbar[((a3 + 1) % 2)], bytes=3072)
      TmaLoad(a_smem[((a3 + 1) % 2), 0, 0], a_desc[(a0 * 16), ((a3 + 1) * 16)], mbar[((a3 + 1) % 2)])
      TmaLoad(b_smem[((a3 + 1) % 2), 0, 0], b_desc[((a3 + 1) * 16), 0], mbar[((a3 + 1) % 2)])
    for a4 in 0..16: # reduce
      in0 = load a_smem[(a3 % 2), a1, ((((a4 / 4) ^ ((a1 / 2) % 4)) * 4) + (a4 % 4))]
      in1:f32x4 = load b_smem[(a3 % 2), a4, ((a2 ^ (a4 % 8)) * 4)]
      acc0:f32x4 <- fma(acc0, in0, in1)
  MbarrierWait(mbar[1], phase=1)
  Sync
  for a5 in 0..16: # reduce
    in2 = load a_smem[1, a1, ((((a5 / 4) ^ ((a1 / 2) % 4)) * 4) + (a5 % 4))]
    in3:f32x4 = load b_smem[1, a5, ((a2 ^ (a5 % 8)) * 4)]
    acc0:f32x4 <- fma(acc0, in2, in3)
  c[((a0 * 16) + a1), (a2 * 4)]:x4 = acc0
)";

std::string fault(std::string_view place, std::string_view replacement) {
  return error_of(with(matmul, place, replacement));
}

TEST(Tma, PipelinedMatmulWithSwizzle) {
  EXPECT_EQ(verify(parse(matmul)), "");
  const Memory memory = run(matmul);
  expect_near(memory.at("c"), product(memory, 32, 32, 60));
}

TEST(Tma, AnotherPatternReadsOtherElements) {
  const Memory memory = run(with(matmul, "(a1 / 2) % 4", "a1 % 4"));
  const Values expected = product(memory, 32, 32, 60);
  EXPECT_GT(std::abs(memory.at("c")[32] - expected[32]), 1e-3);
}

TEST(Tma, FindsAMissingWait) {
  EXPECT_THAT(fault("    MbarrierWait(mbar[(a3 % 2)], phase=((a3 / 2) % 2))\n", ""),
              AllOf(HasSubstr("read of an asynchronous copy"), HasSubstr("`in0 = load a_smem[(a3 % 2)")));
  EXPECT_THAT(fault("  MbarrierWait(mbar[1], phase=1)\n", ""),
              AllOf(HasSubstr("read of an asynchronous copy"), HasSubstr("`in2 = load a_smem[1")));
}

TEST(Tma, FindsAWrongParity) {
  EXPECT_THAT(fault("phase=((a3 / 2) % 2)", "phase=(((a3 / 2) + 1) % 2)"),
              AllOf(HasSubstr("read of an asynchronous copy"), HasSubstr("`in0 = load a_smem[(a3 % 2)")));
  EXPECT_THAT(fault("MbarrierWait(mbar[1], phase=1)", "MbarrierWait(mbar[0], phase=0)"),
              AllOf(HasSubstr("would hang: phase 2 of mbar never completes with 0 of 1 arrivals"),
                    HasSubstr("block 0, thread 0"), HasSubstr("`MbarrierWait(mbar[0], phase=0)`")));
}

TEST(Tma, FindsBytesThatDiffer) {
  EXPECT_THAT(fault("bytes=3072", "bytes=2048"),
              AllOf(HasSubstr("would hang"), HasSubstr("2048 bytes expected and 3072 copied"),
                    HasSubstr("`MbarrierWait(mbar[(a3 % 2)]")));
  EXPECT_THAT(fault("    TmaLoad(b_smem[0, 0, 0], b_desc[0, 0], mbar[0])\n", ""),
              AllOf(HasSubstr("3072 bytes expected and 1024 copied"), HasSubstr("`MbarrierWait(mbar[(a3 % 2)]")));
}

TEST(Tma, FindsTheWrongBarrier) {
  EXPECT_THAT(fault("((a3 + 1) * 16)], mbar[((a3 + 1) % 2)]", "((a3 + 1) * 16)], mbar[(a3 % 2)]"),
              AllOf(HasSubstr("would hang: phase 0 of mbar never completes"), HasSubstr("3072 bytes expected"),
                    HasSubstr("`MbarrierWait(mbar[(a3 % 2)]")));
  EXPECT_THAT(fault("MbarrierArriveExpectTx(mbar[((a3 + 1) % 2)]", "MbarrierArriveExpectTx(mbar[(a3 + 1)]"),
              AllOf(HasSubstr("index out of range: 2 of mbar"), HasSubstr("`MbarrierArriveExpectTx")));
}

TEST(Tma, FindsArrivalsThatDoNotCount) {
  EXPECT_THAT(fault("    if (((a1 * 8) + a2) < 1):", "    if (((a1 * 8) + a2) < 2):"),
              AllOf(HasSubstr("one arrival too many: phase 0 of mbar counts 1"), HasSubstr("thread 1"),
                    HasSubstr("`MbarrierArriveExpectTx(mbar[((a3 + 1) % 2)]")));
  EXPECT_THAT(fault("(count=1)", "(count=2)"),
              AllOf(HasSubstr("1 of 2 arrivals"), HasSubstr("`MbarrierWait(mbar[(a3 % 2)]")));
  EXPECT_THAT(fault("    MbarrierArriveExpectTx(mbar[0], bytes=3072)\n", ""),
              AllOf(HasSubstr("0 of 1 arrivals"), HasSubstr("`MbarrierWait(mbar[(a3 % 2)]")));
}

TEST(Tma, FindsAPhaseThatIsLeft) {
  std::string text = with(matmul, "  MbarrierWait(mbar[1], phase=1)\n", "");
  const std::size_t from = text.find("  for a5"), to = text.find("  c[");
  EXPECT_THAT(error_of(text.erase(from, to - from)),
              AllOf(HasSubstr("phase 1 of mbar[1] is not complete at the end of block 0"),
                    HasSubstr("`MbarrierInit mbar[2] (count=1)`")));
}

TEST(Tma, FindsAMissingBarrierBehindTheInitialisation) {
  EXPECT_THAT(fault("  Sync # first\n", ""),
              AllOf(HasSubstr("race: the barrier mbar is used with no Sync after its initialisation"),
                    HasSubstr("thread 1 at `MbarrierWait(mbar[(a3 % 2)]")));
}

// One thread waits. The others see the copies after a Sync.
TEST(Tma, OneThreadMayWaitForAll) {
  const std::string one =
      with(matmul, "    MbarrierWait(mbar[(a3 % 2)]", "    if (a1 + a2 < 1):\n      MbarrierWait(mbar[(a3 % 2)]");
  const Memory memory = run(one);
  expect_near(memory.at("c"), product(memory, 32, 32, 60));
  EXPECT_THAT(error_of(with(one, "    Sync\n", "")), AllOf(HasSubstr("race"), HasSubstr("`in0 = load a_smem")));
}

TEST(Tma, FindsARefillOfWhatIsRead) {
  EXPECT_THAT(fault("    Sync\n", ""), AllOf(HasSubstr("race"), HasSubstr("that another thread read"),
                                             HasSubstr("`TmaLoad(a_smem[((a3 + 1) % 2)")));
}

TEST(Tma, FindsAReadThatACopyMayOvertake) {
  EXPECT_THAT(
      fault("    ProxyFence\n", ""),
      AllOf(HasSubstr("copies by TMA to an element of a_smem in block 0, which a thread read with no ProxyFence"),
            HasSubstr("`TmaLoad(a_smem[((a3 + 1) % 2)")));
}

TEST(Tma, FindsADivergentInitialisation) {
  EXPECT_THAT(fault("  MbarrierInit mbar[2] (count=1)\n", "  if (a1 < 3):\n    MbarrierInit mbar[2] (count=1)\n"),
              AllOf(HasSubstr("divergent"), HasSubstr("`MbarrierInit mbar[2] (count=1)`")));
}

TEST(Tma, FindsAMisalignedDestination) {
  EXPECT_THAT(fault("TmaLoad(a_smem[0, 0, 0]", "TmaLoad(a_smem[0, 2, 0]"),
              AllOf(HasSubstr("misaligned TMA destination: byte 128 of a_smem"), HasSubstr("a multiple of 512"),
                    HasSubstr("`TmaLoad(a_smem[0, 2, 0]")));
  EXPECT_THAT(fault("b_smem[2, 16, 32] (f32) align=1024", "b_smem[2, 16, 32] (f32)"),
              AllOf(HasSubstr("misaligned TMA destination"), HasSubstr("(align 16)"), HasSubstr("`TmaLoad(b_smem")));
  EXPECT_THAT(fault("a_smem[2, 16, 16]", "a_smem[2, 15, 16]"), HasSubstr("misaligned TMA destination"));
  EXPECT_THAT(fault("Smem a_smem[2, 16, 16]", "Smem a_smem[2, 8, 16]"),
              AllOf(HasSubstr("index out of range: a box of 256 elements leaves a_smem"),
                    HasSubstr("`TmaLoad(a_smem[((a3 + 1) % 2)")));
}

TEST(Tma, FindsAWrongBox) {
  const auto box = [](std::string_view place, std::string_view replacement) { return fault(place, replacement); };
  EXPECT_THAT(box("box=(16, 16)", "box=(16, 14)"), AllOf(HasSubstr("rows of 56 bytes in the box, not a multiple of 16"),
                                                         HasSubstr("`TmaDescriptor a_desc")));
  EXPECT_THAT(box("box=(16, 16)", "box=(16, 32)"),
              HasSubstr("rows of 128 bytes in the box do not match a swizzle of 64"));
  EXPECT_THAT(box("box=(16, 16)", "box=(16)"), HasSubstr("`a` has 2 dimensions, found 1 in the box"));
  EXPECT_THAT(box("box=(16, 16)", "box=(257, 16)"), HasSubstr("a box of 257 elements, not 1 to 256"));
  EXPECT_THAT(box("swizzle=64", "swizzle=96"), HasSubstr("a swizzle of 96"));
  EXPECT_THAT(box("a: f32[32, 60]", "a: f32[32, 58]"),
              HasSubstr("dimension 0 of `a` has a stride of 232 bytes, not a multiple of 16"));
  EXPECT_THAT(box("b: f32[60, 32]", "b: f32[60, 32] strides=(1, 60)"),
              HasSubstr("the last dimension of `b` has no stride of 1"));
  EXPECT_THAT(box("a_desc[(a0 * 16), 0]", "a_desc[(a0 * 16)]"),
              AllOf(HasSubstr("2 dimensions, found 1 coordinates"), HasSubstr("`TmaLoad(a_smem[0, 0, 0]")));
  EXPECT_THAT(box("box=(16, 32)", "box=(64, 32)"), HasSubstr("a box of 2048 elements leaves b_smem"));
}

}  // namespace
}  // namespace deplo::ir::interpret_tma_test
