// Source text of values that are not f32 scalars; that it computes is tested on devices (tests/measure).
#include "ir/emit/emit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace deplo::ir {
namespace {

using ::testing::HasSubstr;

std::string source(const char* target, const std::string& body, const std::string& buffers = "") {
  const std::string text =
      "=== kernel: k ===\ninput i: i32[64]\ninput b: bool[64]\ninput x: f32[64]\noutput y: f32[64]\n"
      "output n: i32[64]\noutput t: bool[64]\n" +
      buffers + "Tile(axes=(a0:4=BLOCK, a1:4=THREAD)):\n" + body;
  const Program kernel = parse(text);
  EXPECT_EQ(verify(kernel), "");
  return emit(kernel, load_target(target)).text;
}

TEST(Emit, buffers_of_every_dtype) {
  const std::string opencl = source("opencl-cpu", "  in0:bool = load b[a0]\n  t[a0] = in0\n");
  EXPECT_THAT(opencl, HasSubstr("__global const int* restrict i, __global const uchar* restrict b"));
  EXPECT_THAT(opencl, HasSubstr("const int in0 = b[a0];"));
  EXPECT_THAT(source("sm_90", "  t[a0] = 1\n"), HasSubstr("const unsigned char* __restrict__ b"));
  try {
    source("opencl-cpu", "  t[a0] = 1\n", "input h: f16[2]\n");
    FAIL() << "f16 is emitted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "buffer h: expected f32, i32 or bool, which can be emitted, found f16");
  }
}

TEST(Emit, truth_in_vectors_is_minus_one) {
  const std::string text = source("opencl-cpu",
                                  "  in0:boolx4 = load b[(a0 * 4)]\n"
                                  "  in1:bool = load b[a1]\n"
                                  "  in2:f32x4 = load x[(a0 * 4)]\n"
                                  "  v0:boolx4 = less(in2, 0.5)\n"
                                  "  v1:boolx4 = logical_or(v0, in1)\n"
                                  "  v2:f32x4 = select(v1, in2, -inf)\n"
                                  "  v3:f32x4 = copy(v1)\n"
                                  "  t[(a0 * 4)]:x4 = in0\n"
                                  "  y[(a0 * 4)]:x4 = v2\n");
  EXPECT_THAT(text, HasSubstr("const int4 in0 = -convert_int4(vload4(0, &b[a0 * 4]));"));
  EXPECT_THAT(text, HasSubstr("const int4 v0 = in2 < (float4)(0.5f);"));
  EXPECT_THAT(text, HasSubstr("const int4 v1 = v0 | (int4)(-in1);"));
  EXPECT_THAT(text, HasSubstr("const float4 v2 = select((float4)(-INFINITY), in2, v1);"));
  EXPECT_THAT(text, HasSubstr("const float4 v3 = convert_float4(-v1);"));
  EXPECT_THAT(text, HasSubstr("vstore4(convert_uchar4(-in0), 0, &t[a0 * 4]);"));
}

TEST(Emit, scalars_and_lanes_in_cuda) {
  const std::string text = source("sm_90",
                                  "  v0:boolx2 = index ((a0 + lane) < a1)\n"
                                  "  in0:f32x2 = load x[(a0 * 2)]\n"
                                  "  v1:f32x2 = select(v0, in0, 0)\n"
                                  "  y[(a0 * 2)]:x2 = v1\n");
  EXPECT_THAT(text, HasSubstr("const int v0_1 = a0 < a1 - 1;"));
  EXPECT_THAT(text, HasSubstr("const float v1_1 = v0_1 ? in0_1 : 0.0f;"));
}

TEST(Emit, index_vectors) {
  const std::string text = source("opencl-cpu",
                                  "  v0:i32x4 = index ((a0 * 4) + (lane * 3))\n"
                                  "  v1:boolx4 = index (((a0 * 4) + lane) < (a1 + 1))\n"
                                  "  v2:i32x4 = index ((a0 + lane) % 3)\n"
                                  "  n[(a0 * 4)]:x4 = v0\n"
                                  "  t[(a0 * 4)]:x4 = v1\n");
  EXPECT_THAT(text, HasSubstr("const int4 v0 = (int4)((int)(a0 * 4)) + (int4)(0, 3, 6, 9);"));
  EXPECT_THAT(text,
              HasSubstr("const int4 v1 = ((int4)((int)(a0 * 4)) + (int4)(0, 1, 2, 3)) < ((int4)((int)(a1 + 1)));"));
  EXPECT_THAT(text, HasSubstr("const int4 v2 = (int4)((int)(a0 % 3), (int)((a0 + 1) % 3), "));
}

TEST(Emit, division_of_what_may_be_negative_floors) {
  const std::string text = source("opencl-gpu",
                                  "  v0:i32 = index ((a0 - 3) % 5)\n  v1:i32 = index ((a0 - 3) / 2)\n"
                                  "  v2:i32 = index ((a0 + 3) / 2)\n  n[0] = v0\n");
  EXPECT_THAT(text, HasSubstr("v0 = ((a0 - 3) % 5 + 5) % 5;"));
  EXPECT_THAT(text, HasSubstr("v1 = (a0 - 3 - ((a0 - 3) % 2 + 2) % 2) / 2;"));
  EXPECT_THAT(text, HasSubstr("v2 = (a0 + 3) / 2;"));
}

TEST(Emit, gathers_are_wide_where_axes_are) {
  const std::string body = "  in0:i32 = load i[a0]\n  in1 = load x[min(max(in0, 0), 63)]\n  y[a0] = in1\n";
  EXPECT_THAT(source("opencl-cpu", body), HasSubstr("x[min(max((long)in0, 0L), 63L)]"));
  EXPECT_THAT(source("sm_90", body), HasSubstr("x[min(max(in0, 0), 63)]"));
}

TEST(Emit, integers) {
  const std::string text = source("opencl-cpu",
                                  "  in0:i32 = load i[a0]\n"
                                  "  v0:i32 = maximum(in0, -3)\n"
                                  "  Init(acc0:i32, op=maximum)\n"
                                  "  acc0:i32 <- maximum(acc0, v0)\n"
                                  "  v1 = copy(acc0)\n"
                                  "  v2 = negative(-0.5)\n"
                                  "  v3:i32 = copy(v1)\n"
                                  "  y[a0] = v1\n");
  EXPECT_THAT(text, HasSubstr("const int v0 = max(in0, -3);"));
  EXPECT_THAT(text, HasSubstr("int acc0 = (-2147483647 - 1);"));
  EXPECT_THAT(text, HasSubstr("const float v1 = (float)acc0;"));
  EXPECT_THAT(text, HasSubstr("const float v2 = -(-0.5f);"));
  EXPECT_THAT(text, HasSubstr("const int v3 = (int)v1;"));
}

}  // namespace
}  // namespace deplo::ir
