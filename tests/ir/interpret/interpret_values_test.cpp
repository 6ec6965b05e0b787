// Values of other dtypes, index values and gathers, compared with values computed by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <span>

#include "core/error.h"
#include "ir/interpret/arithmetic/arithmetic.h"
#include "ir/interpret/interpret.h"
#include "ir/interpret/interpret_case.h"
#include "ir/interpret/lazy_inputs.h"

namespace deplo::ir {
namespace {

Memory run_on(const std::string& text, Memory memory) {
  const Program program = parse(text);
  EXPECT_EQ(verify(program), "");
  interpret(program, memory);
  return memory;
}

TEST(InterpretValues, AGatherReadsWhatIsNamed) {
  const char* text =
      "=== loop: g ===\ninput i: i32[4]\ninput x: f32[3, 2]\noutput y: f32[4, 2]\n"
      "for a0 in 0..4: # free\n"
      "  in0:i32 = load i[a0]\n"
      "  for a1 in 0..2: # free\n"
      "    in1 = load x[min(max((in0 + a1), 0), 2), (1 - a1)]\n"
      "    y[a0, a1] = in1\n";
  Memory memory = {{"i", {2, -5, 0, 9}}, {"x", {10, 11, 20, 21, 30, 31}}, {"y", Values(8, NAN)}};
  EXPECT_EQ(run_on(text, memory).at("y"), (Values{31, 30, 11, 10, 11, 20, 31, 30}));
  const std::vector<float> i = {2, -5, 0, 9}, x = {10, 11, 20, 21, 30, 31};
  const auto points = evaluate_at(parse(text), {{"i", i}, {"x", x}}, {{"a0", 2}, {"a1", 1}});
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].offset, 5);
  EXPECT_EQ(points[0].value, 20);
}

// Such as the maximum of a row, which one kernel stores and another one finds in the row that it computes again.
TEST(InterpretValues, ANumberIsEqualToItselfAsItWasStored) {
  const std::string text =
      "=== loop: k ===\ninput x: f32[3]\ninput m: f32[3]\noutput y: f32[3]\noutput z: f32[3]\nfor a0 in 0..3: # free\n"
      "  in0 = load x[a0]\n  v0 = divide(in0, 3)\n  in1 = load m[a0]\n  v1:bool = equal(v0, in1)\n"
      "  v2:bool = not_equal(v0, in1)\n  v3 = select(v1, 1, 0)\n  v4 = select(v2, 1, 0)\n  y[a0] = v3\n  z[a0] = v4\n";
  const Values x = {1, NAN, INFINITY}, none(3, NAN);
  const Values m = {static_cast<double>(1.0F / 3), NAN, INFINITY};
  const Memory memory = run_on(text, {{"x", x}, {"m", m}, {"y", none}, {"z", none}});
  EXPECT_EQ(memory.at("y"), (Values{1, 0, 1}));
  EXPECT_EQ(memory.at("z"), (Values{0, 1, 0}));
}

TEST(InterpretValues, AStoreToANarrowIntegerKeepsTheLowBits) {
  const std::string text =
      "=== loop: k ===\ninput n: i32[3]\noutput b: i8[3]\noutput u: u8[3]\noutput h: i16[3]\nfor a0 in 0..3: # free\n"
      "  in0:i32 = load n[a0]\n  b[a0] = in0\n  u[a0] = in0\n  h[a0] = in0\n";
  const Values n = {200, -1, 40000}, none(3, NAN);
  const Memory memory = run_on(text, {{"n", n}, {"b", none}, {"u", none}, {"h", none}});
  EXPECT_EQ(memory.at("b"), (Values{-56, -1, 64}));
  EXPECT_EQ(memory.at("u"), (Values{200, 255, 64}));
  EXPECT_EQ(memory.at("h"), (Values{200, -1, -25536}));
  const std::vector<float> floats(n.begin(), n.end());
  for (const Point& point : evaluate_at(parse(text), {{"n", floats}}, {{"a0", 2}}))
    EXPECT_EQ(point.value, memory.at(point.buffer).at(2)) << point.buffer;
}

TEST(InterpretValues, LazyInputsAreComputedWhereTheyAreRead) {
  const Program program = parse(
      "=== loop: rows ===\ninput x: f32[40, 100]\ninput z: f32[100]\noutput y: f32[3, 100]\n"
      "for a0 in 0..3: # free\n"
      "  for a1 in 0..100: # free\n"
      "    in0 = load x[(13 * a0), a1]\n"
      "    in1 = load z[(99 - a1)]\n"
      "    v0 = add(in0, in1)\n"
      "    y[a0, a1] = v0\n");
  EXPECT_EQ(verify(program), "");
  Values x(4000), z(100);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * i % 1009);
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = static_cast<double>(i) / 4;
  Memory memory = {{"x", x}, {"z", z}, {"y", Values(300, NAN)}}, lazy = {{"y", Values(300, NAN)}};
  interpret(program, memory);
  std::size_t computed = 0;
  LazyInputs inputs;
  inputs.try_emplace("x", x.size(), [&](std::size_t first, std::span<double> elements) {
    computed += elements.size();
    copy_of(x)(first, elements);
  });
  inputs.try_emplace("z", z.size(), copy_of(z));
  interpret(program, inputs, lazy, reals());
  EXPECT_EQ(lazy.at("y"), memory.at("y"));
  EXPECT_GE(computed, 300U);
  EXPECT_LE(computed, 300U + 3 * 128);
  inputs.erase("x");
  inputs.try_emplace("x", x.size() - 1, copy_of(x));
  EXPECT_THROW(interpret(program, inputs, lazy, reals()), Error);
}

TEST(InterpretValues, SixteenBitsAreRoundedWhereTheyAreStored) {
  const char* text =
      "=== loop: r ===\ninput x: bf16[3]\noutput y: f16[3]\noutput z: f32[3]\n"
      "for a0 in 0..3: # free\n"
      "  in0 = load x[a0]\n"
      "  v0 = multiply(in0, 1.0009765625)\n"
      "  y[a0] = v0\n"
      "  v1 = round_bf16(v0)\n"
      "  z[a0] = v1\n";
  const double x = 1.0009765625;  // 1 + 2^-10, which f16 can represent and bf16 rounds to 1
  Memory memory = {{"x", {x, 1.5, 100'000}}, {"y", Values(3, NAN)}, {"z", Values(3, NAN)}};
  const Memory rounded = run_on(text, memory);
  EXPECT_EQ(rounded.at("x"), (Values{1, 1.5, 99'840}));
  EXPECT_EQ(rounded.at("y"), (Values{x, 1.501953125, INFINITY}));  // 1.50146484375 is a tie; 1.501953125 is even
  EXPECT_EQ(rounded.at("z"), (Values{1, 1.5, 99'840}));
  interpret(parse(text), memory, {}, Outputs::exact);
  EXPECT_EQ(memory.at("y"), (Values{x, 1.50146484375, 99'840 * x}));
}

TEST(InterpretValues, Tf32HasElevenBits) {
  const Memory memory = run_on(
      "=== loop: r ===\ninput x: f32[2]\noutput y: f32[2]\nfor a0 in 0..2: # free\n"
      "  in0 = load x[a0]\n  v0 = round_tf32(in0)\n  y[a0] = v0\n",
      {{"x", {1 + 0x1p-11, -0x1.ffcp0}}, {"y", Values(2, NAN)}});
  EXPECT_EQ(memory.at("y"), (Values{1 + 0x1p-10, -0x1.ffcp0}));
}

// A load has one lane for each matrix of a fragment (ir/hardware/mma.h). The matrices lie apart.
TEST(InterpretValues, LanesOfALoadMayLieApart) {
  const std::string text =
      "=== kernel: k ===\noutput y: f32[16]\nTile(axes=(a0:1=BLOCK, a1:4=THREAD)):\n  Smem s[4, 4] (f32)\n"
      "  for a2 in 0..4: # free\n    v0 = index ((a2 * 10) + a1)\n    s[a2, a1] = v0\n  Sync\n"
      "  in0:f32x4 = load s[(3 - lane), ((a1 + lane) % 4)]\n  y[(a1 * 4)]:x4 = in0\n";
  EXPECT_EQ(verify(parse(text)), "");
  EXPECT_EQ(parse(print(parse(text))), parse(text));
  const Memory memory = run_on(text, {{"y", Values(16, NAN)}});
  EXPECT_EQ(memory.at("y"), (Values{30, 21, 12, 3, 31, 22, 13, 0, 32, 23, 10, 1, 33, 20, 11, 2}));
  const auto with = [&](const std::string& load) {
    std::string other = text;
    return verify(parse(other.replace(other.find("  in0"), other.find("  y[") - other.find("  in0"), load)));
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(with("  in0:f32x4 = load s[(4 - lane), a1]\n"), HasSubstr("not proven in 0..3"));
  EXPECT_THAT(with("  in0:f32x4 = load y[((a1 * 4) + (lane * 5))]\n"), HasSubstr("not proven in 0..15"));
}

TEST(InterpretValues, LanesOfGlobalMemoryMayLieApart) {
  const std::string text =
      "=== kernel: k ===\ninput x: f32[4, 4]\noutput y: f32[4, 4]\nTile(axes=(a0:1=BLOCK, a1:4=THREAD)):\n"
      "  in0:f32x4 = load x[(3 - lane), a1]\n  y[((a1 + lane) % 4), lane]:x4 = in0\n";
  EXPECT_EQ(verify(parse(text)), "");
  EXPECT_EQ(print(parse(text)), text);
  Values x(16);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  const Memory memory = run_on(text, {{"x", x}, {"y", Values(16, NAN)}});
  EXPECT_EQ(memory.at("y"), (Values{12, 11, 6, 1, 13, 8, 7, 2, 14, 9, 4, 3, 15, 10, 5, 0}));
  const auto with = [&](const std::string& write) { return verify(parse(text.substr(0, text.find("  y[")) + write)); };
  using ::testing::HasSubstr;
  EXPECT_THAT(with("  y[(a1 + lane), 0]:x4 = in0\n"), HasSubstr("not proven in 0..3"));
  EXPECT_THAT(with("  y[lane, a1]:x4 += in0\n"), HasSubstr("by assignments"));
}

TEST(InterpretValues, IndexValuesAndConversions) {
  const Memory memory = run_on(
      "=== loop: v ===\ninput x: f32[4]\noutput y: i32[4]\noutput t: bool[4]\noutput z: f32[4]\n"
      "for a0 in 0..4: # free\n"
      "  in0 = load x[a0]\n"
      "  v0:i32 = copy(in0)\n"
      "  v1:i32 = index ((a0 - 3) % 5)\n"
      "  v2:i32 = add(v0, v1)\n"
      "  v3:bool = index (a0 < 2)\n"
      "  v4:bool = copy(in0)\n"
      "  v5:bool = logical_and(v3, v4)\n"
      "  v6 = index a0\n"
      "  y[a0] = v2\n"
      "  t[a0] = v5\n"
      "  z[a0] = v6\n",
      {{"x", {-2.7, 0, 2.7, 0.5}}, {"y", Values(4, NAN)}, {"t", Values(4, NAN)}, {"z", Values(4, NAN)}});
  EXPECT_EQ(memory.at("y"), (Values{0, 3, 6, 0}));  // -2 + 2, 0 + 3, 2 + 4, 0 + 0
  EXPECT_EQ(memory.at("t"), (Values{1, 0, 0, 0}));
  EXPECT_EQ(memory.at("z"), (Values{0, 1, 2, 3}));
}

// Sums of int32 are modulo 2^32, whichever statement adds. Every element is 2^30 + 1, so the sums are the numbers of
// their terms.
TEST(InterpretValues, EverySumOfIntegersWraps) {
  const auto sums = [](const std::string& level, std::size_t results, const std::string& statements) {
    const std::string text =
        "=== " + level + ": s ===\ninput x: i32[64]\noutput y: i32[" + std::to_string(results) + "]\n" + statements;
    return run_on(text, {{"x", Values(64, 0x1p30 + 1)}, {"y", Values(results, 0)}}).at("y");
  };
  EXPECT_EQ(sums("loop", 1,
                 "for a0 in 0..64: # free\n"
                 "  in0:i32 = load x[a0]\n"
                 "  y[0] += in0\n"),
            Values{64});
  EXPECT_EQ(sums("tile", 2,
                 "Tile(axes=(a0:2=BLOCK, a1:4=THREAD, a2:2=VECTOR)):\n"
                 "  StridedLoop(a3 = (a1 * 2); < 32; += 8): # reduce\n"
                 "    in0:i32 = load x[((a0 * 32) + (a3 + a2))]\n"
                 "    acc0:i32 <- add(acc0, in0)\n"
                 "  Combine(acc0, op=add, over=(a1, a2))\n"
                 "  y[a0] = acc0\n"),
            (Values{32, 32}));
  EXPECT_EQ(sums("kernel", 2,
                 "Tile(axes=(a0:2=BLOCK, a1:32=THREAD)):\n"
                 "  in0:i32 = load x[((a0 * 32) + a1)]\n"
                 "  WarpShuffle(v0:i32 <- in0, op=add, length=32)\n"
                 "  y[a0] = v0\n"),
            (Values{32, 32}));
  EXPECT_EQ(sums("kernel", 2,
                 "Tile(axes=(a0:2=BLOCK, a1:8=THREAD)):\n"
                 "  Smem s[8] (i32)\n"
                 "  in0:i32x4 = load x[((a0 * 32) + (a1 * 4))]\n"
                 "  v0:i32 = lanes_add(in0)\n"
                 "  s[a1] = v0\n"
                 "  Sync\n"
                 "  TreeHalve(s, op=add, length=8, tid=a1)\n"
                 "  total:i32 = load s[0]\n"
                 "  y[a0] = total\n"),
            (Values{32, 32}));
}

TEST(InterpretValues, LanesOfAnIndex) {
  const Memory memory = run_on(
      "=== kernel: l ===\noutput y: i32[8]\noutput z: f32[8]\n"
      "Tile(axes=(a0:2=BLOCK, a1:1=THREAD)):\n"
      "  v0:i32x4 = index ((a0 * 10) + (lane * 3))\n"
      "  v1:boolx4 = index (lane < (a0 + 2))\n"
      "  v2:f32x4 = select(v1, 5, -inf)\n"
      "  y[(a0 * 4)]:x4 = v0\n"
      "  z[(a0 * 4)]:x4 = v2\n",
      {{"y", Values(8, NAN)}, {"z", Values(8, NAN)}});
  EXPECT_EQ(memory.at("y"), (Values{0, 3, 6, 9, 10, 13, 16, 19}));
  EXPECT_EQ(memory.at("z"), (Values{5, 5, -INFINITY, -INFINITY, 5, 5, 5, -INFINITY}));
}

}  // namespace
}  // namespace deplo::ir
