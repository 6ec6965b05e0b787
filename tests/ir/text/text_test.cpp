// The text form: every statement in both directions, and every error message with its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"
#include "ir/program.h"

namespace deplo::ir {
namespace {

std::string message(std::string_view text, const Symbols& symbols = {}) {
  try {
    parse(text, symbols, "t");
  } catch (const Error& e) {
    return e.what();
  }
  return "parsed";
}

// Returns the message about a single statement, which is on line 2.
std::string line_message(const std::string& line) { return message("=== kernel: k ===\n" + line + "\n"); }

void expect_same_text(const std::string& body, const std::string& level = "kernel") {
  const std::string text = "=== " + level + ": k ===\n" + body;
  const Program p = parse(text);
  EXPECT_EQ(print(p), text);
  EXPECT_EQ(parse(print(p)), p);
}

// One statement of each form.
const char* const statements[] = {
    "for a2 in 0..777: # reduce\n  v0 = exp(1)\n",
    "for a2 in 0..777: # free unroll\n  v0 = exp(1)\n",
    "for a2 in 0..777: # reduce unroll=4\n  v0 = exp(1)\n",
    "StridedLoop(a2 = a0; < 2048; += 256): # reduce\n  v0 = exp(1)\n",
    "StridedLoop(a2 = 0; < 2048; += 256): # free unroll=8\n  v0 = exp(1)\n",
    "StridedLoop(a2 = 3; < 2048; += 1): # free unroll\n  v0 = exp(1)\n",
    "in0 = load a[a0, ((a1 * 16) + a2)]\n",
    "in0:f32x16 = load a[a0]\n",
    "in0:i32 = load a[]\n",
    "v0 = multiply(in0, 0.5)\n",
    "v0:f32x16 = add(in0, in1)\n",
    "v0:f16x2 = fma(in0, in1, -2)\n",
    "v0:bf16x4 = exp(in0)\n",
    "v0:boolx8 = copy(in0)\n",
    "acc0 <- add(acc0, v0)\n",
    "acc0:f32x16 <- fma(acc0, in0, in1)\n",
    "c[a0, a1] = acc0\n",
    "c[a0, a1] += acc0\n",
    "c[a0, (a1 * 16)]:x16 = acc0\n",
    "c[a0] = 0.5\n",
    "c[] += -1e-06\n",
    "if (a2 < 777):\n  c[a2] = 1\n",
    "if ((a2 == 3) && ((a1 % 2) < max(a0, -1))):\n  c[(a2 / 4)] = min\n",
    "Tile(axes=(a0:4=BLOCK, a1:32=THREAD, a2:2=REG, a3:16=VECTOR)):\n  c[a0] = 1\n",
    "Tile(axes=()):\n  c[] = 1\n",
    "a_smem = Stage(a, origin=((a1 * 64), (a5 * 16)), slab=(a2:64@0, a6:16@1))\n",
    "Combine(acc0, op=add, over=(a0, a3))\n",
    "Smem a_smem[64, 16] (f32)\n",
    "Smem a_smem[64] (f16)\n",
    "Init(acc0, op=add)\n",
    "Init(acc0:f32x16, op=maximum)\n",
    "Sync\n",
    "TreeHalve(acc0_smem, op=add, length=256, tid=a0)\n",
    "TreeHalve(acc0_smem[a2, (a1 + 1)], op=add, length=256, tid=((a0 * 4) + a1))\n",
    "for a2 in 0..16: # reduce per a7\n  v0 = exp(1)\n",
    "for a2 in 0..16: # reduce unroll=4 per a7\n  v0 = exp(1)\n",
    "StridedLoop(a2 = a0; < 2048; += 256): # free unroll per a7\n  v0 = exp(1)\n",
    "s = Stage(a, origin=(0), slab=(a2:64@0)) panel=32 pad=4 swizzle=128 lanes=4 buffers=2@(a5 % 2) async\n",
    "s = Stage(a, origin=(0), slab=(a2:64@0)) ahead\n",
    "s = Stage(a, origin=(0), slab=(a2:64@0)) swizzle=32 tma\n",
    "s = Stage(a, origin=(0), slab=(a2:64@0)) buffers=2@(a1 % 2) tma when=((a1 + 1) < 8)\n",
    "s = Stage(a, origin=(0), slab=(a2:64@0)) pad=1 buffers=3@0\n",
    "AsyncWait(keep=1)\n",
    "AsyncWait(keep=0, phase=((a5 / 2) % 2), slot=(a5 % 2))\n",
    "AsyncWait(keep=0, phase=0, slot=1)\n",
    "Smem a_smem[2, 64, 16] (f32) align=128\n",
    "Smem a_smem[2] (bool) align=4\n",
    "WarpShuffle(v7 <- acc0, op=add, length=32)\n",
    "WarpShuffle(v7:i32 <- acc0, op=maximum, length=1)\n",
    "QuadTranspose(v7:bf16x8 <- acc0, acc1, v2, v3)\n",
    "Prefetch(a[a0, (a1 * 4)])\n",
    "Prefetch(c[a0], write)\n",
    "Combine(acc0, op=add, over=(a3), to=(a0 % 4))\n",
    "Smem a_smem[16, 16] (bf16) registers\n",
    "LdMatrix(in0 <- a_smem[a0, 0])\n",
    "LdMatrix(in0:bf16x8 <- a_smem[a0, 0], transposed)\n",
    "Pack(in0:bf16x8 <- in1, in2, v0, v1)\n",
    "Mma(acc0, acc1 <- in0, in1, part=2, atom=m16n8k16)\n",
    "CopyPairs(b_smem[0, 0], b[a0, 0], dim=0)\n",
    "CopyTransposed(k_smem[0, 0], k[a0, 0], dim=0, size=16)\n",
    "DotPairs(acc0 <- a[0, (a1 * 2)], b_smem[a1, 0])\n",
    "Wgmma(acc0, acc1 <- a[0, 0] swizzle=64, b[0, 0] transposed swizzle=128 leading=8192, atom=m64n8k16)\n",
    "Wgmma(acc0, acc1 <- in0, b[0, 0, 0] swizzle=128, atom=m64n8k16)\n",
    "WgmmaFence(acc0, acc1)\n",
    "WgmmaFence(acc0 <- in0, in1)\n",
    "WgmmaCommit\n",
    "WgmmaWait(keep=1)\n",
    "WgmmaWait(keep=0, acc0, acc1)\n",
    "ClusterSync\n",
    "ClusterLoad(v7:f32x4 <- part[a2, 0], block=(a1 + 1))\n",
    "ProxyFence\n",
    "MbarrierArrive(mbar[(a5 % 2)])\n",
    "MbarrierArrive(mbar[0], block=a1)\n",
    "TmaLoad(a_smem[0], a_desc[0], mbar[0], multicast)\n",
    "Produce(threads=32):\n  ProxyFence\n",
    "Produce(threads=128, own=24, others=240):\n  Sync\n",
    "Address(v0 <- a)\n",
    "StoreAt(v0:f16 <- v1)\n",
    "CpAsyncCopy(a_smem[a0, 0], a[((a1 * 4) + a0)], lanes=4)\n",
    "CpAsyncCommit\n",
    "CpAsyncWait(keep=1)\n",
    "MbarrierInit mbar[2] (count=1)\n",
    "MbarrierArriveExpectTx(mbar[(a5 % 2)], bytes=8192)\n",
    "MbarrierWait(mbar[(a5 % 2)], phase=((a5 / 2) % 2))\n",
    "TmaDescriptor a_desc(a, box=(64, 16))\n",
    "TmaDescriptor a_desc(a, box=(64)) swizzle=64\n",
    "TmaLoad(a_smem[0, 0, 0], a_desc[(a1 * 64), (a5 * 16)], mbar[(a5 % 2)])\n",
    "v0 = load a[((a1 ^ (a0 % 4)) * 4)]\n",
};

TEST(Text, EveryStatementFormPrintsAsItReads) {
  for (const char* body : statements) expect_same_text(body);
}

TEST(Text, HeadersAndBuffers) {
  for (const char* level : {"loop", "tile", "kernel"})
    expect_same_text(
        "input a: f32[33, 777]\ninput b: f32[777, 509] strides=(1, 777)\ninput s: i32[]\n"
        "input input: bf16[4]\noutput c: bool[33, 1]\nv0 = copy(1)\n",
        level);
  EXPECT_EQ(parse("=== loop: x ===\n").name, "x");
  const Program p = parse("=== loop: x ===\noutput input: f32[4]\ninput[0] = 1\n");  // a buffer may be called input
  EXPECT_EQ(p.buffers.size(), 1U);
  EXPECT_NE(p.body.at(0).as<Write>(), nullptr);
  EXPECT_EQ(p.find("input"), p.buffers.data());
  EXPECT_EQ(p.find("inpu"), nullptr);
}

TEST(Text, EmptyBodiesAndDeepNestingRoundTrip) {
  Program p{Level::loop, "x", {}, {Loop{}}};
  p.body[0].as<Loop>()->axis.name = "a0";
  p.body.push_back(If{var("a0"), {}});
  EXPECT_EQ(parse(print(p)), p);
}

TEST(Text, ConstantsAreTheShortestThatReadBack) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const auto& [value, text] : std::vector<std::pair<double, std::string>>{{0.044, "0.044"},
                                                                               {2048, "2048"},
                                                                               {1e-6, "1e-06"},
                                                                               {-0.5, "-0.5"},
                                                                               {inf, "inf"},
                                                                               {-inf, "-inf"},
                                                                               {0.1 + 0.2, "0.30000000000000004"},
                                                                               {5e-324, "5e-324"}}) {
    const Program p{Level::loop, "x", {}, {Assign{"v0", {}, Op::copy, {value}}}};
    EXPECT_EQ(print(p.body), "v0 = copy(" + text + ")\n");
    EXPECT_EQ(parse(print(p)), p);
  }
}

TEST(Text, IndentationCommentsAndLineEnds) {
  const Program p = parse(
      "# c = 1\r\n\r\n=== loop: x ===  # a comment\r\n"
      "output c: f32[4]\n   # odd comment\n\nfor a0 in 0..4: # free # of dependence\n\n  c[a0] = 1  # one");
  EXPECT_EQ(print(p), "=== loop: x ===\noutput c: f32[4]\nfor a0 in 0..4: # free\n  c[a0] = 1\n");
  EXPECT_EQ(print(p.body, 2), "    for a0 in 0..4: # free\n      c[a0] = 1\n");
}

TEST(Text, Precedence) {
  const Program p = parse("=== loop: x ===\nif a0 + 2 * a1 - -3 < 5 && a2 / 4 % 3 == min(a0, a1 + 1):\n  Sync\n");
  EXPECT_EQ(print(p.body), "if ((((a0 + (2 * a1)) - -3) < 5) && (((a2 / 4) % 3) == min(a0, (a1 + 1)))):\n  Sync\n");
  const Program bits = parse("=== loop: x ===\nif a0 ^ a1 * 2 < 3 ^ 1 && a2:\n  Sync\n");
  EXPECT_EQ(print(bits.body), "if (((a0 ^ ((a1 * 2) < 3)) ^ 1) && a2):\n  Sync\n");
  const Program edge = parse("=== loop: x ===\nv = load a[-9223372036854775808, 9223372036854775807]\n");
  EXPECT_EQ(parse(print(edge)), edge);
}

constexpr std::string_view symbols_text =
    "=== loop: x ===\nsymbols M, N\ninput a: f32[M, 4] strides=(N, 1)\nfor a0 in 0..M: # free\n"
    "  in0 = load a[a0, N - 4]\n  v0 = divide(in0, M)\n  v1 = add(v0, -N)\n";

TEST(Text, SymbolsAreBound) {
  EXPECT_THAT(declared_symbols(symbols_text), ::testing::ElementsAre("M", "N"));
  EXPECT_THAT(declared_symbols("=== loop: x ===\n"), ::testing::IsEmpty());
  EXPECT_EQ(print(parse(symbols_text, {{"M", 3}, {"N", 5}})),
            "=== loop: x ===\ninput a: f32[3, 4] strides=(5, 1)\nfor a0 in 0..3: # free\n"
            "  in0 = load a[a0, (5 - 4)]\n  v0 = divide(in0, 3)\n  v1 = add(v0, -5)\n");
}

TEST(Text, WhatAProgramAllows) {
  const Program p = parse("=== loop: x ===\nallow tf32\nsymbols M\noutput y: f32[M]\nallow = copy(1)\n", {{"M", 3}});
  EXPECT_TRUE(p.allow_tf32);
  EXPECT_EQ(print(p).substr(0, 27), "=== loop: x ===\nallow tf32\n");
  EXPECT_EQ(parse(print(p)), p);
  EXPECT_FALSE(parse("=== loop: x ===\nallow = copy(1)\n").allow_tf32) << "a value may be called so";
  EXPECT_EQ(message("=== loop: x ===\nallow bf16\n"), "t:2:7: expected `tf32`, found `bf16`");
}

TEST(Text, SymbolsThatDoNotFit) {
  EXPECT_EQ(message(symbols_text), "t:2:1: expected values for the symbols M, N, found none");
  EXPECT_EQ(message(symbols_text, {{"N", 1}}), "t:2:1: expected values for the symbols M, N, found N");
  EXPECT_EQ(message(symbols_text, {{"M", 1}, {"N", 4}, {"Q", 2}}),
            "t:2:1: expected values for the symbols M, N, found M, N, Q");
  EXPECT_EQ(message(symbols_text, {{"M", 1}, {"Q", 2}}), "t:2:1: expected values for the symbols M, N, found M, Q");
  EXPECT_EQ(message("=== loop: x ===\n", {{"M", 1}}), "t:2:1: expected values for the symbols none, found M");
  EXPECT_EQ(message(symbols_text, {{"M", 0}, {"N", 1}}),
            "t:3:14: expected an extent from 1 to 1099511627776, found `M`");
  EXPECT_EQ(message("=== loop: x ===\nsymbols M, M\n"),
            "t:2:13: expected `M` to be declared once, found the end of the line");
  EXPECT_EQ(message("=== loop: x ===\nsymbols M\nM = exp(1)\n", {{"M", 1}}),
            "t:3:1: expected a statement (not a symbol), found `M`");
}

TEST(Text, HeadersThatDoNotRead) {
  EXPECT_EQ(message(""), "t:1:1: expected a header `=== loop: name ===` (or tile, kernel), found the end of the text");
  EXPECT_THAT(message("=== loop: " + std::string(201, 'k') + " ==="),
              ::testing::StartsWith("t:1:11: expected a name of at most 200 bytes"));
  EXPECT_EQ(message("# x\n for"), "t:2:2: expected a header `=== loop: name ===` (or tile, kernel), found `for`");
  EXPECT_EQ(message("=== lop: x ==="), "t:1:5: expected loop, tile or kernel, found `lop`");
  EXPECT_EQ(message("=== loop: x =="), "t:1:15: expected `===`, found the end of the line");
  EXPECT_EQ(message("=== loop: 0 ==="), "t:1:11: expected a name, found `0`");
  EXPECT_EQ(message("=== loop: x === y"), "t:1:17: expected the end of the line, found `y`");
  EXPECT_EQ(message("=== loop: x ===\ninput a f32"), "t:2:9: expected `:`, found `f32`");
  EXPECT_EQ(message("=== loop: x ===\ninput a: f31[3]"),
            "t:2:10: expected a type (f32, f16, bf16, i32, i64 or bool), found `f31`");
  EXPECT_EQ(message("=== loop: x ===\ninput a: f32[0]"),
            "t:2:14: expected an extent from 1 to 1099511627776, found `0`");
  EXPECT_EQ(message("=== loop: x ===\ninput a: f32[1099511627776, 2]"),
            "t:2:29: expected an extent from 1 to 1, found `2`");
  EXPECT_EQ(message("=== loop: x ===\ninput a: f32[4, 2] strides=(1)"),
            "t:2:31: expected 2 strides before this, found the end of the line");
  EXPECT_EQ(message("=== loop: x ===\ninput a: f32[4] strides=(1, 2)"), "t:2:29: expected 1 strides, found `2`");
  EXPECT_EQ(message("=== loop: x ===\ninput a: f32[4, 2] strides=(1099511627776, 2)"),
            "t:2:29: expected a stride from 0 to 366503875925, found `1099511627776`");
  EXPECT_EQ(message("=== loop: x ===\ninput a: f32[4"), "t:2:15: expected `,` or `]`, found the end of the line");
  EXPECT_EQ(message("=== loop: x ===\ninput for: f32[4]"),
            "t:2:7: expected a buffer (not a word of the text form), found `for`");
}

TEST(Text, IndentationThatDoesNotRead) {
  EXPECT_EQ(message("=== loop: x ===\n\tv = exp(1)"), "t:2:1: expected two spaces per level, found a tab");
  EXPECT_EQ(message("=== loop: x ===\nv =\texp(1)"), "t:2:4: expected spaces between words, found a tab");
  EXPECT_EQ(message("=== loop: x ===\n  v = exp(1)"), "t:2:3: expected at most 0 spaces before this line, found `v`");
  EXPECT_EQ(message("=== loop: x ===\nif 1:\n v = exp(1)"), "t:3:2: expected two spaces per level, found `v`");
  EXPECT_EQ(message("=== loop: x ===\nif 1:\n    v = exp(1)"),
            "t:3:5: expected at most 2 spaces before this line, found `v`");
}

const std::vector<std::pair<std::string, std::string>> unreadable_lines = {
    {"5 = exp(1)", "t:2:1: expected a statement, found `5`"},
    {"load = exp(1)", "t:2:1: expected a statement (not a word of the text form), found `load`"},
    {"for a0 in 1..3: # free", "t:2:11: expected 0, found `1`"},
    {"for a0 in 0..99999999999999999999: # free",
     "t:2:14: expected an extent from 1 to 1099511627776, found `99999999999999999999`"},
    {"for a0 in 0..-3: # free", "t:2:14: expected an extent from 1 to 1099511627776, found `-`"},
    {"for a0 in 0..M: # free", "t:2:14: expected an extent, found `M`"},
    {"for a0 in 0..3.5: # free", "t:2:14: expected an extent, found `3.5`"},
    {"for a0 in 0..3:", "t:2:16: expected `# free`, `# reduce` or `# scan`, found the end of the line"},
    {"for a0 in 0..3: # fre", "t:2:19: expected `free`, `reduce` or `scan`, found `fre`"},
    {"for a0 in 0..3: # free unrol", "t:2:24: expected the end of the line, found `unrol`"},
    {"for a0 in 0..3: # free unroll=1", "t:2:31: expected a number of copies from 2 to 65536, found `1`"},
    {"StridedLoop(a0 = 0; < 3; += 0): # free", "t:2:29: expected a step from 1 to 1099511627776, found `0`"},
    {"if a0 <: ", "t:2:8: expected an axis or an integer, found `:`"},
    {"if (a0 < 3: ", "t:2:11: expected `)`, found `:`"},
    {"if (a0 < 3)", "t:2:12: expected `:`, found the end of the line"},
    {"v = load", "t:2:9: expected a buffer, found the end of the line"},
    {"v = load a[a0 / 0]", "t:2:17: expected a positive constant to divide by, found `0`"},
    {"v = load a[a0 % a1]", "t:2:17: expected a positive constant to divide by, found `a1`"},
    {"v = load a[9223372036854775808]",
     "t:2:12: expected an axis or an integer from -9223372036854775808 to 9223372036854775807, found "
     "`9223372036854775808`"},
    {"v = load a[for]", "t:2:12: expected an axis or an integer, found `for`"},
    {"v = load a[a0]]", "t:2:15: expected the end of the line, found `]`"},
    {"v = ex(1)", "t:2:5: expected an operation, found `ex`"},
    {"v = add(1)", "t:2:10: expected `,` and another argument of add, found `)`"},
    {"v = exp()", "t:2:9: expected a value or a number, found `)`"},
    {"v = exp(1, 2)", "t:2:10: expected `)` after 1 argument of exp, found `,`"},
    {"v = exp(nan)", "t:2:9: expected a value or a number, found `nan`"},
    {"v = exp(1e999)", "t:2:9: expected a number that a double holds, found `1e999`"},
    {"v = exp(-x)", "t:2:10: expected a number, found `x`"},
    {"v:f32x3 = exp(1)", "t:2:3: expected lanes x2, x4, x8 or x16, found `f32x3`"},
    {"v:f64 = exp(1)", "t:2:3: expected a type (f32, f16, bf16, i32, i64 or bool), found `f64`"},
    {"acc0 <- add(acc1, v0)", "t:2:13: expected `acc0`, found `acc1`"},
    {"acc0 < add(acc0, v0)", "t:2:8: expected `-`, found `add`"},
    {"c[a0]:x5 = v", "t:2:7: expected lanes x2, x4, x8 or x16, found `x5`"},
    {"c[a0] - v", "t:2:7: expected `=`, found `-`"},
    {"c v", "t:2:3: expected `[`, `,`, `:`, `=` or `<-`, found `v`"},
    {"Tile(axes=(a0:4=LANE)):", "t:2:17: expected BLOCK, CLUSTER, THREAD, REG or VECTOR, found `LANE`"},
    {"Tile(axes=(a0:1099511627776=BLOCK, a1:2=BLOCK)):", "t:2:39: expected an extent from 1 to 1, found `2`"},
    {"a_smem = Stage(a, origin=(0), slab=(a2:64@))", "t:2:43: expected a dimension, found `)`"},
    {"Combine(acc0, op=add, over=(a0", "t:2:31: expected `,` or `)`, found the end of the line"},
    {"Smem a[4] (double)", "t:2:12: expected a type (f32, f16, bf16, i32, i64 or bool), found `double`"},
    {"s = Stage(a, origin=(0), slab=(a2:64@0)) pad=0", "t:2:46: expected a number from 1 to 65536, found `0`"},
    {"s = Stage(a, origin=(0), slab=(a2:64@0)) buffers=2", "t:2:51: expected `@`, found the end of the line"},
    {"s = Stage(a, origin=(0), slab=(a2:64@0)) later", "t:2:42: expected the end of the line, found `later`"},
    {"s = Stage(a, origin=(0), slab=(a2:64@0)) pad=1 panel=8", "t:2:48: expected the end of the line, found `panel`"},
    {"AsyncWait(keep=0, slot=1)", "t:2:19: expected `phase`, found `slot`"},
    {"AsyncWait(keep=-1)", "t:2:16: expected a number from 0 to 64, found `-`"},
    {"WarpShuffle(v7, op=add, length=32)", "t:2:15: expected `<`, found `,`"},
    {"WarpShuffle(v7 <- 1, op=add, length=32)", "t:2:19: expected a value, found `1`"},
    {"CpAsyncCopy(a_smem, a[0], lanes=4)", "t:2:19: expected `[`, found `,`"},
    {"CpAsyncCommit()", "t:2:14: expected the end of the line, found `(`"},
    {"MbarrierInit mbar[0] (count=1)", "t:2:19: expected a number of barriers from 1 to 64, found `0`"},
    {"MbarrierWait(mbar, phase=0)", "t:2:18: expected `[`, found `,`"},
    {"TmaDescriptor a_desc(a, box=(0))", "t:2:30: expected an extent from 1 to 1099511627776, found `0`"},
    {"TmaLoad(s[0], d[0])", "t:2:19: expected `,`, found `)`"},
    {"for a0 in 0..3: # free per 3", "t:2:28: expected an axis, found `3`"},
    {"Sync 1", "t:2:6: expected the end of the line, found `1`"},
    {"v = exp(\xc3\xa9)", "t:2:9: expected a value or a number, found the byte 0xc3"},
    {std::string("v = \0", 5), "t:2:5: expected an operation, found the byte 0x00"},
    {std::string(60, 'x') + "!", "t:2:61: expected `[`, `,`, `:`, `=` or `<-`, found `!`"},
};

TEST(Text, StatementsThatDoNotRead) {
  for (const auto& [line, expected] : unreadable_lines) EXPECT_EQ(line_message(line), expected) << line;
}

TEST(Text, NestingAndLengthAreLimited) {
  const std::string deep = std::string(100000, '(') + "1" + std::string(100000, ')');
  EXPECT_THAT(line_message("v = load a[" + deep + "]"), ::testing::HasSubstr("at most 256 terms and parentheses"));
  std::string chain = "a0";
  for (int i = 0; i < 100000; ++i) chain += "+a0";
  EXPECT_THAT(line_message("v = load a[" + chain + "]"), ::testing::HasSubstr("at most 256 terms and parentheses"));
  std::string nested = "=== loop: x ===\n";
  for (std::size_t i = 0; i < 5000; ++i) nested += std::string(2 * i, ' ') + "if 1:\n";
  EXPECT_THAT(message(nested), ::testing::HasSubstr("t:66:134: expected at most 64 levels"));
  EXPECT_THAT(line_message("Smem " + std::string(100000, 'x') + " 1"), ::testing::HasSubstr("expected `[`"));
}

}  // namespace
}  // namespace deplo::ir
