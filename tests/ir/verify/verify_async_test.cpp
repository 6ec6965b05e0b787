// Stages with layouts, slots and transports, and the asynchronous statements of Kernel IR: each planted violation is
// found, and each legal form is accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/verify/verify_fixture.h"

namespace deplo::ir {
namespace {

using testing::buffers;
using ::testing::HasSubstr;
using testing::kernel;
using testing::tile;

// Verifies a Stage with these options, whose slab is 8 x 16, followed by `more`.
std::string stage(const std::string& options, const std::string& more = "") {
  return tile("s = Stage(a, origin=((a0 * 8), 0), slab=(x:8@0, y:16@1)) " + options + "\n" + more);
}

TEST(VerifyStage, Layouts) {
  for (const char* legal : {"panel=4", "pad=3", "panel=8 pad=1", "lanes=4", "lanes=16", "pad=4 lanes=4 async", "ahead",
                            "panel=8 swizzle=32 tma", "swizzle=64 tma", "tma", "buffers=4@(a0 % 4) async"})
    EXPECT_EQ(stage(legal), "") << legal;
  EXPECT_THAT(stage("panel=5"), HasSubstr("a panel of 5 does not divide 16"));
  EXPECT_THAT(stage("swizzle=48 tma"), HasSubstr("a swizzle of 48, not 0, 32, 64 or 128 bytes"));
  EXPECT_THAT(stage("swizzle=64"), HasSubstr("a swizzle needs tma copies, or async copies of 16 bytes"));
  EXPECT_THAT(stage("swizzle=64 async"), HasSubstr("a swizzle needs tma copies"));
  EXPECT_THAT(stage("swizzle=128 tma"), HasSubstr("rows of 64 bytes do not match a swizzle of 128"));
  EXPECT_THAT(stage("panel=8 swizzle=64 tma"), HasSubstr("rows of 32 bytes do not match a swizzle of 64"));
  EXPECT_THAT(stage("pad=4 tma"), HasSubstr("tma copies allow no pad"));
  EXPECT_THAT(stage("lanes=3"), HasSubstr("copies of 3 lanes, not a power of two"));
  EXPECT_THAT(stage("panel=2 lanes=4"), HasSubstr("copies of 4 lanes do not divide a row of 2"));
  EXPECT_THAT(stage("lanes=8 async"), HasSubstr("async copies of 32 bytes, not 4, 8 or 16"));
  EXPECT_THAT(stage("pad=1 lanes=4 async"), HasSubstr("a pad of 1 leaves copies of 4 lanes misaligned"));
}

TEST(VerifyStage, Slots) {
  EXPECT_EQ(stage("buffers=2@(a0 % 2)", "v0 = load s[1, a1, a3]\n"), "");
  EXPECT_THAT(stage("buffers=2@(a0 % 2)", "v0 = load s[a1, a3]\n"), HasSubstr("`s` has 3 dimensions, found 2"));
  EXPECT_THAT(stage("buffers=2@a0"), HasSubstr("index 0 `a0` is in 0..3, not proven in 0..1"));
  EXPECT_THAT(stage("buffers=2@(a1 % 2)"), HasSubstr("the slot `(a1 % 2)` differs between the threads"));
  EXPECT_THAT(stage("buffers=2@(a2 % 2)"), HasSubstr("the slot depends on the REG axis `a2`"));
  EXPECT_THAT(stage("", "v0 = load s[0, a1, a3]\n"), HasSubstr("`s` has 2 dimensions, found 3"));
}

TEST(VerifyStage, Conditions) {
  EXPECT_EQ(stage("async when=(a0 < 3)"), "");
  EXPECT_THAT(stage("async when=(a1 < 3)"), HasSubstr("the condition `(a1 < 3)` differs between the threads"));
  EXPECT_THAT(stage("async when=(a2 < 1)"), HasSubstr("the condition depends on the REG axis `a2`"));
  EXPECT_THAT(stage("when=(a0 < 3)"), HasSubstr("a copy has no group that could be empty"));
}

TEST(VerifyStage, SeveralStagesOfOneBuffer) {
  const std::string again = "s = Stage(a, origin=((a0 * 8), 16), slab=(x:8@0, y:16@1)) ";
  EXPECT_EQ(stage("buffers=2@0 async", "for a4 in 0..2: # free\n  " + again + "buffers=2@a4 async\n"), "");
  for (const char* other : {"buffers=2@1", "buffers=4@1 async", "pad=4 buffers=2@1 async", "lanes=2 buffers=2@1 async"})
    EXPECT_THAT(stage("buffers=2@0 async", again + other + "\n"),
                HasSubstr("the stages of `s` may differ only in origin, slot and condition"));
  EXPECT_THAT(stage("", "s = Stage(a, origin=((a0 * 8), 16), slab=(x:8@0, y:8@1))\n"),
              HasSubstr("may differ only in origin, slot and condition"));
  EXPECT_THAT(tile("if (a0 < 1):\n  " + again + "\n" + again + "\n"), HasSubstr("`s` is out of scope"));
  EXPECT_THAT(tile("s = exp(1)\n" + again + "\n"), HasSubstr("`s` is defined twice"));
}

TEST(VerifyStage, Tma) {
  EXPECT_EQ(tile("s = Stage(a, origin=(0, 0), slab=(y:16@1)) tma\n"), "");
  EXPECT_THAT(tile("s = Stage(a, origin=(0, 0), slab=(y:16@1, x:8@0)) tma\n"), HasSubstr("keeps the order"));
  EXPECT_THAT(tile("s = Stage(a, origin=(0, 0), slab=(x:8@0)) tma\n"), HasSubstr("walk the last dimension"));
  EXPECT_THAT(tile("s = Stage(t, origin=(0, 0), slab=(x:8@0, y:16@1)) tma\n"),
              HasSubstr("the last dimension of `t` has no stride of 1"));
  EXPECT_THAT(tile("s = Stage(a, origin=(0, 0), slab=(x:8@0, y:6@1)) tma\n"),
              HasSubstr("rows of 24 bytes in the box, not a multiple of 16"));
}

TEST(VerifyStage, Waits) {
  EXPECT_EQ(
      tile("AsyncWait(keep=1)\nfor a4 in 0..8: # free\n  AsyncWait(keep=0, phase=((a4 / 2) % 2), slot=(a4 % 2))\n"),
      "");
  EXPECT_THAT(tile("AsyncWait(keep=0, phase=a0, slot=0)\n"), HasSubstr("`a0` is in 0..3, not proven in 0..1"));
  EXPECT_THAT(tile("AsyncWait(keep=0, phase=(a1 % 2), slot=0)\n"), HasSubstr("the phase `(a1 % 2)` differs between"));
  EXPECT_THAT(tile("AsyncWait(keep=0, phase=0, slot=(a3 % 2))\n"), HasSubstr("the slot depends on the VECTOR axis"));
  EXPECT_THAT(tile("AsyncWait(keep=0, phase=0, slot=(a0 - 1))\n"), HasSubstr("the slot may be negative"));
  EXPECT_THAT(tile("if (a1 < 4):\n  AsyncWait(keep=0)\n"), HasSubstr("may not reach this"));
  EXPECT_THAT(kernel("AsyncWait(keep=0)\n"), HasSubstr("not a statement of kernel IR"));
  const Program negative{Level::tile, "k", {}, {Tile{{}, {AsyncWait{-1, 0, 0}}}}};
  EXPECT_THAT(verify(negative), HasSubstr("keep=-1"));
}

TEST(VerifyStage, LoopsPerRegister) {
  EXPECT_EQ(tile("for a4 in 0..8: # reduce per a2\n  v0 = load a[a4, a2]\n"), "");
  EXPECT_THAT(tile("for a4 in 0..8: # reduce per a1\n  v0 = exp(1)\n"), HasSubstr("`a1` is not a REG axis"));
  EXPECT_THAT(tile("for a4 in 0..8: # reduce per a9\n  v0 = exp(1)\n"), HasSubstr("`a9` is not a REG axis"));
  EXPECT_THAT(kernel("for a4 in 0..8: # reduce per a1\n  v0 = exp(1)\n"), HasSubstr("`a1` is not a REG axis"));
}

TEST(VerifyKernel, Shuffles) {
  EXPECT_EQ(kernel("v0 = load a[0, a1]\nWarpShuffle(v1 <- v0, op=maximum, length=8)\nc[a0, a1] = v1\n"), "");
  EXPECT_THAT(kernel("v0 = copy(1)\nWarpShuffle(v1 <- v0, op=add, length=6)\n"),
              HasSubstr("length 6 is not a power of"));
  EXPECT_THAT(kernel("v0 = copy(1)\nWarpShuffle(v1 <- v0, op=add, length=64)\n"), HasSubstr("up to 32"));
  EXPECT_THAT(kernel("v0 = copy(1)\nWarpShuffle(v1 <- v0, op=add, length=16)\n"),
              HasSubstr("8 threads are not groups of 16"));
  EXPECT_THAT(kernel("v0 = copy(1)\nWarpShuffle(v1 <- v0, op=exp, length=8)\n"), HasSubstr("no neutral element"));
  EXPECT_THAT(kernel("v0:f32x4 = copy(1)\nWarpShuffle(v1:f32x4 <- v0, op=add, length=8)\n"),
              HasSubstr("moves scalars"));
  EXPECT_THAT(kernel("v0:i32 = copy(1)\nWarpShuffle(v1 <- v0, op=add, length=8)\n"), HasSubstr("`v0` is i32"));
  EXPECT_THAT(kernel("WarpShuffle(v1 <- v0, op=add, length=8)\n"), HasSubstr("`v0` is not defined before this"));
  EXPECT_THAT(kernel("v0 = copy(1)\nif (a1 < 4):\n  WarpShuffle(v1 <- v0, op=add, length=8)\n"),
              HasSubstr("may not reach this"));
}

TEST(VerifyKernel, CpAsync) {
  const auto copy = [](const std::string& rest) {
    return kernel("Smem s[8, 16] (f32)\nSmem h_smem[32] (f16)\n" + rest);
  };
  EXPECT_EQ(copy("CpAsyncCopy(s[a1, 4], a[a1, (a0 * 4)], lanes=4)\nCpAsyncCommit\nCpAsyncWait(keep=0)\nSync\n"
                 "CpAsyncCopy(h_smem[(a1 * 2)], h[0], lanes=2)\n"),
            "");
  EXPECT_THAT(copy("CpAsyncCopy(c[a1, 4], a[a1, 0], lanes=4)\n"), HasSubstr("`c` is not shared memory"));
  EXPECT_THAT(copy("CpAsyncCopy(s[a1, 4], s[a1, 0], lanes=4)\n"), HasSubstr("`s` is not in global memory"));
  EXPECT_THAT(copy("CpAsyncCopy(s[a1, 0], h[0], lanes=4)\n"), HasSubstr("`h` holds f16"));
  EXPECT_THAT(copy("CpAsyncCopy(s[a1, 0], a[a1, 0], lanes=8)\n"), HasSubstr("a copy of 32 bytes, not 4, 8 or 16"));
  EXPECT_THAT(copy("CpAsyncCopy(h_smem[a1], h[a1], lanes=1)\n"), HasSubstr("a copy of 2 bytes"));
  EXPECT_THAT(copy("CpAsyncCopy(s[a1, 13], a[a1, 0], lanes=4)\n"), HasSubstr("and 4 lanes, not proven in 0..15"));
  EXPECT_THAT(copy("CpAsyncCopy(s[a1, 0], a[a1, 62], lanes=4)\n"), HasSubstr("and 4 lanes, not proven in 0..63"));
  EXPECT_THAT(copy("CpAsyncCopy(s[a1, 0], t[a1, 0], lanes=4)\n"), HasSubstr("of `t` has no stride of 1"));
  EXPECT_THAT(copy("CpAsyncCopy(s[a1], a[a1, 0], lanes=4)\n"), HasSubstr("`s` has 2 dimensions, found 1"));
}

// Verifies descriptors and the body of a Tile.
std::string with_tma(const std::string& descriptors, const std::string& body) {
  return verify(parse("=== kernel: k ===\n" + std::string(buffers) + descriptors +
                      "Tile(axes=(a0:4=BLOCK, a1:8=THREAD)):\n" + testing::indented(body)));
}
const std::string descriptor = "TmaDescriptor d(a, box=(8, 16)) swizzle=64\n";
const std::string declared = "Smem s[2, 8, 16] (f32) align=512\nMbarrierInit m[2] (count=1)\nSync\n";

TEST(VerifyKernel, Tma) {
  EXPECT_EQ(with_tma(descriptor, declared + "MbarrierArriveExpectTx(m[0], bytes=512)\n"
                                            "TmaLoad(s[1, 0, 0], d[(a0 - 9), 0], m[0])\nMbarrierWait(m[0], phase=0)\n"),
            "");
  const auto load = [](const std::string& text) { return with_tma(descriptor, declared + text + "\n"); };
  EXPECT_THAT(load("TmaLoad(s[2, 0, 0], d[0, 0], m[0])"), HasSubstr("index 0 `2` is in 2..2, not proven in 0..1"));
  EXPECT_THAT(load("TmaLoad(c[0, 0], d[0, 0], m[0])"), HasSubstr("`c` is not shared memory"));
  EXPECT_THAT(load("TmaLoad(s[0, 0, 0], a[0, 0], m[0])"), HasSubstr("`a` is not a descriptor before this"));
  EXPECT_THAT(load("TmaLoad(s[0, 0, 0], d[0], m[0])"), HasSubstr("`d` has 2 dimensions, found 1 coordinates"));
  EXPECT_THAT(load("TmaLoad(s[0, 0, 0], d[0, a9], m[0])"), HasSubstr("`a9` is not an axis in scope"));
  EXPECT_THAT(load("TmaLoad(s[0, 0, 0], d[0, 0], s[0])"), HasSubstr("`s` is not a barrier before this"));
  EXPECT_THAT(load("TmaLoad(s[0, 0, 0], d[0, 0], m[a1])"), HasSubstr("not proven in 0..1"));
  EXPECT_THAT(load("v0 = load m[0]"), HasSubstr("`m` is not a buffer"));
  EXPECT_THAT(load("v0 = copy(d)"), HasSubstr("`d` is not a value"));
  EXPECT_THAT(load("d = copy(1)"), HasSubstr("`d` is defined twice"));
  EXPECT_THAT(with_tma("TmaDescriptor d(a, box=(32, 64))\n", declared + "TmaLoad(s[0, 0, 0], d[0, 0], m[0])\n"),
              HasSubstr("a box of 2048 elements, `s` has 256"));
  EXPECT_THAT(with_tma("TmaDescriptor d(a, box=(1, 16))\n",
                       "Smem s[64] (i32)\nMbarrierInit m[1] (count=1)\n"
                       "TmaLoad(s[0], d[0, 0], m[0])\n"),
              HasSubstr("`a` holds f32"));
}

TEST(VerifyKernel, TmaDescriptors) {
  const auto d = [](const std::string& text) { return with_tma("TmaDescriptor d(" + text + "\n", "Sync\n"); };
  EXPECT_EQ(d("a, box=(32, 64))"), "");
  EXPECT_THAT(d("a, box=(32))"), HasSubstr("`a` has 2 dimensions, found 1 in the box"));
  EXPECT_THAT(d("b, box=(32))"), HasSubstr("`b` is not a buffer of the program"));
  EXPECT_THAT(d("a, box=(300, 4))"), HasSubstr("a box of 300 elements, not 1 to 256"));
  EXPECT_THAT(d("a, box=(1, 3))"), HasSubstr("rows of 12 bytes in the box, not a multiple of 16"));
  EXPECT_THAT(d("a, box=(1, 4)) swizzle=32"), HasSubstr("rows of 16 bytes in the box do not match a swizzle of 32"));
  EXPECT_THAT(d("t, box=(4, 4))"), HasSubstr("the last dimension of `t` has no stride of 1"));
  EXPECT_THAT(kernel("TmaDescriptor d(a, box=(32, 64))\n"), HasSubstr("a descriptor must precede the Tile"));
  EXPECT_THAT(verify(parse("=== tile: k ===\n" + std::string(buffers) +
                           "TmaDescriptor d(a, box=(32, 64))\nTile(axes=()):\n  v0 = exp(1)\n")),
              HasSubstr("not a statement of tile IR"));
}

TEST(VerifyKernel, Mbarriers) {
  EXPECT_THAT(kernel("for a2 in 0..2: # free\n  MbarrierInit m[1] (count=1)\n"), HasSubstr("directly in the Tile"));
  EXPECT_THAT(kernel("MbarrierInit m[1] (count=1)\nMbarrierInit m[1] (count=1)\n"), HasSubstr("`m` is defined twice"));
  EXPECT_THAT(kernel("MbarrierWait(m[0], phase=0)\n"), HasSubstr("`m` is not a barrier before this"));
  EXPECT_THAT(kernel("MbarrierInit m[1] (count=1)\nMbarrierWait(m[1], phase=0)\n"), HasSubstr("not proven in 0..0"));
  EXPECT_THAT(kernel("MbarrierInit m[1] (count=1)\nMbarrierWait(m[0], phase=a0)\n"), HasSubstr("not proven in 0..1"));
  EXPECT_THAT(kernel("MbarrierInit m[1] (count=1)\nMbarrierArriveExpectTx(m[0], bytes=1048576)\n"),
              HasSubstr("1048576 bytes, not 0 to 1048575"));
}

TEST(VerifyKernel, AddingWritesAndAlignments) {
  EXPECT_EQ(kernel("c[a0, a1] += 1\n"), "");
  EXPECT_EQ(kernel("v0:f32x4 = copy(1)\nc[a0, 0]:x4 += v0\n"), "") << "one addition a lane";
  EXPECT_THAT(kernel("a[a0, a1] += 1\n"), HasSubstr("`a` cannot be written"));
  EXPECT_THAT(kernel("Smem s[4] (f32) align=48\n"), HasSubstr("an alignment of 48 bytes"));
}

TEST(VerifyIndex, ExclusiveOr) {
  EXPECT_EQ(kernel("v0 = load a[(a1 ^ (a0 % 4)), (((a1 ^ 5) * 4) + 3)]\n"), "");
  EXPECT_EQ(kernel("v0:f32x4 = load a[0, ((a1 ^ a0) * 4)]\n"), "") << "multiples of 4";
  EXPECT_THAT(kernel("v0 = load a[0, ((a1 - 1) ^ 3)]\n"), HasSubstr("`((a1 - 1) ^ 3)` may have a negative side"));
  EXPECT_THAT(kernel("v0 = load a[(a1 ^ 32), 0]\n"), HasSubstr("not proven in 0..31"));
}

}  // namespace
}  // namespace deplo::ir
