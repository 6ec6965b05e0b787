// Pack, and operands of matrix instructions in registers: text, well-formedness, how elements are rounded, and when a
// fragment may change.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/target.h"
#include "ir/emit/emit.h"
#include "ir/interpret/interpret.h"
#include "ir/program.h"
#include "ir/types/float16.h"

namespace deplo::ir {
namespace {

using ::testing::HasSubstr;

// Returns a kernel in which each thread of a warp packs four f32 of its own.
Program packing(std::string_view type) {
  return parse(
      fmt::format("=== kernel: k ===\ninput x: f32[32, 4]\noutput y: {0}[32, 4]\n"
                  "Tile(axes=(a0:1=BLOCK, a1:32=THREAD)):\n"
                  "  in0 = load x[a1, 0]\n  in1:f32x2 = load x[a1, 1]\n  in2 = load x[a1, 3]\n"
                  "  Pack(v0:{0}x4 <- in0, in1, in2)\n  y[a1, 0]:x4 = v0\n",
                  type));
}

TEST(Pack, IsReadAsItIsPrinted) {
  for (const char* type : {"f16", "bf16", "f32"}) {
    const Program kernel = packing(type);
    EXPECT_EQ(parse(print(kernel)), kernel);
    EXPECT_EQ(verify(kernel), "");
  }
}

// Rounds to the nearest, ties to even. NaN stays NaN, values that are too large become infinite, small ones subnormal.
TEST(Pack, RoundsToTheTypeOfTheFragment) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {
      NAN,   inf,   -inf,    -0.0,    1 + 0x1p-8,  1 + 3 * 0x1p-8, 1 + 0x1p-11, 1 + 3 * 0x1p-11,
      65519, 65520, 0x1p-24, 0x1p-25, 3 * 0x1p-26, 0x1p-133,       0x1p-134,    0x1.fffffep127};
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    const Program kernel = packing(name(dtype));
    Memory memory = {{"x", std::vector<double>(128)}, {"y", std::vector<double>(128)}};
    for (std::size_t i = 0; i < 128; ++i) memory["x"][i] = values[i % values.size()];
    interpret(kernel, memory);
    for (std::size_t i = 0; i < 128; ++i) {
      const double expected = rounded(memory["x"][i], dtype), found = memory["y"][i];
      EXPECT_TRUE(std::isnan(expected) ? std::isnan(found) : found == expected)
          << name(dtype) << " of " << memory["x"][i] << ": expected " << expected << ", found " << found;
      EXPECT_EQ(std::signbit(found), std::signbit(expected));
    }
  }
}

TEST(Pack, IsOneConversionForTwoElements) {
  EXPECT_THAT(emit(packing("bf16"), load_target("sm_80")).text,
              HasSubstr("const uint2 v0 = make_uint2(bf16_pair(in0, in1_0), bf16_pair(in1_1, in2));"));
  EXPECT_THAT(emit(packing("f16"), load_target("sm_80")).text, HasSubstr("f16_pair(in0, in1_0)"));
  const auto of_bits = [](const std::string& loads, const std::string& values) {
    return emit(parse("=== kernel: k ===\ninput x: bf16[32, 4]\noutput y: bf16[32, 4]\n"
                      "Tile(axes=(a0:1=BLOCK, a1:32=THREAD)):\n" +
                      loads + "  Pack(v0:bf16x4 <- " + values + ")\n  y[a1, 0]:x4 = v0\n"),
                load_target("sm_80"))
        .text;
  };
  EXPECT_THAT(of_bits("  in0:bf16x2 = load x[a1, 0]\n  in1:bf16x2 = load x[a1, 2]\n", "in0, in1"),
              HasSubstr("make_uint2(in0, in1)"));
  EXPECT_THAT(
      of_bits("  in0:bf16 = load x[a1, 0]\n  in1 = load x[a1, 1]\n  in2:bf16x2 = load x[a1, 2]\n", "in0, in1, in2"),
      HasSubstr("make_uint2((unsigned)in0 | (unsigned)bf16_bits(in1) << 16, in2)"));
}

TEST(Pack, HasWholeRegisters) {
  const auto verified = [](const std::string& pack) {
    return verify(
        parse("=== kernel: k ===\ninput x: f32[32, 4]\ninput h: bf16[32, 4]\ninput i: i32[32]\n"
              "output y: f32[32]\nTile(axes=(a0:1=BLOCK, a1:32=THREAD)):\n"
              "  in0 = load x[a1, 0]\n  in1:f32x2 = load x[a1, 0]\n  in2:bf16x2 = load h[a1, 0]\n"
              "  in3:i32 = load i[a1]\n  in4:bf16 = load h[a1, 0]\n" +
              pack + "  y[a1] = in0\n"));
  };
  EXPECT_EQ(verified("  Pack(v0:bf16x8 <- in2, in1, in4, in0, in2)\n"), "");
  EXPECT_EQ(verified("  Pack(v0:f32x4 <- in1, in0, in0)\n"), "");
  EXPECT_THAT(verified("  Pack(v0:bf16x4 <- in1, in0)\n"), HasSubstr("the values have 3 lanes, the fragment 4"));
  EXPECT_THAT(verified("  Pack(v0:bf16 <- in0)\n"), HasSubstr("1, 2 or 4 registers"));
  EXPECT_THAT(verified("  Pack(v0:f32x8 <- in1, in1, in1, in1)\n"), HasSubstr("1, 2 or 4 registers"));
  EXPECT_THAT(verified("  Pack(v0:i32x2 <- in1)\n"), HasSubstr("holds f16, bf16 or f32"));
  EXPECT_THAT(verified("  Pack(v0:bf16x2 <- in0, in3)\n"), HasSubstr("`in3` is i32, expected f32 or bf16"));
  EXPECT_THAT(verified("  Pack(v0:f16x2 <- in2)\n"), HasSubstr("`in2` is bf16, expected f32 or f16"));
  EXPECT_THAT(verified("  Pack(v0:bf16x4 <- in0, in2, in0)\n"), HasSubstr("would span two registers"));
}

// Returns a product of a warpgroup: its rows come from registers, its columns from TMA. It runs `trips` times, and each
// trip ends with `wait`.
std::string product(const std::string& fence, const std::string& wait, int trips = 1) {
  return fmt::format(
      "=== kernel: k ===\ninput x: bf16[64, 16]\ninput w: bf16[8, 16]\noutput y: f32[64, 8]\n"
      "TmaDescriptor w_desc(w, box=(8, 16)) swizzle=32\n"
      "Tile(axes=(a0:1=BLOCK, a1:4=THREAD, a2:8=THREAD, a3:4=THREAD)):\n"
      "  Smem b[8, 16] (bf16) align=256\n  MbarrierInit full[1] (count=1)\n  Sync\n"
      "  if ((((a1 * 32) + (a2 * 4)) + a3) == 0):\n"
      "    MbarrierArriveExpectTx(full[0], bytes=256)\n    TmaLoad(b[0, 0], w_desc[0, 0], full[0])\n"
      "  MbarrierWait(full[0], phase=0)\n"
      "  Init(acc0:f32x2, op=add)\n  Init(acc1:f32x2, op=add)\n"
      "  for a4 in 0..{2}: # free\n"
      "    in0:bf16x2 = load x[((a1 * 16) + a2), (a3 * 2)]\n"
      "    in1:bf16x2 = load x[(((a1 * 16) + a2) + 8), (a3 * 2)]\n"
      "    in2:bf16x2 = load x[((a1 * 16) + a2), ((a3 * 2) + 8)]\n"
      "    in3:bf16x2 = load x[(((a1 * 16) + a2) + 8), ((a3 * 2) + 8)]\n"
      "    Pack(v0:bf16x8 <- in0, in1, in2, in3)\n"
      "{0}"
      "    Wgmma(acc0, acc1 <- v0, b[0, 0] swizzle=32, atom=m64n8k16)\n"
      "    WgmmaCommit\n"
      "{1}"
      "  WgmmaWait(keep=0, acc0, acc1)\n"
      "  y[((a1 * 16) + a2), (a3 * 2)]:x2 = acc0\n  y[(((a1 * 16) + a2) + 8), (a3 * 2)]:x2 = acc1\n",
      fence, wait, trips);
}

const std::string fenced = "    WgmmaFence(acc0, acc1 <- v0)\n", waited = "    WgmmaWait(keep=0)\n";

Memory some_memory() {
  Memory memory = {
      {"x", std::vector<double>(64 * 16)}, {"w", std::vector<double>(8 * 16)}, {"y", std::vector<double>(64 * 8)}};
  for (std::size_t i = 0; i < memory["x"].size(); ++i) memory["x"][i] = static_cast<double>(i * 7 % 31) - 15;
  for (std::size_t i = 0; i < memory["w"].size(); ++i) memory["w"][i] = static_cast<double>(i * 5 % 29) - 14;
  return memory;
}

TEST(Fragments, AreOperandAOfAWarpgroup) {
  const Program kernel = parse(product(fenced, waited, 3));
  ASSERT_EQ(verify(kernel), "");
  EXPECT_EQ(parse(print(kernel)), kernel);
  Memory memory = some_memory();
  interpret(kernel, memory);
  for (std::size_t row = 0; row < 64; ++row)
    for (std::size_t column = 0; column < 8; ++column) {
      double sum = 0;
      for (std::size_t k = 0; k < 16; ++k) sum += 3 * memory["x"][row * 16 + k] * memory["w"][column * 16 + k];
      EXPECT_EQ(memory["y"][row * 8 + column], sum) << row << ", " << column;
    }
}

// In PTX, operand a is four registers, so there is no operand that gives its layout.
TEST(Fragments, AreRegistersInTheSource) {
  const KernelSource source = emit(parse(product(fenced, waited)), load_target("sm_90"));
  EXPECT_TRUE(source.architecture_specific);
  EXPECT_THAT(source.text, HasSubstr("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, "
                                     "{%4, %5, %6, %7}, %8, 1, 1, 1, 0;"));
  EXPECT_THAT(source.text, HasSubstr("\"r\"(v0.x), \"r\"(v0.y), \"r\"(v0.z), \"r\"(v0.w), \"l\"(wgmma_matrix("));
  EXPECT_THAT(source.text,
              HasSubstr("\"+f\"(acc1_1) : \"r\"(v0.x), \"r\"(v0.y), \"r\"(v0.z), \"r\"(v0.w) : \"memory\");"));
}

std::string refused(const std::string& text) {
  const Program kernel = parse(text);
  EXPECT_EQ(verify(kernel), "");
  Memory memory = some_memory();
  try {
    interpret(kernel, memory);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Fragments, StayAsTheyAreUntilTheWait) {
  EXPECT_EQ(refused(product(fenced, waited, 2)), "");
  EXPECT_THAT(refused(product("    WgmmaFence(acc0, acc1)\n", waited)),
              HasSubstr("race: a fragment was written with no WgmmaFence between"));
  EXPECT_EQ(refused(product(fenced, "    WgmmaWait(keep=1)\n")), "");
  EXPECT_THAT(refused(product(fenced, "    WgmmaWait(keep=1)\n", 2)),
              HasSubstr("race: registers are overwritten while a Wgmma reads them"));
}

TEST(Fragments, HaveTheShapeOfOperandA) {
  const auto verified = [](std::string from, const std::string& to) {
    std::string text = product(fenced, waited);
    text.replace(text.find(from), from.size(), to);
    return verify(parse(text));
  };
  EXPECT_THAT(verified("Wgmma(acc0, acc1 <- v0", "Wgmma(acc0, acc1 <- in0"),
              HasSubstr("`in0` is not a fragment of 8 16-bit elements"));
  EXPECT_THAT(verified("acc1 <- v0)", "acc1 <- in0)"), HasSubstr("`in0` is not a fragment of 8 16-bit elements"));
  EXPECT_THAT(
      verified("in0:bf16x2 = load x[((a1 * 16) + a2), (a3 * 2)]", "in0:f32x2 = load x[((a1 * 16) + a2), (a3 * 2)]"),
      "");
  EXPECT_THAT(verified("Wgmma(acc0, acc1 <- v0", "Wgmma(acc0, acc1 <- v1"), HasSubstr("v1"));
}

}  // namespace
}  // namespace deplo::ir
