// Tile and Kernel IR: each planted violation is found, and each legal form is accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/verify/verify_fixture.h"

namespace deplo::ir {
namespace {

using testing::buffers;
using ::testing::HasSubstr;
using testing::kernel;
using testing::tile;

TEST(Verify, LegalTiles) {
  EXPECT_EQ(tile("in0 = load a[((a0 * 8) + a1), ((a2 * 16) + a3)]\nc[((a0 * 8) + a1), ((a2 * 16) + a3)] += in0\n"), "");
  EXPECT_EQ(tile("for a4 in 0..4: # free\n  s = Stage(a, origin=((a0 * 8), (a4 * 16)), slab=(x:8@0, y:16@1))\n"
                 "  for a5 in 0..16: # reduce\n    in0 = load s[a1, a5]\n    acc0 <- add(acc0, in0)\n"
                 "Combine(acc0, op=add, over=(a1))\nc[a0, a3] = acc0\n"),
            "");
  EXPECT_EQ(tile("StridedLoop(a4 = a1; < 64; += 8): # reduce\n  in0 = load a[a0, a4]\n  acc0 <- add(acc0, in0)\n"
                 "Combine(acc0, op=add, over=(a1))\nif (a1 == 0):\n  c[a0, 0] = acc0\n"),
            "");
  EXPECT_EQ(verify(parse("=== tile: k ===\noutput c: f32[1]\nv0 = reciprocal(3)\nTile(axes=()):\n  c[0] = v0\n")), "");
}

TEST(Verify, TileLevel) {
  const auto top = [](const std::string& body) {
    return verify(parse("=== tile: k ===\n" + std::string(buffers) + body));
  };
  EXPECT_THAT(top("v0 = exp(1)\n"), HasSubstr("expected one Tile, found 0"));
  EXPECT_THAT(top("Tile(axes=()):\n  v0 = exp(1)\nTile(axes=()):\n  v1 = exp(1)\n"),
              HasSubstr("expected one Tile, found 2"));
  EXPECT_THAT(top("Tile(axes=()):\n  v0 = exp(1)\nv1 = exp(1)\n"), HasSubstr("nothing follows the Tile"));
  EXPECT_THAT(top("c[0, 0] = 1\nTile(axes=()):\n  v0 = exp(1)\n"), HasSubstr("only loads, indices and assignments"));
  EXPECT_THAT(tile("Tile(axes=()):\n  v0 = exp(1)\n"), HasSubstr("a Tile must be at the top level"));
  EXPECT_THAT(top("Tile(axes=(a0:2=VECTOR, a1:2=VECTOR)):\n  v0 = exp(1)\n"), HasSubstr("more than one VECTOR axis"));
  EXPECT_THAT(top("Tile(axes=(a0:3=VECTOR)):\n  v0 = exp(1)\n"), HasSubstr("lanes is 1, 2, 4, 8 or 16"));
  EXPECT_THAT(top("Tile(axes=(a0:3=REG, a0:3=BLOCK)):\n  v0 = exp(1)\n"), HasSubstr("`a0` is defined twice"));
  for (const char* statement : {"CpAsyncCommit", "Init(acc0, op=add)", "TreeHalve(s, op=add, length=4, tid=0)"})
    EXPECT_THAT(tile(std::string(statement) + "\n"), HasSubstr("not a statement of tile IR"));
  EXPECT_THAT(tile("v0:f32x2 = copy(1)\n"), HasSubstr("vector values belong to Kernel IR"));
}

// Loops end early if a mask is causal.
TEST(Verify, LoopsThatEndEarly) {
  const std::string body = ": # free\n  in0 = load a[a4, 0]\n  c[a4, 1] += in0\n";
  EXPECT_EQ(tile("for a4 in 0..min(8, (a0 + 1))" + body), "");
  EXPECT_EQ(kernel("for a4 in 0..min(32, ((a0 * 8) + 8))" + body), "");
  EXPECT_EQ(tile("for a4 in 0..min(99, (a0 + 1))" + body), "") << "the end keeps the index in range";
  EXPECT_THAT(tile("for a4 in 0..min(8, (a1 + 1))" + body), HasSubstr("the same for all threads of a block"));
  EXPECT_THAT(testing::loop("for a4 in 0..min(8, 3)" + body), HasSubstr("can end early only in Tile and Kernel IR"));
  EXPECT_THAT(tile("for a4 in 0..min(8, (a0 + 1)): # reduce per a2\n  in0 = load a[a4, 0]\n  acc0 <- add(acc0, in0)\n"
                   "c[a2, 0] = acc0\n"),
              HasSubstr("must go from 0 by 1"));
}

TEST(Verify, WhatWarpsKeepInRegisters) {
  const std::string body = "s[a1] = 1\nin0 = load s[a1]\n";
  EXPECT_EQ(tile("Smem s[8] (f32) registers\n" + body), "");
  EXPECT_THAT(kernel("Smem s[8] (f32) registers\n" + body), HasSubstr("in registers in Tile IR only"));
}

TEST(Verify, VectorAxis) {
  EXPECT_EQ(tile("v0 = load a[a2, (a3 + (a1 * 2))]\n"), "");
  EXPECT_EQ(tile("v0 = load a[a2, (min((a1 * 16), 48) + a3)]\n"), "");
  const auto in_loop = [](const std::string& text) { return tile("for a4 in 0..2: # free\n  " + text); };
  EXPECT_THAT(in_loop("v0 = load a[a3, 0]\n"), HasSubstr("is in an index other than the last"));
  EXPECT_EQ(in_loop("v0 = load a[0, (a3 * 2)]\n"), "") << "the even and odd elements of two vectors";
  EXPECT_THAT(in_loop("v0 = load a[0, (a3 * 3)]\n"), HasSubstr("has a coefficient other than 1"));
  EXPECT_THAT(in_loop("c[0, (a3 * 2)] = 1\n"), HasSubstr("has a coefficient other than 1"));
  EXPECT_EQ(in_loop("v0 = load a[0, (a3 / 2)]\n"), "") << "each element of a narrower vector twice";
  EXPECT_THAT(in_loop("v0 = load a[0, (a3 / 3)]\n"), HasSubstr("has a coefficient other than 1"));
  EXPECT_THAT(in_loop("v0 = load a[0, ((a3 / 2) * 2)]\n"), HasSubstr("has a coefficient other than 1"));
  EXPECT_THAT(in_loop("c[0, (a3 / 2)] = 1\n"), HasSubstr("has a coefficient other than 1"));
  EXPECT_THAT(in_loop("v0 = load t[0, a3]\n"), HasSubstr("walks a dimension whose stride is not 1"));
  EXPECT_THAT(in_loop("c[0, (a3 * 3)] = 1\n"), HasSubstr("has a coefficient other than 1"));
  EXPECT_THAT(tile("c[0, (a3 * 3)] += 1\n"), HasSubstr("has a coefficient other than 1"));
  EXPECT_EQ(tile("v0 = load a[a3, 0]\nc[0, (a3 * 3)] = v0\n"), "") << "outside of loops CPUs access lane by lane";
}

TEST(Verify, Stages) {
  EXPECT_EQ(tile("s = Stage(a, origin=((a0 * 99), 0), slab=(x:8@1))\nv0 = load s[a1]\n"), "")
      << "the origin may leave the source";
  EXPECT_THAT(tile("s = Stage(a, origin=(a0), slab=(x:8@0))\n"),
              HasSubstr("`a` has 2 dimensions, found 1 in the origin"));
  EXPECT_THAT(tile("s = Stage(a, origin=(a0, 0), slab=(x:8@2))\n"), HasSubstr("`a` has no dimension 2"));
  EXPECT_THAT(tile("s = Stage(a, origin=(a0, 0), slab=(x:8@0, y:2@0))\n"), HasSubstr("slab axis `x` repeats another"));
  EXPECT_EQ(tile("s = Stage(a, origin=(((a0 + x) / 3), ((x % 3) * 4)), slab=(x:8, y:2@1))\nv0 = load s[a1, 0]\n"), "")
      << "rows in lines";
  EXPECT_THAT(tile("s = Stage(a, origin=(a0, 0), slab=(x:8, y:2@1))\n"),
              HasSubstr("the origin does not say where slab axis `x` goes"));
  EXPECT_THAT(tile("s = Stage(a, origin=((x / 2), y), slab=(x:8, y:2@1))\n"), HasSubstr("`y` is not an axis in scope"));
  EXPECT_THAT(tile("s = Stage(a, origin=((x / 2), 0), slab=(x:8, y:4@1)) tma\n"),
              HasSubstr("a tma copy walks dimensions of its source"));
  EXPECT_THAT(tile("s = Stage(a, origin=(a0, 0), slab=())\n"), HasSubstr("the slab has no axes"));
  EXPECT_THAT(tile("s = Stage(b, origin=(a0, 0), slab=(x:8@0))\n"), HasSubstr("`b` is not a buffer of the program"));
  EXPECT_THAT(tile("s = Stage(a, origin=(a9, 0), slab=(x:8@0))\n"), HasSubstr("`a9` is not an axis in scope"));
  EXPECT_THAT(tile("s = Stage(a, origin=(a1, 0), slab=(x:8@0))\n"), HasSubstr("differs between the threads"));
  EXPECT_THAT(tile("s = Stage(a, origin=(a2, 0), slab=(x:8@0))\n"), HasSubstr("depends on the REG axis `a2`"));
  EXPECT_THAT(tile("s = Stage(a, origin=(a0, 0), slab=(x:8@0))\ns[0] = 1\n"), HasSubstr("`s` cannot be written"));
  EXPECT_THAT(tile("s = Stage(a, origin=(a0, 0), slab=(x:4@0))\nv0 = load s[a1]\n"), HasSubstr("not proven in 0..3"));
  EXPECT_THAT(tile("for a4 in 0..2: # free\n  s = Stage(a, origin=(a4, 0), slab=(x:8@0))\nv0 = load s[a1]\n"),
              HasSubstr("`s` is out of scope"));
  EXPECT_THAT(tile("if (a1 < 4):\n  s = Stage(a, origin=(a0, 0), slab=(x:8@0))\n"),
              HasSubstr("some threads of the block may not reach this"));
}

TEST(Verify, Combines) {
  EXPECT_THAT(tile("Combine(acc0, op=add, over=(a1))\n"), HasSubstr("`acc0` is not an accumulator before this"));
  EXPECT_THAT(tile("acc0 <- add(acc0, 1)\nCombine(acc0, op=maximum, over=(a1))\n"),
              HasSubstr("`acc0` is accumulated by add"));
  EXPECT_THAT(tile("acc0 <- add(acc0, 1)\nCombine(acc0, op=add, over=(a0))\n"),
              HasSubstr("`a0` is not a CLUSTER, THREAD, REG or VECTOR axis"));
  EXPECT_THAT(tile("acc0 <- add(acc0, 1)\nCombine(acc0, op=add, over=(a9))\n"),
              HasSubstr("`a9` is not a CLUSTER, THREAD"));
  EXPECT_THAT(tile("acc0 <- add(acc0, 1)\nCombine(acc0, op=add, over=(a1, a1))\n"),
              HasSubstr("axis `a1` is named twice"));
  EXPECT_THAT(tile("acc0 <- add(acc0, 1)\nif (a1 == 0):\n  Combine(acc0, op=add, over=(a1))\n"),
              HasSubstr("may not reach this"));
}

TEST(Verify, LegalKernels) {
  EXPECT_EQ(
      kernel("Smem s[8, 16] (f32)\nInit(acc0:f32x16, op=add)\nin0:f32x16 = load a[a1, (a0 * 16)]\nv0 = load a[0, 0]\n"
             "acc0:f32x16 <- fma(acc0, in0, v0)\nacc0:f32x16 <- add(acc0, 0.5)\nv1:f32x16 = multiply(acc0, v0)\n"
             "v2 = lanes_add(v1)\ns[a1, 0] = v2\ns[a1, 0]:x16 = v1\nSync\nv3:f32x4 = load s[a1, 12]\n"
             "c[a1, (a0 * 16)]:x16 = v1\nc[a1, (a0 * 16)]:x16 = 0\n"),
      "");
  EXPECT_EQ(kernel("Smem s[2, 8] (f32)\ns[0, a1] = 1\nSync\nfor a2 in 0..2: # free\n  TreeHalve(s[a2], op=add, "
                   "length=8, tid=a1)\n"
                   "StridedLoop(a3 = a1; < 64; += 8): # free\n  Sync\n  c[a0, a3] = 1\n"),
            "");
  EXPECT_EQ(kernel("StridedLoop(a2 = (a1 * 4); < 64; += 32): # free\n  v0:f32x4 = load a[a0, a2]\n"), "")
      << "steps of 4 end at 60";
  EXPECT_EQ(
      kernel("for a2 in 0..2: # free\n  v0:f32x4 = load a[(((a2 * 8) + a1) / 16), ((((a2 * 8) + a1) * 4) % 64)]\n"),
      "");
  EXPECT_EQ(kernel("if (a0 == 0):\n  Sync\n"), "") << "all threads of a block agree";
}

TEST(Verify, KernelLevel) {
  const auto top = [](const std::string& body) {
    return verify(parse("=== kernel: k ===\n" + std::string(buffers) + body));
  };
  EXPECT_THAT(top("Tile(axes=(a0:4=REG)):\n  v0 = exp(1)\n"), HasSubstr("axis `a0` cannot be REG in kernel IR"));
  EXPECT_THAT(top("Tile(axes=(a0:4=VECTOR)):\n  v0 = exp(1)\n"), HasSubstr("axis `a0` cannot be VECTOR in kernel IR"));
  EXPECT_THAT(top("Smem s[4] (f32)\nTile(axes=()):\n  v0 = exp(1)\n"),
              HasSubstr("only loads, indices and assignments"));
  EXPECT_THAT(kernel("Combine(acc0, op=add, over=())\n"), HasSubstr("not a statement of kernel IR"));
  EXPECT_THAT(kernel("acc0 <- add(acc0, 1)\n"), HasSubstr("`acc0` has no Init before this"));
  EXPECT_THAT(kernel("if (a0 < 1):\n  Init(acc0, op=add)\nacc0 <- add(acc0, 1)\n"),
              HasSubstr("`acc0` is out of scope"));
  EXPECT_THAT(kernel("Init(acc0, op=add)\nInit(acc0, op=add)\n"), HasSubstr("`acc0` is defined twice"));
  EXPECT_THAT(kernel("Init(acc0, op=exp)\n"), HasSubstr("exp has no neutral element"));
  EXPECT_THAT(kernel("Init(acc0, op=maximum)\nacc0 <- fma(acc0, 1, 2)\n"),
              HasSubstr("`acc0` is accumulated by maximum"));
  EXPECT_THAT(kernel("Init(acc0:f32x4, op=add)\nacc0 <- add(acc0, 1)\n"), HasSubstr("`acc0` has another type"));
  EXPECT_THAT(kernel("s[0] = 1\nSmem s[4] (f32)\n"), HasSubstr("buffer `s` is not declared before this"));
  EXPECT_THAT(kernel("if (a0 < 1):\n  Smem s[4] (f32)\ns[0] = 1\n"), HasSubstr("`s` is out of scope"));
  EXPECT_THAT(kernel("Smem s[] (f32)\n"), HasSubstr("at least one dimension"));
  EXPECT_THAT(kernel("Smem s[4] (f32)\ns[0] += 1\n"), HasSubstr("+= works on global memory only"));
}

TEST(Verify, Lanes) {
  EXPECT_THAT(kernel("v0:f32x4 = load a[0, 61]\n"),
              HasSubstr("index 1 `61` is in 61..61 and 4 lanes, not proven in 0..63"));
  EXPECT_THAT(kernel("v0:f32x4 = load t[0, 0]\n"), HasSubstr("the last dimension of `t` has no stride of 1"));
  EXPECT_THAT(kernel("v0:f32x4 = copy(1)\nv1:f32x8 = exp(v0)\n"), HasSubstr("`v0` has 4 lanes, but the result has 8"));
  EXPECT_THAT(kernel("v0:f32x4 = copy(1)\nv1 = exp(v0)\n"), HasSubstr("`v0` has 4 lanes, but the result has 1"));
  EXPECT_THAT(kernel("v0 = copy(1)\nv1 = lanes_add(v0)\n"), HasSubstr("`v0` has 1 lanes"));
  EXPECT_THAT(kernel("v1 = lanes_add(1)\n"), HasSubstr("expected a vector value"));
  EXPECT_THAT(kernel("v0 = copy(1)\nc[0, 0]:x4 = v0\n"), HasSubstr("`v0` has fewer lanes than are written"));
  EXPECT_THAT(kernel("v0:f32x4 = copy(1)\nc[0, 0] = v0\n"), HasSubstr("`v0` has 4 lanes, but the result has 1"));
  const Program odd{Level::kernel, "k", {}, {Assign{"v0", {DType::f32, 3}, Op::copy, {1.0}}, Tile{{}, {Sync{}}}}};
  EXPECT_THAT(verify(odd), HasSubstr("lanes is 1, 2, 4, 8 or 16"));
}

TEST(Verify, BarriersAreReachedByAllThreads) {
  EXPECT_THAT(kernel("if (a1 == 0):\n  Sync\n"),
              ::testing::StrEq("k: `Sync`: some threads of the block may not reach this"));
  EXPECT_THAT(kernel("StridedLoop(a2 = a1; < 60; += 8): # free\n  Sync\n"), HasSubstr("may not reach this"));
  EXPECT_THAT(kernel("StridedLoop(a2 = a1; < 64; += 8): # free\n  if (a2 < 32):\n    Sync\n"),
              HasSubstr("may not reach this"));
  EXPECT_THAT(kernel("Smem s[8] (f32)\nif (a1 < 4):\n  TreeHalve(s, op=add, length=8, tid=a1)\n"),
              HasSubstr("may not reach this"));
}

TEST(Verify, TreeHalve) {
  EXPECT_THAT(kernel("Smem s[8] (f32)\nTreeHalve(s, op=add, length=6, tid=a1)\n"),
              HasSubstr("length 6 is not a power of two up to 8"));
  EXPECT_THAT(kernel("Smem s[8] (f32)\nTreeHalve(s, op=add, length=16, tid=a1)\n"),
              HasSubstr("length 16 is not a power of two up to 8"));
  EXPECT_THAT(kernel("Smem s[8] (f32)\nTreeHalve(s[0], op=add, length=8, tid=a1)\n"),
              HasSubstr("`s` has 1 dimensions, found 1 and tid"));
  EXPECT_THAT(kernel("Smem s[2, 8] (f32)\nTreeHalve(s[a1], op=add, length=8, tid=a1)\n"),
              HasSubstr("not proven in 0..1"));
  EXPECT_THAT(kernel("Smem s[8] (f32)\nTreeHalve(s, op=power, length=8, tid=a1)\n"),
              HasSubstr("power has no neutral element"));
  EXPECT_THAT(kernel("Smem s[8] (f32)\nTreeHalve(s, op=add, length=8, tid=(a1 - 1))\n"),
              HasSubstr("tid may be negative"));
  EXPECT_THAT(kernel("TreeHalve(a, op=add, length=8, tid=a1)\n"), HasSubstr("`a` is not shared memory in scope"));
}

}  // namespace
}  // namespace deplo::ir
