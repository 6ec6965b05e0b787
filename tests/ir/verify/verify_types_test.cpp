// Dtypes of values, index values, and gathers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/program.h"

namespace deplo::ir::verify_types_test {
namespace {

using ::testing::HasSubstr;

const std::string buffers =
    "input x: f32[8]\ninput i: i32[8]\ninput b: bool[8]\ninput h: f16[8]\noutput y: f32[8]\noutput n: i32[8]\n"
    "output t: bool[8]\n";
const std::string values = "in0 = load x[0]\nin1:i32 = load i[0]\nin2:bool = load b[0]\nin3 = load h[0]\n";

std::string loop(std::string_view body) {
  std::string text = "=== loop: k ===\n";
  text.append(buffers).append(values).append(body);
  return verify(parse(text));
}

std::string kernel(std::string_view body) {
  std::string text = "=== kernel: k ===\n";
  text.append(buffers).append(values).append("Tile(axes=(a0:2=BLOCK, a1:1=THREAD)):\n  ");
  for (const char c : body) text.append(c == '\n' ? "\n  " : std::string(1, c));
  text.resize(text.size() - 2);
  return verify(parse(text));
}

TEST(VerifyTypes, ComparisonsTakeOneTypeAndGiveBool) {
  EXPECT_EQ(loop("v0:bool = less(in0, 0.5)\nv1:bool = equal(3, in1)\nv2:bool = not_equal(in2, v1)\n"), "");
  EXPECT_EQ(loop("v0:bool = less_equal(1.5, 2.5)\n"), "") << "constants alone are f32";
  EXPECT_THAT(loop("v0 = less(in0, 0.5)\n"), HasSubstr("less does not give f32"));
  EXPECT_THAT(loop("v0:i32 = equal(in1, in1)\n"), HasSubstr("equal does not give i32"));
  EXPECT_THAT(loop("v0:bool = less(in0, in1)\n"), HasSubstr("`in1` is i32, expected f32"));
  EXPECT_THAT(loop("v0:bool = less(in1, 0.5)\n"), HasSubstr("0.5 is not an i32"));
}

TEST(VerifyTypes, LogicIsOfBool) {
  EXPECT_EQ(loop("v0:bool = logical_and(in2, 1)\nv1:bool = logical_not(v0)\nv2:bool = logical_or(v1, in2)\n"), "");
  EXPECT_THAT(loop("v0:bool = logical_not(in1)\n"), HasSubstr("`in1` is i32, expected bool"));
  EXPECT_THAT(loop("v0:bool = logical_and(in2, 2)\n"), HasSubstr("2 is not 0 or 1"));
}

TEST(VerifyTypes, SelectGivesTheTypeOfItsBranches) {
  EXPECT_EQ(loop("v0 = select(in2, in0, -inf)\nv1:i32 = select(in2, 7, in1)\nv2:bool = select(in2, 0, in2)\n"), "");
  EXPECT_THAT(loop("v0 = select(in0, in0, 1)\n"), HasSubstr("`in0` is f32, expected bool"));
  EXPECT_THAT(loop("v0 = select(in2, in0, in1)\n"), HasSubstr("`in1` is i32, expected f32"));
  EXPECT_THAT(loop("v0:i32 = select(in2, in1, inf)\n"), HasSubstr("inf is not an i32"));
}

TEST(VerifyTypes, ArithmeticAndConversions) {
  EXPECT_EQ(
      loop("v0:i32 = add(in1, 3)\nv1:i32 = copy(in0)\nv2:bool = copy(v1)\nv3 = copy(v2)\nv4:i32 = absolute(v0)\n"), "");
  EXPECT_THAT(loop("v0:bool = add(in2, in2)\n"), HasSubstr("add does not give bool"));
  EXPECT_THAT(loop("v0:i32 = exp(in1)\n"), HasSubstr("exp does not give i32"));
  EXPECT_THAT(loop("v0:i32 = divide(in1, 2)\n"), HasSubstr("divide does not give i32"));
  EXPECT_THAT(loop("v0:i32 = copy(1.5)\n"), HasSubstr("1.5 is not an i32"));
  EXPECT_THAT(loop("acc0:bool <- maximum(acc0, in2)\n"), HasSubstr("an accumulator is not bool"));
  EXPECT_EQ(loop("acc0:i32 <- maximum(acc0, in1)\nn[0] = acc0\n"), "");
}

TEST(VerifyTypes, WritesAreOfTheBuffersType) {
  EXPECT_EQ(loop("y[0] = in0\nn[0] = in1\nt[0] = in2\nn[1] = -3\nt[1] = 1\n"), "");
  EXPECT_THAT(loop("n[0] = in0\n"), HasSubstr("`in0` is f32, expected i32"));
  EXPECT_THAT(loop("n[0] = 0.5\n"), HasSubstr("0.5 is not an i32"));
  EXPECT_THAT(loop("t[0] = 2\n"), HasSubstr("2 is not 0 or 1"));
}

TEST(VerifyTypes, SixteenBitsAreOfMemory) {
  EXPECT_EQ(loop("y[0] = in3\n"), "");
  EXPECT_THAT(loop("v0:f16 = load h[0]\n"), HasSubstr("f16 is a type of memory: its values are f32"));
  EXPECT_THAT(loop("v0:f16 = copy(in0)\n"), HasSubstr("f16 is a type of memory"));
  EXPECT_THAT(loop("acc0:f16 <- add(acc0, in0)\n"), HasSubstr("f16 is a type of memory"));
  EXPECT_EQ(kernel("Smem s[8] (f16)\nv0:f16 = load h[0]\ns[0] = v0\ns[1] = in0\ns[2] = 0.5\n"), "");
  EXPECT_THAT(kernel("v0:f16 = load h[0]\ny[0] = v0\n"), HasSubstr("`v0` is f16, expected f32"));
  EXPECT_THAT(kernel("v0:f16 = load h[0]\nv1 = add(v0, in0)\n"), HasSubstr("`v0` is f16, expected f32"));
  EXPECT_THAT(kernel("v0:bf16 = load h[0]\n"), HasSubstr("`h` holds f16"));
  EXPECT_THAT(kernel("Smem s[8] (f16)\ns[a1] = 0\nSync\nTreeHalve(s, op=add, length=8, tid=a1)\n"),
              HasSubstr("`s` holds f16, which cannot be merged"));
  const char* sums = "=== loop: k ===\noutput z: bf16[8]\nfor a0 in 0..8: # free\n  z[a0] += 1\n";
  EXPECT_THAT(verify(parse(sums)), HasSubstr("`z` holds bf16: += is exact only for f32"));
}

TEST(VerifyTypes, NarrowIntegersAreTypesOfMemory) {
  const auto with = [](const std::string& buffers, const std::string& body) {
    return verify(parse("=== loop: k ===\n" + buffers + "output n: i32[8]\nfor a0 in 0..8: # free\n" + body));
  };
  EXPECT_EQ(with("input b: u8[8]\n", "  in0:i32 = load b[a0]\n  n[a0] = in0\n"), "");
  EXPECT_EQ(with("input b: i8[8]\n", "  in0:i32 = load b[a0]\n  n[a0] = in0\n"), "");
  EXPECT_THAT(with("input b: i8[8]\n", "  in0:i8 = load b[a0]\n  n[a0] = 1\n"),
              HasSubstr("i8 is a type of memory: its values are i32"));
  for (const char* type : {"i8", "u8", "i16"}) {
    const std::string output = fmt::format("output b: {}[8]\n", type);
    EXPECT_EQ(with(output, "  v0:i32 = index (a0 * 100)\n  n[a0] = 1\n  b[a0] = v0\n"), "");
    EXPECT_THAT(with(output, "  n[a0] = 1\n  b[a0] += 1\n"),
                HasSubstr(fmt::format("`b` holds {}, which no device adds to in memory", type)));
    EXPECT_THAT(with(output, "  v0 = copy(1)\n  n[a0] = 1\n  b[a0] = v0\n"), HasSubstr("`v0` is f32, expected i32"));
  }
}

TEST(VerifyTypes, IndexValues) {
  EXPECT_EQ(loop("for a0 in 0..8: # free\n  v0:i32 = index (a0 + 3)\n  n[a0] = v0\n"), "");
  EXPECT_EQ(loop("for a0 in 0..8: # free\n  v0:bool = index (a0 < 3)\n  t[a0] = v0\n"), "");
  EXPECT_EQ(loop("v0 = index 3\ny[0] = v0\n"), "");
  EXPECT_THAT(loop("v0:i32 = index a0\n"), HasSubstr("`a0` is not an axis in scope"));
  EXPECT_THAT(loop("for a0 in 0..3: # free\n  v0:i32 = index (a0 * 2147483647)\n"),
              HasSubstr("which does not fit in 32 bits"));
  EXPECT_THAT(loop("v0:f16 = index 3\n"), HasSubstr("f16 is a type of memory"));
  EXPECT_THAT(loop("v0:i32 = index lane\n"), HasSubstr("`lane` is not an axis in scope"));
  EXPECT_EQ(kernel("v0:i32x4 = index ((a0 * 4) + lane)\nn[(a0 * 4)]:x4 = v0\n"), "");
  EXPECT_EQ(kernel("v0:boolx4 = index (lane < a0)\nv1:f32x4 = select(v0, in0, 0)\ny[(a0 * 4)]:x4 = v1\n"), "");
}

TEST(VerifyTypes, GathersAreClamped) {
  EXPECT_EQ(loop("v0 = load x[min(max(in1, 0), 7)]\n"), "");
  EXPECT_EQ(loop("v0 = load x[max(min((in1 * 2), 7), 0)]\nv1:i32 = index min(in1, 5)\n"), "");
  EXPECT_THAT(loop("v0 = load x[in1]\n"), HasSubstr("not proven in 0..7"));
  EXPECT_THAT(loop("v0 = load x[min(in1, 7)]\n"), HasSubstr("not proven in 0..7"));
  EXPECT_THAT(loop("v0 = load x[min(max(in1, 0), 8)]\n"), HasSubstr("not proven in 0..7"));
  EXPECT_THAT(loop("v0 = load x[min(max(in0, 0), 7)]\n"), HasSubstr("`in0` is not an i32"));
  EXPECT_EQ(loop("y[min(max(in1, 0), 7)] = in0\n"), "");
  EXPECT_THAT(loop("StridedLoop(a0 = in1; < 3; += 1): # free\n  y[a0] = in0\n"),
              HasSubstr("`in1` is not an axis in scope"));
  EXPECT_THAT(loop("for a0 in 0..2: # free\n  v0:i32 = load i[a0]\nv1 = load x[min(max(v0, 0), 7)]\n"),
              HasSubstr("`v0` is out of scope"));
}

}  // namespace
}  // namespace deplo::ir::verify_types_test
