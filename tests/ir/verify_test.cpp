// Each violation planted and found; each legal form accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "ir/program.h"

namespace deplo::ir {
namespace {

using testing::HasSubstr;

constexpr std::string_view kBuffers =
    "input a: f32[32, 64]\ninput t: f32[64, 32] strides=(1, 64)\ninput h: f16[32]\noutput c: f32[32, 64]\n";

std::string loop(std::string_view body) {
  return verify(parse("=== loop: k ===\n" + std::string(kBuffers) + std::string(body)));
}

std::string indented(std::string_view body) {
  std::string out = "  ";
  for (const char ch : body) out += ch == '\n' ? "\n  " : std::string(1, ch);
  out.resize(out.find_last_not_of(' ') + 1);
  return out;
}

// `body` inside Tile(axes=(a0: BLOCK, a1: THREAD, a2: REG, a3: VECTOR)).
std::string tile(std::string_view body) {
  return verify(parse("=== tile: k ===\n" + std::string(kBuffers) +
                      "Tile(axes=(a0:4=BLOCK, a1:8=THREAD, a2:4=REG, a3:16=VECTOR)):\n" + indented(body)));
}

// `body` inside Tile(axes=(a0: BLOCK, a1: THREAD)).
std::string kernel(std::string_view body) {
  return verify(parse("=== kernel: k ===\n" + std::string(kBuffers) + "Tile(axes=(a0:4=BLOCK, a1:8=THREAD)):\n" +
                      indented(body)));
}

TEST(Verify, legal_loops) {
  EXPECT_EQ(
      loop("for a0 in 0..32: # free\n  for a1 in 0..64: # free\n    in0 = load a[a0, a1]\n    in1 = load t[a1, a0]\n"
           "    v0 = add(in0, in1)\n    c[a0, a1] = v0\n"),
      "");
  EXPECT_EQ(loop("for a0 in 0..32: # free\n  v0 = exp(2)\n  c[a0, 0] = v0\nfor a0 in 0..8: # free\n  c[a0, 1] = inf\n"),
            "");
  EXPECT_EQ(loop("for a0 in 0..1: # free\n  c[0, 0] = 1\n"), "") << "an axis of extent 1 need not appear";
  EXPECT_EQ(loop("for a0 in 0..9: # reduce\n  c[0, 0] += 1\n"), "");
  EXPECT_EQ(loop("StridedLoop(a0 = 3; < 32; += 7): # free\n  c[a0, (a0 + 3)] = 1\n"), "") << "the last value is 31";
  EXPECT_EQ(loop("for a0 in 0..32: # free\n  for a1 in 0..64: # reduce\n    in0 = load a[a0, a1]\n    acc0 <- "
                 "maximum(acc0, in0)\n"
                 "  for a1 in 0..64: # reduce\n    in1 = load a[a0, a1]\n    v0 = subtract(in1, acc0)\n    acc1 <- "
                 "add(acc1, v0)\n"
                 "  v1 = divide(acc1, acc0)\n  c[a0, 0] = v1\n"),
            "");
}

TEST(Verify, index_ranges) {
  EXPECT_THAT(loop("for a0 in 0..33: # free\n  c[a0, 0] = 1\n"),
              testing::StrEq("k: `c[a0, 0] = 1`: index 0 `a0` is in 0..32, not proven in 0..31"));
  EXPECT_THAT(loop("for a0 in 0..32: # free\n  c[a0, (a0 - 1)] = 1\n"), HasSubstr("index 1 `(a0 - 1)` is in -1..30"));
  EXPECT_THAT(loop("c[32, 0] = 1\n"), HasSubstr("index 0 `32` is in 32..32"));
  EXPECT_THAT(loop("c[0] = 1\n"), HasSubstr("`c` has 2 dimensions, found 1 indices"));
  EXPECT_THAT(loop("c[(a0 + 1), 0] = 1\n"), HasSubstr("`a0` is not an axis in scope"));
  EXPECT_THAT(loop("for a0 in 0..2: # free\n  c[a0, 0] = 1\nc[a0, 0] = 1\n"),
              HasSubstr("`a0` is not an axis in scope"));
  EXPECT_THAT(loop("c[((1073741824 * 1073741824) * 64), 0] = 1\n"), HasSubstr("may overflow"));
  EXPECT_THAT(loop("c[2000000000000000000, 0] = 1\n"), HasSubstr("too large"));
  EXPECT_EQ(loop("for a0 in 0..32: # free\n  c[a0, (a0 + (1 - a0))] = 1\n"), "") << "correlated: always 1";
  EXPECT_EQ(loop("for a0 in 0..9: # free\n  for a1 in 0..4: # free\n    c[min((a0 * 4), 28) + a1, max(a0, a1)] = 1\n"),
            "");
}

TEST(Verify, conditions_bound_indices) {
  EXPECT_EQ(loop("for a0 in 0..40: # free\n  if (a0 < 32):\n    c[a0, 0] = 1\n"), "");
  EXPECT_EQ(loop("for a0 in 0..40: # free\n  if (7 < a0):\n    c[(a0 - 8), 0] = 1\n"), "");
  EXPECT_EQ(loop("for a0 in 0..40: # free\n  if ((a0 < 33) && (0 < a0)):\n    c[(a0 - 1), 0] = 1\n"), "");
  EXPECT_EQ(loop("for a0 in 0..40: # free\n  if (a0 == 5):\n    c[a0, 0] = 1\n"), "");
  EXPECT_EQ(loop("for a0 in 0..5: # free\n  for a1 in 0..8: # free\n    if (((a0 * 8) + a1) < 32):\n      c[((a0 * 8) "
                 "+ a1), 0] = 1\n"),
            "");
  EXPECT_EQ(loop("for a0 in 0..5: # free\n  for a1 in 0..8: # free\n    if ((a1 + (8 * a0)) < 31):\n      c[((a0 * 8) "
                 "+ (a1 + 1)), 0] = 1\n"),
            "")
      << "the same up to a constant";
  EXPECT_EQ(loop("for a0 in 0..5: # free\n  for a1 in 0..800: # free\n    if (((a0 * 800) + a1) < 2048):\n"
                 "      c[(((a0 * 800) + a1) / 64), (((a0 * 800) + a1) % 64)] = 1\n"),
            "");
  EXPECT_EQ(loop("for a0 in 0..40: # free\n  for a1 in 0..32: # free\n    if (a0 < a1):\n      c[a0, a1] = 1\n"), "");
  EXPECT_EQ(loop("for a0 in 0..4: # free\n  if (9 < a0):\n    c[(a0 * 99), 0] = 1\n"), "") << "never runs";
  EXPECT_THAT(loop("for a0 in 0..40: # free\n  if (a0 < 33):\n    c[a0, 0] = 1\n"), HasSubstr("in 0..32"));
  EXPECT_THAT(loop("for a0 in 0..40: # free\n  if (a0 < 32):\n    c[a0, 0] = 1\n  c[a0, 1] = 1\n"),
              HasSubstr("in 0..39"));
  EXPECT_THAT(loop("for a0 in 0..5: # free\n  for a1 in 0..8: # free\n    if (((a0 * 8) + a1) < 34):\n      c[((a0 * "
                   "8) + a1), 0] = 1\n"),
              HasSubstr("not proven in 0..31"));
  EXPECT_THAT(loop("for a0 in 0..5: # free\n  if (a1 < 4):\n    c[0, 0] = 1\n"),
              HasSubstr("`a1` is not an axis in scope"));
}

TEST(Verify, names_and_scopes) {
  EXPECT_THAT(loop("v0 = exp(v1)\n"), testing::StrEq("k: `v0 = exp(v1)`: `v1` is not defined before this"));
  EXPECT_THAT(loop("v0 = exp(1)\nv0 = exp(2)\n"), HasSubstr("`v0` is defined twice"));
  EXPECT_THAT(loop("a = exp(1)\n"), HasSubstr("`a` is defined twice"));
  EXPECT_THAT(loop("v0 = exp(a)\n"), HasSubstr("`a` is not a value"));
  EXPECT_THAT(loop("for a0 in 0..2: # free\n  v0 = exp(a0)\n"), HasSubstr("`a0` is not a value"));
  EXPECT_THAT(loop("for a0 in 0..2: # free\n  v0 = exp(1)\nv1 = exp(v0)\n"), HasSubstr("`v0` is out of scope"));
  EXPECT_THAT(loop("if (1 < 2):\n  v0 = exp(1)\nv1 = exp(v0)\n"), HasSubstr("`v0` is out of scope"));
  EXPECT_THAT(loop("for a0 in 0..2: # free\n  for a0 in 0..2: # free\n    c[a0, 0] = 1\n"),
              HasSubstr("`a0` is defined twice"));
  EXPECT_THAT(loop("for c in 0..2: # free\n  v0 = exp(1)\n"), HasSubstr("`c` is defined twice"));
  EXPECT_THAT(loop("v0 = load b[0]\n"), HasSubstr("buffer `b` is not declared before this"));
  EXPECT_THAT(loop("v1 = exp(1)\nv0 = load v1[0]\n"), HasSubstr("`v1` is not a buffer"));
  EXPECT_THAT(loop("for a0 in 0..2: # free\n"), HasSubstr("the body is empty"));
  EXPECT_THAT(verify(parse("=== loop: k ===\ninput a: f32[1]\ninput a: f32[1]\n")), HasSubstr("`a` is defined twice"));
}

TEST(Verify, programs_that_no_text_gives) {
  const auto with = [](Stmt s) {
    return verify({Level::loop, "k", {{"c", DType::f32, Role::output, {4}, {1}}}, {std::move(s)}});
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(with(Write{"c", {0}, 1.0}), "");
  EXPECT_THAT(with(Assign{"for", {}, Op::copy, {1.0}}), HasSubstr("`for` cannot name a value"));
  EXPECT_THAT(with(Assign{"v 0", {}, Op::copy, {1.0}}), HasSubstr("cannot name"));
  EXPECT_THAT(with(Assign{"v0", {}, Op::add, {1.0}}), HasSubstr("add takes 2 arguments, found 1"));
  EXPECT_THAT(with(Assign{"v0", {}, Op::copy, {nan}}), HasSubstr("not a number"));
  EXPECT_THAT(with(Accum{"acc0", {}, Op::add, {}}), HasSubstr("add takes 2 arguments, found 1"));
  EXPECT_THAT(with(Write{"c", {Expr(4) / Expr(0)}, 1.0}), HasSubstr("does not divide by a positive constant"));
  EXPECT_THAT(with(Loop{{"a0", 0, Bind::free}, 0, 1, 1, {Write{"c", {0}, 1.0}}}), HasSubstr("an extent of 0"));
  EXPECT_THAT(with(Loop{{"a0", 1, Bind::block}, 0, 1, 1, {Write{"c", {0}, 1.0}}}), HasSubstr("free or reduce"));
  EXPECT_THAT(with(Loop{{"a0", 1, Bind::free}, 0, 0, 1, {Write{"c", {0}, 1.0}}}), HasSubstr("a step of 0"));
  EXPECT_THAT(with(Loop{{"a0", 1, Bind::free}, 0, 1, -1, {Write{"c", {0}, 1.0}}}), HasSubstr("an unroll factor of -1"));
  EXPECT_THAT(verify({Level::loop, "", {}, {}}), HasSubstr("`` is not a name"));
  EXPECT_THAT(verify({Level::loop, "k", {{"c", DType::f32, Role::input, {4}, {}}}, {}}),
              HasSubstr("1 dimensions and 0 strides"));
  EXPECT_THAT(verify({Level::loop, "k", {{"c", DType::f32, Role::input, {0}, {1}}}, {}}), HasSubstr("an extent of 0"));
  EXPECT_THAT(verify({Level::loop, "k", {{"c", DType::f32, Role::output, {4}, {0}}}, {}}), HasSubstr("a stride of 0"));
  EXPECT_EQ(verify({Level::loop, "k", {{"c", DType::f32, Role::input, {4}, {0}}}, {}}), "") << "a broadcast input";
}

TEST(Verify, types) {
  EXPECT_EQ(loop("v0:f16 = load h[1]\nv1 = copy(v0)\nv2 = add(v1, 0.5)\n"), "");
  EXPECT_THAT(loop("v0 = load h[1]\n"), HasSubstr("`h` holds f16"));
  EXPECT_THAT(loop("v0:f16 = load h[1]\nv1 = exp(v0)\n"), HasSubstr("`v0` is f16, expected f32"));
  EXPECT_THAT(loop("v0:f16 = load h[1]\nc[0, 0] = v0\n"), HasSubstr("`v0` is f16, expected f32"));
  EXPECT_THAT(loop("v0:f32x2 = copy(1)\n"), HasSubstr("vector values belong to Kernel IR"));
  EXPECT_THAT(loop("c[0, 0]:x2 = 1\n"), HasSubstr("vector values belong to Kernel IR"));
  EXPECT_THAT(loop("a[0, 0] = 1\n"), HasSubstr("`a` cannot be written"));
}

TEST(Verify, accumulators) {
  EXPECT_THAT(loop("for a0 in 0..2: # reduce\n  v0 = exp(acc0)\n  acc0 <- add(acc0, v0)\n"),
              HasSubstr("`acc0` is not defined before this"));
  EXPECT_THAT(loop("acc0 <- subtract(acc0, 1)\n"), HasSubstr("subtract has no neutral element"));
  EXPECT_THAT(loop("acc0 <- add(acc0, 1)\nacc0 <- maximum(acc0, 1)\n"),
              HasSubstr("`acc0` is accumulated by add before this"));
  EXPECT_THAT(loop("acc0 <- add(acc0, 1)\nacc0:f16 <- add(acc0, 1)\n"),
              HasSubstr("`acc0` has another type before this"));
  EXPECT_THAT(loop("acc0 <- add(acc0, acc0)\n"), HasSubstr("`acc0` accumulates itself"));
  EXPECT_THAT(loop("acc0 <- fma(acc0, 1, 2)\n"), HasSubstr("Kernel IR only"));
  EXPECT_THAT(loop("v0 = exp(1)\nv0 <- add(v0, 1)\n"), HasSubstr("`v0` is not an accumulator"));
  EXPECT_THAT(loop("acc0 <- add(acc0, 1)\nacc0 = exp(1)\n"), HasSubstr("`acc0` is defined twice"));
  EXPECT_THAT(loop("for a0 in 0..2: # free\n  acc0 <- add(acc0, 1)\nc[0, 0] = acc0\n"),
              testing::StrEq("k: `acc0` accumulates over the free axis `a0`"));
  EXPECT_EQ(loop("for a0 in 0..2: # free\n  acc0 <- add(acc0, 1)\n  c[a0, 0] = acc0\n"), "")
      << "its scope is the loop's body";
  EXPECT_EQ(loop("for a0 in 0..2: # reduce\n  for a1 in 0..2: # reduce\n    acc0 <- add(acc0, 1)\n  acc1 <- add(acc1, "
                 "acc0)\nc[0, 0] = acc1\n"),
            "");
}

TEST(Verify, loop_level) {
  for (const char* statement : {"Sync", "Smem s[4] (f32)", "Init(acc0, op=add)", "Combine(acc0, op=add, over=())",
                                "s = Stage(a, origin=(0, 0), slab=(x:4@0))", "TreeHalve(s, op=add, length=4, tid=0)",
                                "Tile(axes=()):\n  v0 = exp(1)"})
    EXPECT_THAT(loop(std::string(statement) + "\n"), HasSubstr("not a statement of loop IR"));
  EXPECT_THAT(loop("for a0 in 0..2: # free\n  for a1 in 0..2: # free\n    c[a0, 0] = 1\n"),
              HasSubstr("every value of axis `a1` writes the same element"));
  EXPECT_THAT(loop("for a0 in 0..2: # reduce\n  c[0, 0] = 1\n"),
              HasSubstr("every value of axis `a0` writes the same element"));
}

TEST(Verify, legal_tiles) {
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

TEST(Verify, tile_level) {
  const auto top = [](const std::string& body) {
    return verify(parse("=== tile: k ===\n" + std::string(kBuffers) + body));
  };
  EXPECT_THAT(top("v0 = exp(1)\n"), HasSubstr("expected one Tile, found 0"));
  EXPECT_THAT(top("Tile(axes=()):\n  v0 = exp(1)\nTile(axes=()):\n  v1 = exp(1)\n"),
              HasSubstr("expected one Tile, found 2"));
  EXPECT_THAT(top("Tile(axes=()):\n  v0 = exp(1)\nv1 = exp(1)\n"), HasSubstr("nothing follows the Tile"));
  EXPECT_THAT(top("c[0, 0] = 1\nTile(axes=()):\n  v0 = exp(1)\n"), HasSubstr("only loads and assignments"));
  EXPECT_THAT(tile("Tile(axes=()):\n  v0 = exp(1)\n"), HasSubstr("a Tile stands at the top level"));
  EXPECT_THAT(top("Tile(axes=(a0:2=VECTOR, a1:2=VECTOR)):\n  v0 = exp(1)\n"), HasSubstr("more than one VECTOR axis"));
  EXPECT_THAT(top("Tile(axes=(a0:3=VECTOR)):\n  v0 = exp(1)\n"), HasSubstr("lanes is 1, 2, 4, 8 or 16"));
  EXPECT_THAT(top("Tile(axes=(a0:3=REG, a0:3=BLOCK)):\n  v0 = exp(1)\n"), HasSubstr("`a0` is defined twice"));
  for (const char* statement :
       {"Sync", "Smem s[4] (f32)", "Init(acc0, op=add)", "TreeHalve(s, op=add, length=4, tid=0)"})
    EXPECT_THAT(tile(std::string(statement) + "\n"), HasSubstr("not a statement of tile IR"));
  EXPECT_THAT(tile("v0:f32x2 = copy(1)\n"), HasSubstr("vector values belong to Kernel IR"));
}

TEST(Verify, vector_axis) {
  EXPECT_EQ(tile("v0 = load a[a2, (a3 + (a1 * 2))]\n"), "");
  EXPECT_EQ(tile("v0 = load a[a2, (min((a1 * 16), 48) + a3)]\n"), "");
  EXPECT_THAT(tile("v0 = load a[a3, 0]\n"), HasSubstr("stands in another index than the last"));
  EXPECT_THAT(tile("v0 = load a[0, (a3 * 2)]\n"), HasSubstr("has a coefficient other than 1"));
  EXPECT_THAT(tile("v0 = load a[0, (a3 / 2)]\n"), HasSubstr("has a coefficient other than 1"));
  EXPECT_THAT(tile("v0 = load t[0, a3]\n"), HasSubstr("walks a dimension whose stride is not 1"));
  EXPECT_THAT(tile("c[0, (a3 * 3)] = 1\n"), HasSubstr("has a coefficient other than 1"));
}

TEST(Verify, stages) {
  EXPECT_EQ(tile("s = Stage(a, origin=((a0 * 99), 0), slab=(x:8@1))\nv0 = load s[a1]\n"), "")
      << "the origin may leave the source";
  EXPECT_THAT(tile("s = Stage(a, origin=(a0), slab=(x:8@0))\n"),
              HasSubstr("`a` has 2 dimensions, found 1 in the origin"));
  EXPECT_THAT(tile("s = Stage(a, origin=(a0, 0), slab=(x:8@2))\n"), HasSubstr("`a` has no dimension 2"));
  EXPECT_THAT(tile("s = Stage(a, origin=(a0, 0), slab=(x:8@0, y:2@0))\n"), HasSubstr("slab axis `x` repeats another"));
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

TEST(Verify, combines) {
  EXPECT_THAT(tile("Combine(acc0, op=add, over=(a1))\n"), HasSubstr("`acc0` is not an accumulator before this"));
  EXPECT_THAT(tile("acc0 <- add(acc0, 1)\nCombine(acc0, op=maximum, over=(a1))\n"),
              HasSubstr("`acc0` is accumulated by add"));
  EXPECT_THAT(tile("acc0 <- add(acc0, 1)\nCombine(acc0, op=add, over=(a0))\n"),
              HasSubstr("`a0` is not a THREAD, REG or VECTOR axis"));
  EXPECT_THAT(tile("acc0 <- add(acc0, 1)\nCombine(acc0, op=add, over=(a9))\n"), HasSubstr("`a9` is not a THREAD"));
  EXPECT_THAT(tile("acc0 <- add(acc0, 1)\nCombine(acc0, op=add, over=(a1, a1))\n"),
              HasSubstr("axis `a1` is named twice"));
  EXPECT_THAT(tile("acc0 <- add(acc0, 1)\nif (a1 == 0):\n  Combine(acc0, op=add, over=(a1))\n"),
              HasSubstr("may not reach this"));
}

TEST(Verify, legal_kernels) {
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

TEST(Verify, kernel_level) {
  const auto top = [](const std::string& body) {
    return verify(parse("=== kernel: k ===\n" + std::string(kBuffers) + body));
  };
  EXPECT_THAT(top("Tile(axes=(a0:4=REG)):\n  v0 = exp(1)\n"), HasSubstr("axis `a0` cannot be REG in kernel IR"));
  EXPECT_THAT(top("Tile(axes=(a0:4=VECTOR)):\n  v0 = exp(1)\n"), HasSubstr("axis `a0` cannot be VECTOR in kernel IR"));
  EXPECT_THAT(top("Smem s[4] (f32)\nTile(axes=()):\n  v0 = exp(1)\n"), HasSubstr("only loads and assignments"));
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

TEST(Verify, lanes) {
  EXPECT_THAT(kernel("v0:f32x4 = load a[0, 61]\n"),
              HasSubstr("index 1 `61` is in 61..61 and 4 lanes, not proven in 0..63"));
  EXPECT_THAT(kernel("v0:f32x4 = load t[0, 0]\n"), HasSubstr("the last dimension of `t` has no stride of 1"));
  EXPECT_THAT(kernel("v0:f32x4 = copy(1)\nv1:f32x8 = exp(v0)\n"), HasSubstr("`v0` has 4 lanes where the result has 8"));
  EXPECT_THAT(kernel("v0:f32x4 = copy(1)\nv1 = exp(v0)\n"), HasSubstr("`v0` has 4 lanes where the result has 1"));
  EXPECT_THAT(kernel("v0 = copy(1)\nv1 = lanes_add(v0)\n"), HasSubstr("`v0` has 1 lanes"));
  EXPECT_THAT(kernel("v1 = lanes_add(1)\n"), HasSubstr("expected a vector value"));
  EXPECT_THAT(kernel("v0 = copy(1)\nc[0, 0]:x4 = v0\n"), HasSubstr("`v0` has fewer lanes than are written"));
  EXPECT_THAT(kernel("v0:f32x4 = copy(1)\nc[0, 0] = v0\n"), HasSubstr("`v0` has 4 lanes where the result has 1"));
  const Program odd{Level::kernel, "k", {}, {Assign{"v0", {DType::f32, 3}, Op::copy, {1.0}}, Tile{{}, {Sync{}}}}};
  EXPECT_THAT(verify(odd), HasSubstr("lanes is 1, 2, 4, 8 or 16"));
}

TEST(Verify, barriers_are_reached_by_all_threads) {
  EXPECT_THAT(kernel("if (a1 == 0):\n  Sync\n"),
              testing::StrEq("k: `Sync`: some threads of the block may not reach this"));
  EXPECT_THAT(kernel("StridedLoop(a2 = a1; < 60; += 8): # free\n  Sync\n"), HasSubstr("may not reach this"));
  EXPECT_THAT(kernel("StridedLoop(a2 = a1; < 64; += 8): # free\n  if (a2 < 32):\n    Sync\n"),
              HasSubstr("may not reach this"));
  EXPECT_THAT(kernel("Smem s[8] (f32)\nif (a1 < 4):\n  TreeHalve(s, op=add, length=8, tid=a1)\n"),
              HasSubstr("may not reach this"));
}

TEST(Verify, tree_halve) {
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
