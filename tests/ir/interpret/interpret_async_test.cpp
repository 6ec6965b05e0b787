// Kernels with cp.async and with shuffles: the right program passes, and each planted fault is found at its statement.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpret/interpret_case.h"

namespace deplo::ir::interpret_async_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Block tiles of 16 x 16, k in chunks of 16, two slots. Each thread computes 2 x 2 elements, and copies 4 elements of
// each operand.
const std::string matmul = R"(=== kernel: mm ===
input a: f32[32, 64]
input b: f32[64, 32]
output c: f32[32, 32]
Tile(axes=(a0:2=BLOCK, a1:2=BLOCK, a2:8=THREAD, a3:8=THREAD)):
  Smem a_smem[2, 16, 16] (f32)
  Smem b_smem[2, 16, 16] (f32)
  Init(acc0:f32x2, op=add)
  Init(acc1:f32x2, op=add)
  CpAsyncCopy(a_smem[0, (((a2 * 8) + a3) / 4), ((a3 % 4) * 4)], a[((a0 * 16) + (((a2 * 8) + a3) / 4)), ((a3 % 4) * 4)], lanes=4)
  CpAsyncCopy(b_smem[0, (((a2 * 8) + a3) / 4), ((a3 % 4) * 4)], b[(((a2 * 8) + a3) / 4), ((a1 * 16) + ((a3 % 4) * 4))], lanes=4)
  CpAsyncCommit
  for a4 in 0..3: # reduce
    CpAsyncWait(keep=0)
    Sync
    CpAsyncCopy(a_smem[((a4 + 1) % 2), (((a2 * 8) + a3) / 4), ((a3 % 4) * 4)], a[((a0 * 16) + (((a2 * 8) + a3) / 4)), (((a4 + 1) * 16) + ((a3 % 4) * 4))], lanes=4)
    CpAsyncCopy(b_smem[((a4 + 1) % 2), (((a2 * 8) + a3) / 4), ((a3 % 4) * 4)], b[(((a4 + 1) * 16) + (((a2 * 8) + a3) / 4)), ((a1 * 16) + ((a3 % 4) * 4))], lanes=4)
    CpAsyncCommit
    for a5 in 0..16: # reduce
      in0 = load a_smem[(a4 % 2), (a2 * 2), a5]
      in1 = load a_smem[(a4 % 2), ((a2 * 2) + 1), a5]
      in2:f32x2 = load b_smem[(a4 % 2), a5, (a3 * 2)]
      acc0:f32x2 <- fma(acc0, in0, in2)
      acc1:f32x2 <- fma(acc1, in1, in2)
  CpAsyncWait(keep=0) # last
  Sync # last
  for a6 in 0..16: # reduce
    in3 = load a_smem[1, (a2 * 2), a6]
    in4 = load a_smem[1, ((a2 * 2) + 1), a6]
    in5:f32x2 = load b_smem[1, a6, (a3 * 2)]
    acc0:f32x2 <- fma(acc0, in3, in5)
    acc1:f32x2 <- fma(acc1, in4, in5)
  c[((a0 * 16) + (a2 * 2)), ((a1 * 16) + (a3 * 2))]:x2 = acc0
  c[(((a0 * 16) + (a2 * 2)) + 1), ((a1 * 16) + (a3 * 2))]:x2 = acc1
)";

std::string fault(std::string_view place, std::string_view replacement) {
  return error_of(with(matmul, place, replacement));
}

TEST(CpAsync, DoubleBufferedMatmul) {
  EXPECT_EQ(verify(parse(matmul)), "");
  const Memory memory = run(matmul);
  expect_near(memory.at("c"), product(memory, 32, 32, 64));
}

TEST(CpAsync, FindsAMissingWait) {
  EXPECT_THAT(fault("    CpAsyncWait(keep=0)\n", ""),
              AllOf(HasSubstr("read of an asynchronous copy that was not waited for: an element of a_smem in block 0, "
                              "thread 0"),
                    HasSubstr("`in0 = load a_smem[(a4 % 2), (a2 * 2), a5]`")));
  EXPECT_THAT(fault("  CpAsyncWait(keep=0) # last\n", ""),
              AllOf(HasSubstr("not waited for"), HasSubstr("`in3 = load a_smem[1, (a2 * 2), a6]`")));
}

TEST(CpAsync, FindsAKeepThatIsTooLarge) {
  EXPECT_THAT(fault("CpAsyncWait(keep=0)", "CpAsyncWait(keep=1)"),
              AllOf(HasSubstr("not waited for"), HasSubstr("`in0 = load a_smem")));
}

TEST(CpAsync, FindsAMissingCommit) {
  EXPECT_THAT(fault("  CpAsyncCommit\n", ""), AllOf(HasSubstr("not waited for"), HasSubstr("`in0 = load a_smem")));
}

TEST(CpAsync, FindsAMissingBarrierBehindTheWait) {
  EXPECT_THAT(fault("    Sync\n", ""), AllOf(HasSubstr("race"), HasSubstr("reads an element of a_smem that thread"),
                                             HasSubstr("`in0 = load a_smem")));
  EXPECT_THAT(fault("  Sync # last\n", ""), AllOf(HasSubstr("race"), HasSubstr("`in3 = load a_smem")));
}

TEST(CpAsync, FindsAWrongSlot) {
  EXPECT_THAT(fault("CpAsyncCopy(a_smem[((a4 + 1) % 2)", "CpAsyncCopy(a_smem[(a4 % 2)"),
              AllOf(HasSubstr("not waited for"), HasSubstr("`in0 = load a_smem")));
  EXPECT_THAT(fault("in3 = load a_smem[1", "in3 = load a_smem[(a2 % 3)"), HasSubstr("index out of range: 2"));
}

// The copy of the next chunk comes after the loads of this chunk, and goes into the same slot.
TEST(CpAsync, FindsARefillOfWhatIsRead) {
  const std::string late =
      "      acc1:f32x2 <- fma(acc1, in1, in2)\n    CpAsyncCopy(a_smem[(a4 % 2), 0, 0], a[0, 0], lanes=4)\n";
  EXPECT_THAT(
      fault("      acc1:f32x2 <- fma(acc1, in1, in2)\n", late),
      AllOf(HasSubstr("race"), HasSubstr("that another thread read"), HasSubstr("`CpAsyncCopy(a_smem[(a4 % 2)")));
}

TEST(CpAsync, FindsAnOverwriteOfACopyUnderWay) {
  EXPECT_THAT(fault("  CpAsyncCommit\n", "  CpAsyncCommit\n  a_smem[0, (((a2 * 8) + a3) / 4), ((a3 % 4) * 4)] = 0\n"),
              AllOf(HasSubstr("overwrite of an asynchronous copy"), HasSubstr("`a_smem[0,")));
  EXPECT_THAT(fault("b_smem[((a4 + 1) % 2)", "a_smem[((a4 + 1) % 2)"),
              AllOf(HasSubstr("overwrite of an asynchronous copy"), HasSubstr("`CpAsyncCopy(a_smem[((a4 + 1) % 2)")));
}

TEST(CpAsync, FindsMisalignment) {
  EXPECT_THAT(
      fault("Smem a_smem[2, 16, 16]", "Smem a_smem[2, 16, 17]"),
      AllOf(HasSubstr("misaligned cp.async: 16 bytes from byte 256 of a to byte 68 of a_smem, in block 0, thread 4"),
            HasSubstr("`CpAsyncCopy(a_smem[0,")));
  EXPECT_THAT(fault("input a: f32[32, 64]", "input a: f32[32, 64] strides=(66, 1)"), HasSubstr("misaligned cp.async"));
  EXPECT_THAT(fault("Smem b_smem[2, 16, 16] (f32)", "Smem b_smem[2, 16, 16] (f32) align=8"),
              AllOf(HasSubstr("misaligned cp.async"), HasSubstr("`CpAsyncCopy(b_smem[0,")));
}

TEST(CpAsync, FindsADivergentBarrier) {
  EXPECT_THAT(fault("    Sync\n", "    if (a2 < 4):\n      Sync\n"),
              AllOf(HasSubstr("barrier in divergent control flow"), HasSubstr("thread 32 does not reach `Sync`")));
}

TEST(CpAsync, FindsIndicesOutOfRange) {
  EXPECT_THAT(fault("a[((a0 * 16)", "a[((a0 * 18)"),
              AllOf(HasSubstr("out of range: 32 in dimension 0 of a"), HasSubstr("`CpAsyncCopy(a_smem[0,")));
}

TEST(Limits, SharedMemoryOverTheLimit) {
  EXPECT_EQ(error_of(matmul, {.shared_bytes = 4096}), "no error");
  EXPECT_THAT(
      error_of(matmul, {.shared_bytes = 4095}),
      AllOf(HasSubstr("shared memory over the limit: 4096 bytes of 4095"), HasSubstr("`Smem b_smem[2, 16, 16]")));
}

// Two rows of 64 elements, each summed by two warps. Afterwards every thread has its row's total.
const std::string rows = R"(=== kernel: rows ===
input x: f32[2, 64]
output y: f32[2, 64]
Tile(axes=(a0:2=BLOCK, a1:64=THREAD)):
  Smem s[2] (f32)
  in0 = load x[a0, a1]
  WarpShuffle(v0 <- in0, op=add, length=32)
  if ((a1 % 32) == 0):
    s[(a1 / 32)] = v0
  Sync
  in1 = load s[(a1 % 2)]
  WarpShuffle(v1 <- in1, op=add, length=2)
  y[a0, a1] = v1
)";

TEST(Shuffle, SumsRows) {
  EXPECT_EQ(verify(parse(rows)), "");
  const Memory memory = run(rows);
  Values y(128);
  for (std::size_t i = 0; i < 128; ++i)
    for (std::size_t j = 0; j < 64; ++j) y[i] += memory.at("x")[i / 64 * 64 + j];
  expect_near(memory.at("y"), y);
}

TEST(Shuffle, MovesWithinGroups) {
  const Memory memory =
      run(with(with(rows, "op=add, length=32", "op=maximum, length=4"), "(a1 / 32)", "((a1 / 32) + 0)"));
  const Values& x = memory.at("x");
  expect_near({memory.at("y")[5]}, {std::max({x[0], x[1], x[2], x[3]}) + std::max({x[32], x[33], x[34], x[35]})});
}

TEST(Shuffle, FindsAMissingBarrier) {
  EXPECT_THAT(error_of(with(rows, "  Sync\n", "")), AllOf(HasSubstr("race"), HasSubstr("`in1 = load s[(a1 % 2)]`")));
}

TEST(Shuffle, FindsAMissingGuard) {
  EXPECT_THAT(error_of(with(rows, "(a1 % 32) == 0", "0 == 0")),
              AllOf(HasSubstr("race"), HasSubstr("`s[(a1 / 32)] = v0`")));
}

TEST(Shuffle, FindsADivergentShuffle) {
  EXPECT_THAT(error_of(with(rows, "  WarpShuffle(v1", "  if (a1 < 2):\n    WarpShuffle(v1")),
              AllOf(HasSubstr("divergent"), HasSubstr("thread 2 does not reach `WarpShuffle(v1")));
}

std::string adding(const std::string& writes) {
  return "=== kernel: k ===\ninput x: f32[4]\noutput y: f32[2]\nTile(axes=(a0:2=BLOCK, a1:2=THREAD)):\n"
         "  in0 = load x[((a0 * 2) + a1)]\n" +
         writes;
}

TEST(AddingWrites, StartAtZeroAndMayMeet) {
  const Memory memory = run(adding("  y[a1] += in0\n"));
  const Values& x = memory.at("x");
  expect_near(memory.at("y"), {x[0] + x[2], x[1] + x[3]});
}

TEST(AddingWrites, DoNotMeetOtherWrites) {
  const auto found = [](const std::string& writes) { return error_of(adding(writes)); };
  EXPECT_THAT(found("  if (a0 == 0):\n    y[a1] = in0\n  if (a0 == 1):\n    y[a1] += in0\n"),
              AllOf(HasSubstr("race: block 1, thread 0 adds to element 0 of y"), HasSubstr("`y[a1] += in0`")));
  EXPECT_THAT(found("  if (a0 == 0):\n    y[a1] += in0\n  if (a0 == 1):\n    y[a1] = in0\n"),
              AllOf(HasSubstr("race: block 1, thread 0 writes"), HasSubstr("`y[a1] = in0`")));
  EXPECT_THAT(found("  y[0] += in0\n  y[0] = in0\n"), HasSubstr("race"));
  EXPECT_EQ(found("  y[a1] += in0\n  y[((a1 + 1) % 2)] += in0\n"), "no error");
}

}  // namespace
}  // namespace deplo::ir::interpret_async_test
