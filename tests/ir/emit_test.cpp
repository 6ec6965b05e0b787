// Source text of values that are not f32 scalars. tests/measure tests on devices that the source computes the right
// values.
#include "ir/emit/emit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "ir/emit/expression.h"
#include "ir/walk.h"

namespace deplo::ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string source(const char* target, const std::string& body, const std::string& buffers = "") {
  const std::string text =
      "=== kernel: k ===\ninput i: i32[64]\ninput b: bool[64]\ninput x: f32[64]\noutput y: f32[64]\n"
      "output n: i32[64]\noutput t: bool[64]\n" +
      buffers + "Tile(axes=(a0:4=BLOCK, a1:4=THREAD)):\n" + body;
  const Program kernel = parse(text);
  EXPECT_EQ(verify(kernel), "");
  return emit(kernel, load_target(target)).text;
}

TEST(Emit, BuffersOfEveryDtype) {
  const std::string opencl = source("opencl-cpu", "  in0:bool = load b[a0]\n  t[a0] = in0\n");
  EXPECT_THAT(opencl, HasSubstr("__global const int* restrict i, __global const uchar* restrict b"));
  EXPECT_THAT(opencl, HasSubstr("const int in0 = b[a0];"));
  EXPECT_THAT(source("sm_90", "  t[a0] = 1\n"), HasSubstr("const unsigned char* __restrict__ b"));
}

TEST(Emit, IntegersOf8BitsAreLoadedAsInts) {
  const std::string buffers = "input u: u8[64]\ninput c: i8[64]\n";
  const std::string body =
      "  in0:i32x8 = load u[(a0 * 8)]\n  in1:i32x8 = load c[(a0 * 8)]\n  in2:i32 = load c[a1]\n"
      "  v0:i32x8 = add(in0, in1)\n  v1:i32x8 = add(v0, in2)\n  n[(a0 * 8)]:x8 = v1\n";
  const std::string opencl = source("opencl-cpu", body, buffers), cuda = source("sm_90", body, buffers);
  EXPECT_THAT(opencl, HasSubstr("__global const uchar* restrict u, __global const char* restrict c"));
  EXPECT_THAT(opencl, HasSubstr("const int8 in0 = convert_int8(vload8(0, &u[a0 * 8]));"));
  EXPECT_THAT(opencl, HasSubstr("const int in2 = c[a1];"));
  EXPECT_THAT(cuda, HasSubstr("const unsigned char* __restrict__ u, const signed char* __restrict__ c"));
  EXPECT_THAT(cuda, HasSubstr("const char4 in1_from_4 = *reinterpret_cast<const char4*>(&c[a0 * 8 + 4]);"));
  EXPECT_THAT(cuda, HasSubstr("const int in1_7 = in1_from_4.w;"));
}

TEST(Emit, NarrowIntegersAreStoredAsTheirLowBits) {
  const std::string buffers = "input h: i16[64]\noutput u: u8[64]\noutput c: i8[64]\noutput s: i16[64]\n";
  const std::string body =
      "  in0:i32x8 = load h[(a0 * 8)]\n  u[(a0 * 8)]:x8 = in0\n  c[(a0 * 8)]:x8 = 3\n  in1:i32 = load h[a1]\n"
      "  s[a1] = in1\n";
  const std::string opencl = source("opencl-cpu", body, buffers), cuda = source("sm_90", body, buffers);
  EXPECT_THAT(opencl, HasSubstr("__global const short* restrict h, __global uchar* restrict u"));
  EXPECT_THAT(opencl, HasSubstr("const int8 in0 = convert_int8(vload8(0, &h[a0 * 8]));"));
  EXPECT_THAT(opencl, HasSubstr("vstore8(convert_uchar8(in0), 0, &u[a0 * 8]);"));
  EXPECT_THAT(opencl, HasSubstr("s[a1] = in1;"));
  EXPECT_THAT(cuda, HasSubstr("signed char* __restrict__ c, short* __restrict__ s"));
  EXPECT_THAT(cuda, HasSubstr("const short4 in0_from_4 = *reinterpret_cast<const short4*>(&h[a0 * 8 + 4]);"));
  EXPECT_THAT(cuda, HasSubstr("*reinterpret_cast<uchar4*>(&u[a0 * 8 + 4]) = make_uchar4(in0_4, in0_5, in0_6, in0_7);"));
  EXPECT_THAT(cuda, HasSubstr("*reinterpret_cast<char4*>(&c[a0 * 8]) = make_char4(3, 3, 3, 3);"));
}

TEST(Emit, LanesThatShareElementsAreOfANarrowerVector) {
  const std::string text = source("opencl-cpu",
                                  "  in0:i32x16 = load i[((a0 * 2) + (lane / 8))]\n"
                                  "  in1:f32x8 = load x[(a0 + (lane / 2))]\n"
                                  "  in2:i32x4 = load c[(lane / 2)]\n  y[(a0 * 8)]:x8 = in1\n",
                                  "input c: i8[64]\n");
  EXPECT_THAT(text, HasSubstr("const int16 in0 = (vload2(0, &i[a0 * 2])).s0000000011111111;"));
  EXPECT_THAT(text, HasSubstr("const float8 in1 = (vload4(0, &x[a0])).s00112233;"));
  EXPECT_THAT(text, HasSubstr("const int4 in2 = (convert_int2(vload2(0, &c[0]))).s0011;"));
}

// The second vector begins one element early. Otherwise it would read one element more than needed, perhaps outside the
// buffer.
TEST(Emit, EverySecondElementIsTakenFromTwoVectors) {
  const std::string text =
      source("opencl-cpu", "  in0:f32x4 = load x[((a0 * 16) + (lane * 2))]\n  y[(a0 * 4)]:x4 = in0\n");
  EXPECT_THAT(text, HasSubstr("(float4)(vload4(0, &x[a0 * 16]).even, vload4(0, &x[a0 * 16 + 3]).odd)"));
}

TEST(Emit, LanesOfAPaddedLineAreOneAccessWhereTheyDoNotMeetItsEdge) {
  const std::string text =
      source("opencl-cpu", "  in0:f32x4 = load x[(max(((a0 * 4) + lane), 1) - 1)]\n  y[(a0 * 4)]:x4 = in0\n");
  EXPECT_THAT(text, HasSubstr(" == 3 ? vload4(0, &x[max(a0 * 4L, 1L) - 1]) : (float4)(x[max(a0 * 4L, 1L) - 1], "));
}

TEST(Emit, SixteenBitsAreIntegersInMemory) {
  const char* buffers = "input h: f16[64]\ninput g: bf16[64]\noutput o: f16[64]\noutput p: bf16[64]\n";
  const std::string one =
      "  in0 = load h[a0]\n  in1 = load g[a0]\n  o[a0] = in1\n  p[a0] = in0\n"
      "  v0 = round_bf16(in0)\n  y[a0] = v0\n";
  const std::string opencl = source("opencl-cpu", one, buffers);
  EXPECT_THAT(opencl, HasSubstr("__global const ushort* restrict h, __global const ushort* restrict g"));
  EXPECT_THAT(opencl, HasSubstr("const float in0 = f16_value(h[a0]);"));
  EXPECT_THAT(opencl, HasSubstr("const float in1 = as_float((uint)g[a0] << 16);"));
  EXPECT_THAT(opencl, HasSubstr("o[a0] = f16_bits(in1);"));
  EXPECT_THAT(opencl, HasSubstr("p[a0] = bf16_bits(in0);"));
  EXPECT_THAT(opencl, HasSubstr("const float v0 = round_bf16(in0);"));
  const std::string cuda = source("sm_80", one, buffers);
  EXPECT_THAT(cuda, HasSubstr("const unsigned short* __restrict__ h"));
  EXPECT_THAT(cuda, HasSubstr("const float in0 = f16_value(h[a0]);"));
  EXPECT_THAT(cuda, HasSubstr("o[a0] = f16_bits(in1);"));
  const std::string eight = "  in0:f32x8 = load h[(a0 * 8)]\n  p[(a0 * 8)]:x8 = in0\n";
  EXPECT_THAT(source("opencl-cpu", eight, buffers),
              HasSubstr("f16_values8(((__global const f16_lanes8*)&h[a0 * 8])->bits)"));
  EXPECT_THAT(source("opencl-cpu", eight, buffers),
              HasSubstr("((__global bf16_lanes8*)&p[a0 * 8])->bits = bf16_bits8(in0);"));
  const std::string wide = source("sm_80", eight, buffers);
  EXPECT_THAT(wide, HasSubstr("const uint4 in0 = *reinterpret_cast<const uint4*>(&h[a0 * 8]);"));
  EXPECT_THAT(wide, HasSubstr("const float in0_5 = f16_high(in0.z);"));
  EXPECT_THAT(wide, HasSubstr("make_uint4(bf16_pair(in0_0, in0_1), bf16_pair(in0_2, in0_3), "));
}

TEST(Emit, Tf32IsAFunction) {
  const std::string one = "  in0 = load x[a0]\n  v0 = round_tf32(in0)\n  y[a0] = v0\n";
  EXPECT_THAT(source("opencl-cpu", one),
              AllOf(HasSubstr("float round_tf32(const float x) {"), HasSubstr("const float v0 = round_tf32(in0);")));
  EXPECT_THAT(source("sm_80", one), HasSubstr("cvt.rna.tf32.f32"));
}

// Elements that are only moved, as in a copy to shared memory, are not converted.
TEST(Emit, BitsAreMovedAsTheyAre) {
  const char* buffers = "input h: f16[64]\n";
  const std::string body =
      "  Smem s[64] (f16)\n  in0:f16x8 = load h[(a1 * 8)]\n  s[(a1 * 8)]:x8 = in0\n  s[0]:x4 = 0\n"
      "  Sync\n  in1 = load s[a1]\n  y[a1] = in1\n";
  const std::string opencl = source("opencl-cpu", body, buffers);
  EXPECT_THAT(opencl, HasSubstr("const ushort8 in0 = vload8(0, &h[a1 * 8]);"));
  EXPECT_THAT(opencl, HasSubstr("vstore8(in0, 0, &s[a1 * 8]);"));
  EXPECT_THAT(opencl, HasSubstr("f16_value(s[a1])"));
  const std::string cuda = source("sm_80", body, buffers);
  EXPECT_THAT(cuda, HasSubstr("*reinterpret_cast<uint4*>(&s[a1 * 8]) = in0;"));
}

// A thread moves at most 16 bytes at once, so eight f32 are two accesses.
TEST(Emit, WiderThanAnAccessIsSeveral) {
  const std::string text = source("sm_80", "  in0:f32x8 = load x[(a0 * 8)]\n  y[(a0 * 8)]:x8 = in0\n");
  EXPECT_THAT(text, HasSubstr("const float4 in0_from_4 = *reinterpret_cast<const float4*>(&x[a0 * 8 + 4]);"));
  EXPECT_THAT(text, HasSubstr("const float in0_7 = in0_from_4.w;"));
  EXPECT_THAT(text, HasSubstr("*reinterpret_cast<float4*>(&y[a0 * 8 + 4]) = make_float4(in0_4, in0_5, in0_6, in0_7);"));
}

TEST(Emit, TruthInVectorsIsMinusOne) {
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

TEST(Emit, ScalarsAndLanesInCuda) {
  const std::string text = source("sm_90",
                                  "  v0:boolx2 = index ((a0 + lane) < a1)\n"
                                  "  in0:f32x2 = load x[(a0 * 2)]\n"
                                  "  v1:f32x2 = select(v0, in0, 0)\n"
                                  "  y[(a0 * 2)]:x2 = v1\n");
  EXPECT_THAT(text, HasSubstr("const int v0_1 = a0 < a1 - 1;"));
  EXPECT_THAT(text, HasSubstr("const float v1_1 = v0_1 ? in0_1 : 0.0f;"));
}

TEST(Emit, IndexVectors) {
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

TEST(Emit, DivisionOfWhatMayBeNegativeFloors) {
  const std::string text = source("opencl-gpu",
                                  "  v0:i32 = index ((a0 - 3) % 5)\n  v1:i32 = index ((a0 - 3) / 2)\n"
                                  "  v2:i32 = index ((a0 + 3) / 2)\n  n[0] = v0\n");
  EXPECT_THAT(text, HasSubstr("v0 = ((a0 - 3) % 5 + 5) % 5;"));
  EXPECT_THAT(text, HasSubstr("v1 = (a0 - 3 - ((a0 - 3) % 2 + 2) % 2) / 2;"));
  EXPECT_THAT(text, HasSubstr("v2 = (a0 + 3) / 2;"));
}

// 32 bits hold no multiple of 3 that is at most the least integer.
TEST(Emit, DivisionOfAnyIntegerStaysWithin32Bits) {
  const std::string body =
      "  in0:i32 = load i[a0]\n  v0:i32 = index (in0 / 3)\n  v1:i32 = index (in0 / 2)\n"
      "  v2:i32 = index (in0 % 1500000001)\n  v3:i32 = index (in0 % 3)\n  n[0] = v0\n";
  const std::string gpu = source("opencl-gpu", body), cpu = source("opencl-cpu", body);
  EXPECT_THAT(gpu, HasSubstr("v0 = (in0 / 3 - (in0 % 3 < 0));"));
  EXPECT_THAT(gpu, HasSubstr("v1 = (in0 - (in0 % 2 + 2) % 2) / 2;"));
  EXPECT_THAT(gpu, HasSubstr("v2 = (in0 % 1500000001 + (in0 % 1500000001 < 0 ? 1500000001 : 0));"));
  EXPECT_THAT(gpu, HasSubstr("v3 = (in0 % 3 + 3) % 3;"));
  EXPECT_THAT(cpu, HasSubstr("v0 = ((long)in0 - ((long)in0 % 3 + 3) % 3) / 3;"));
}

TEST(Emit, GathersAreWideWhereAxesAre) {
  const std::string body = "  in0:i32 = load i[a0]\n  in1 = load x[min(max(in0, 0), 63)]\n  y[a0] = in1\n";
  EXPECT_THAT(source("opencl-cpu", body), HasSubstr("x[min(max((long)in0, 0L), 63L)]"));
  EXPECT_THAT(source("sm_90", body), HasSubstr("x[min(max(in0, 0), 63)]"));
}

TEST(Emit, FunctionsOfVectorsOnCpus) {
  const std::string body =
      "  in0:f32x16 = load x[a0]\n  in1 = load x[a1]\n  v0:f32x16 = sigmoid(in0)\n"
      "  v1:f32x16 = divide(v0, in1)\n  y[a0]:x16 = v1\n";
  const std::string cpu = source("opencl-cpu", body), gpu = source("opencl-gpu", body);
  EXPECT_THAT(cpu, HasSubstr("float16 simd_exp16(const float16 x) {"));
  EXPECT_THAT(cpu, HasSubstr("v0 = 1.0f / (1.0f + simd_exp16(-in0));"));
  EXPECT_THAT(cpu, HasSubstr("v1 = simd_divide16(v0, in1);"));
  EXPECT_THAT(gpu, Not(HasSubstr("simd_")));
  EXPECT_THAT(gpu, HasSubstr("v1 = v0 / (float16)(in1);"));
}

TEST(Emit, MaximaStoresAndHalvesOnCpus) {
  const std::string body =
      "  in0:f32x16 = load x[a0]\n  v0:f32x16 = relu(in0)\n  v1:f32x16 = maximum(v0, in0)\n"
      "  v2 = lanes_minimum(v1)\n  y[a0]:x16 = v1\n";
  const std::string cpu = source("opencl-cpu", body), gpu = source("opencl-gpu", body);
  EXPECT_THAT(cpu, HasSubstr("v0 = (float16)(0.0f) > in0 ? (float16)(0.0f) : in0;"));
  EXPECT_THAT(cpu, HasSubstr("v1 = in0 == in0 ? (in0 > v0 ? in0 : v0) : in0;"));
  EXPECT_THAT(cpu, HasSubstr("v2 = simd_lanes_minimum16(v1);"));
  EXPECT_THAT(cpu, HasSubstr("  const float2 x2 = x4.hi < x4.lo ? x4.hi : x4.lo;\n"
                             "  const float x1 = x2.hi < x2.lo ? x2.hi : x2.lo;\n"
                             "  return any_lane(x != x) ? NAN : x1;"));
  EXPECT_THAT(cpu, HasSubstr("typedef float16 __attribute__((aligned(4))) simd_lanes16;"));
  EXPECT_THAT(cpu, HasSubstr("*(__global simd_lanes16*)&y[a0] = v1;"));
  EXPECT_THAT(gpu, HasSubstr("v1 = in0 == in0 ? (in0 > v0 ? in0 : v0) : in0;"));
  EXPECT_THAT(gpu, HasSubstr("v2 = simd_lanes_minimum16(v1);"));
  EXPECT_THAT(gpu, HasSubstr("vstore16(v1, 0, &y[a0]);"));
}

TEST(Emit, Prefetches) {
  const std::string text =
      source("opencl-cpu",
             "  Prefetch(x[(a0 + 80)])\n  Prefetch(y[a1], write)\n  Prefetch(x[(a0 + 96)]) level2\n"
             "  Prefetch(y[(a1 + 1)], write) level2\n");
  EXPECT_THAT(text, HasSubstr("__builtin_prefetch(&x[a0 + 80]);"));
  EXPECT_THAT(text, HasSubstr("__builtin_prefetch(&y[a1], 1);"));
  EXPECT_THAT(text, HasSubstr("__builtin_prefetch(&x[a0 + 96], 0, 2);"));
  EXPECT_THAT(text, HasSubstr("__builtin_prefetch(&y[a1 + 1], 1, 2);"));
}

TEST(Emit, Integers) {
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

TEST(Emit, IntegersWrap) {
  const std::string body =
      "  in0:i32x4 = load i[(a0 * 4)]\n"
      "  in1:i32 = load i[a1]\n"
      "  in2:i64 = load l[a1]\n"
      "  v0:i32x4 = multiply(in0, in1)\n"
      "  v1:i32x4 = shift_left(v0, 3)\n"
      "  v2:i32x4 = absolute(v1)\n"
      "  v3:i32 = lanes_add(v2)\n"
      "  v4:i32 = negative(in1)\n"
      "  v5:i32 = subtract(v3, -7)\n"
      "  v6:i64 = add(in2, -1)\n"
      "  v7:i32 = shift_right(v5, 2)\n"
      "  Init(acc0:i32, op=add)\n"
      "  acc0:i32 <- fma(acc0, v4, v7)\n"
      "  n[a0] = acc0\n"
      "  m[a0] = v6\n";
  const std::string buffers = "input l: i64[64]\noutput m: i64[64]\n";
  const std::string opencl = source("opencl-cpu", body, buffers), cuda = source("sm_90", body, buffers);
  EXPECT_THAT(opencl, HasSubstr("const int4 v0 = as_int4(as_uint4(in0) * as_uint4((int4)(in1)));"));
  EXPECT_THAT(opencl, HasSubstr("const int4 v1 = as_int4(as_uint4(v0) << as_uint4((int4)(3)));"));
  EXPECT_THAT(opencl, HasSubstr("const int4 v2 = as_int4(min(as_uint4(v1), -as_uint4(v1)));"));
  EXPECT_THAT(opencl, HasSubstr("const int v3 = as_int(((as_uint4(v2).s0 + as_uint4(v2).s2) + "
                                "(as_uint4(v2).s1 + as_uint4(v2).s3)));"));
  EXPECT_THAT(opencl, HasSubstr("const int v4 = as_int(-as_uint(in1));"));
  EXPECT_THAT(opencl, HasSubstr("const int v5 = as_int(as_uint(v3) - as_uint(-7));"));
  EXPECT_THAT(opencl, HasSubstr("const long v6 = as_long(as_ulong(in2) + as_ulong(-1L));"));
  EXPECT_THAT(opencl, HasSubstr("const int v7 = v5 >> 2;"));
  EXPECT_THAT(opencl, HasSubstr("acc0 = as_int(as_uint(v4) * as_uint(v7) + as_uint(acc0));"));
  EXPECT_THAT(cuda, HasSubstr("const int v0_1 = (int)((unsigned int)in0_1 * (unsigned int)in1);"));
  EXPECT_THAT(cuda, HasSubstr("const int v2_1 = (int)(min((unsigned int)v1_1, -(unsigned int)v1_1));"));
  EXPECT_THAT(cuda, HasSubstr("const int v3 = (int)((((unsigned int)v2_0 + (unsigned int)v2_2) + "
                              "((unsigned int)v2_1 + (unsigned int)v2_3)));"));
  EXPECT_THAT(cuda, HasSubstr("const long long v6 = (long long)((unsigned long long)in2 + (unsigned long long)-1LL);"));
}

KernelSource whole(const char* target, const std::string& text) {
  const Program kernel = parse("=== kernel: k ===\n" + text);
  EXPECT_EQ(verify(kernel), "");
  return emit(kernel, load_target(target));
}

std::string shuffle(int threads, int length) {
  return whole("sm_90", fmt::format("input x: f32[{0}]\noutput y: f32[{0}]\nTile(axes=(a0:2=BLOCK, a1:{0}=THREAD)):\n"
                                    "  in0 = load x[a1]\n  WarpShuffle(v0 <- in0, op=maximum, length={1})\n"
                                    "  y[a1] = v0\n",
                                    threads, length))
      .text;
}

// The mask must name only threads that exist; otherwise the shuffle waits for ever.
TEST(Emit, ShufflesNameTheThreadsOfTheWarp) {
  EXPECT_THAT(shuffle(64, 4), HasSubstr("  float v0 = in0;\n"
                                        "  v0 = max_nan(v0, __shfl_xor_sync(0xffffffff, v0, 2));\n"
                                        "  v0 = max_nan(v0, __shfl_xor_sync(0xffffffff, v0, 1));\n"));
  EXPECT_THAT(shuffle(8, 8), HasSubstr("__shfl_xor_sync(0xff, v0, 4)"));
  EXPECT_THAT(shuffle(48, 16), HasSubstr("__shfl_xor_sync(thread < 32 ? 0xffffffff : 0xffff, v0, 8)"));
  EXPECT_THAT(shuffle(8, 1), Not(HasSubstr("__shfl")));
}

TEST(Emit, AdditionsToMemory) {
  const std::string body = "  in0:f32x2 = load x[(a0 * 2)]\n  y[(a0 * 2)]:x2 += in0\n  y[a1] += 0.5\n  n[0] += 3\n";
  const std::string cuda = source("sm_90", body), opencl = source("opencl-gpu", body);
  EXPECT_THAT(cuda,
              HasSubstr("  atomicAdd(&y[a0 * 2 + 1], in0_1);\n  atomicAdd(&y[a1], 0.5f);\n  atomicAdd(&n[0], 3);"));
  EXPECT_THAT(opencl, HasSubstr("  atomic_add_float(&y[a0 * 2 + 1], in0.s1);\n"));
  EXPECT_THAT(opencl, HasSubstr("  atomic_add(&n[0], 3);"));
  EXPECT_EQ(opencl.find("void atomic_add_float("), 0U);
  EXPECT_THAT(source("opencl-gpu", "  n[0] += 3\n"), Not(HasSubstr("atomic_cmpxchg")));
  const KernelSource sums = whole("sm_90",
                                  "input x: f32[4]\noutput y: f32[4]\noutput z: f32[4]\n"
                                  "Tile(axes=(a0:4=BLOCK, a1:1=THREAD)):\n  y[a0] = 1\n  z[a0] += 1\n");
  EXPECT_EQ(sums.zeroed, std::vector<std::size_t>{2});
}

std::string buffers_of(std::int64_t first, std::int64_t second) {
  return fmt::format(
      "input x: f32[64]\noutput y: f32[64]\nTile(axes=(a0:1=BLOCK, a1:64=THREAD)):\n"
      "  Smem a_smem[{}] (f32)\n  Smem b_smem[{}] (f32) align=256\n"
      "  in0 = load x[a1]\n  a_smem[a1] = in0\n  b_smem[a1] = in0\n  Sync\n  y[a1] = in0\n",
      first, second);
}

TEST(Emit, SharedMemoryIsStaticUpTo48Kib) {
  const KernelSource fits = whole("sm_90", buffers_of(12288 - 64, 64));
  EXPECT_FALSE(fits.dynamic_shared);
  EXPECT_EQ(fits.shared_bytes, 49152);
  // The buffers are in the layout's order.
  EXPECT_THAT(fits.text, HasSubstr("  __shared__ __align__(256) float b_smem[64];\n"
                                   "  __shared__ __align__(16) float a_smem[12224];\n"));
  const KernelSource above = whole("sm_90", buffers_of(12288 - 60, 65));  // b comes first: 260 bytes, then a gap of 12
  EXPECT_TRUE(above.dynamic_shared);
  EXPECT_EQ(above.shared_bytes, 49152 + 16 + 16);
  EXPECT_THAT(above.text, HasSubstr("  extern __shared__ __align__(1024) unsigned char smem[];\n"));
  EXPECT_THAT(above.text, HasSubstr("  float* const a_smem = reinterpret_cast<float*>(smem + 272);\n"));
  EXPECT_THAT(above.text, HasSubstr("  float* const b_smem = reinterpret_cast<float*>(smem + 0);\n"));
  EXPECT_FALSE(whole("opencl-gpu", buffers_of(16384, 64)).dynamic_shared);
}

// Registers may move between threads only if the launch fixes how many each thread has at first. The minimum number of
// blocks per multiprocessor does that.
TEST(Emit, MovedRegistersNeedAnExactLaunch) {
  const auto text = [](const std::string& registers) {
    return whole("sm_90",
                 "input x: bf16[64, 64]\noutput y: f32[64]\nTmaDescriptor x_desc(x, box=(64, 64)) swizzle=128\n"
                 "Tile(axes=(a0:1=BLOCK, a1:128=THREAD)):\n  Smem s[2, 64, 64] (bf16) align=1024\n"
                 "  MbarrierInit full[2] (count=1)\n  Sync\n  Produce(threads=128" +
                     registers +
                     "):\n    MbarrierArriveExpectTx(full[0], bytes=8192)\n"
                     "    TmaLoad(s[0, 0, 0], x_desc[0, 0], full[0])\n"
                     "  MbarrierWait(full[0], phase=0)\n")
        .text;
  };
  EXPECT_THAT(text(", own=24, others=240"), HasSubstr("__launch_bounds__(256, 1)\n"));
  EXPECT_THAT(text(", own=24, others=240"), HasSubstr("setmaxnreg.inc.sync.aligned.u32 240;"));
  EXPECT_THAT(text(""), HasSubstr("__launch_bounds__(256)\n"));
  EXPECT_THAT(text(""), Not(HasSubstr("setmaxnreg")));
}

// When one thread arrives for its warp, the other threads of the warp may still be at loads of their own. At matrix
// instructions they cannot be.
TEST(Emit, AWarpMeetsBeforeItsArrival) {
  const auto text = [](const std::string& reads) {
    return whole("sm_90",
                 "input x: bf16[16, 16]\noutput y: f32[32]\nTmaDescriptor x_desc(x, box=(16, 16))\n"
                 "Tile(axes=(a0:1=BLOCK, a1:32=THREAD)):\n  Smem s[2, 16, 16] (bf16) align=128\n"
                 "  MbarrierInit full[2] (count=1)\n  MbarrierInit empty[2] (count=1)\n  Sync\n"
                 "  Produce(threads=32):\n    MbarrierWait(empty[0], phase=1)\n"
                 "    MbarrierArriveExpectTx(full[0], bytes=512)\n"
                 "    TmaLoad(s[0, 0, 0], x_desc[0, 0], full[0])\n"
                 "  MbarrierWait(full[0], phase=0)\n" +
                     reads + "  if (a1 == 0):\n    MbarrierArrive(empty[0])\n  y[a1] = 1\n")
        .text;
  };
  EXPECT_THAT(text("  in0 = load s[0, (a1 / 2), (a1 % 2)]\n  ProxyFence\n"),
              HasSubstr("  asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n  __syncwarp();\n"
                        "  if (thread == 0) {\n    mbarrier_arrive(&empty[0]);"));
  EXPECT_THAT(text(""), Not(HasSubstr("__syncwarp")));
}

TEST(Emit, TensorCopies) {
  const KernelSource source = whole("sm_90",
                                    "input x: f32[8, 60, 128]\noutput y: f32[32]\n"
                                    "TmaDescriptor x_desc(x, box=(1, 4, 32)) swizzle=128\n"
                                    "Tile(axes=(a0:2=BLOCK, a1:32=THREAD)):\n"
                                    "  Smem x_smem[4, 32] (f32) align=1024\n  MbarrierInit mbar[2] (count=1)\n  Sync\n"
                                    "  if (a1 == 0):\n    MbarrierArriveExpectTx(mbar[0], bytes=512)\n"
                                    "    TmaLoad(x_smem[0, 0], x_desc[a0, (a0 * 4), 64], mbar[0])\n"
                                    "  MbarrierWait(mbar[0], phase=0)\n  in0 = load x_smem[0, a1]\n  y[a1] = in0\n");
  ASSERT_EQ(source.tensor_maps.size(), 1U);
  EXPECT_EQ(source.tensor_maps[0].buffer, 0U);
  EXPECT_EQ(source.tensor_maps[0].shape, (std::vector<std::int64_t>{8, 60, 128}));
  EXPECT_EQ(source.tensor_maps[0].strides, (std::vector<std::int64_t>{60 * 128, 128, 1}));
  EXPECT_EQ(source.tensor_maps[0].box, (std::vector<std::int64_t>{1, 4, 32}));
  EXPECT_EQ(source.tensor_maps[0].swizzle, 128);
  EXPECT_EQ(source.shared_bytes, 512 + 2 * 8);
  EXPECT_THAT(source.text, HasSubstr("float* __restrict__ y, const __grid_constant__ CUtensorMap x_desc) {"));
  EXPECT_THAT(source.text, HasSubstr("  if (thread == 0) {\n    mbarrier_init(&mbar[0], 1);\n"
                                     "    mbarrier_init(&mbar[1], 1);\n  }\n  __syncthreads();\n"));
  EXPECT_THAT(source.text, HasSubstr("  if (thread == 0) {\n    prefetch_tensor_map(x_desc);\n  }\n"));
  EXPECT_THAT(source.text, HasSubstr("  const int warp = __shfl_sync(0xffffffff, thread / 32, 0);\n"));
  EXPECT_THAT(source.text, HasSubstr("  if (warp == 0 && elect_one(0xffffffff)) {\n    mbarrier_arrive_expect_tx("));
  // The innermost coordinate comes first.
  EXPECT_THAT(source.text, HasSubstr("    tma_load_3d(&x_smem[0], x_desc, 64, a0 * 4, a0, &mbar[0]);\n"));
  EXPECT_THAT(source.text, HasSubstr("void tma_load_3d("));
  EXPECT_THAT(source.text, Not(HasSubstr("void tma_load_2d(")));
  EXPECT_THAT(source.text, Not(HasSubstr("cp_async_16")));
}

// Any thread may start a copy only if the copy is the same for all threads.
TEST(Emit, TensorCopiesByTheThreadThatTheyName) {
  const auto text_of = [](const std::string& threads, const std::string& column, const std::string& more) {
    return whole("sm_90",
                 "input x: f32[4, 64]\noutput y: f32[32]\nTmaDescriptor x_desc(x, box=(4, 32))\n"
                 "Tile(axes=(a0:1=BLOCK, " +
                     threads +
                     ")):\n"
                     "  Smem x_smem[4, 32] (f32) align=128\n  MbarrierInit mbar[1] (count=1)\n  Sync\n"
                     "  if (a1 == 0):\n    MbarrierArriveExpectTx(mbar[0], bytes=512)\n"
                     "    TmaLoad(x_smem[0, 0], x_desc[0, " +
                     column + "], mbar[0])\n" + more +
                     "  MbarrierWait(mbar[0], phase=0)\n  in0 = load x_smem[0, a1]\n  y[a1] = in0\n")
        .text;
  };
  EXPECT_THAT(text_of("a1:32=THREAD", "32", ""), HasSubstr("  if (warp == 0 && elect_one(0xffffffff)) {\n"));
  EXPECT_THAT(text_of("a1:12=THREAD", "32", ""), HasSubstr("  if (warp == 0 && elect_one(0xfff)) {\n"));
  EXPECT_THAT(text_of("a1:32=THREAD", "a1", ""), Not(HasSubstr("elect_one(0x")));
  EXPECT_THAT(text_of("a1:32=THREAD", "32", "    y[a1] = 0\n"), Not(HasSubstr("elect_one(0x")));
}

TEST(Emit, TheRangeOfThreads) {
  const auto text_of = [](const char* target, const std::string& start) {
    return whole(target,
                 "input x: f32[96]\noutput y: f32[96]\nTile(axes=(a0:1=BLOCK, a1:3=THREAD, a2:16=THREAD)):\n"
                 "  StridedLoop(a3 = " +
                     start +
                     "; < 96; += 48): # free\n"
                     "    in0 = load x[a3]\n    y[a3] = in0\n")
        .text;
  };
  const std::string cuda = text_of("sm_80", "((a1 * 16) + a2)");
  EXPECT_THAT(cuda, HasSubstr("thread = threadIdx.x;\n  __builtin_assume(thread >= 0 && thread < 48);\n"));
  EXPECT_THAT(cuda, HasSubstr("  for (int a3 = thread; a3 < 96; a3 += 48) {\n"));
  EXPECT_THAT(text_of("sm_80", "((a1 * 16) + 5)"), HasSubstr("  for (int a3 = a1 * 16 + 5; a3 < 96;"));
  const std::string opencl = text_of("opencl-gpu", "((a1 * 16) + a2)");
  EXPECT_THAT(opencl, HasSubstr("  for (int a3 = a1 * 16 + a2; a3 < 96; a3 += 48) {\n"));
  EXPECT_THAT(opencl, Not(HasSubstr("assume")));
}

TEST(Emit, ALimitOfRegisters) {
  const std::string text =
      "=== kernel: k ===\noutput y: f32[8]\nTile(axes=(a0:2=BLOCK, a1:4=THREAD), resident=6):\n"
      "  y[((a0 * 4) + a1)] = 1\n";
  EXPECT_EQ(print(parse(text)), text);
  EXPECT_EQ(verify(parse(text)), "");
  EXPECT_THAT(emit(parse(text), load_target("sm_80")).text, HasSubstr("__launch_bounds__(4, 6)\n"));
  for (const char* wrong : {"resident=0", "resident=-1", "resident", "blocks=2"}) {
    std::string other = text;
    EXPECT_THROW(parse(other.replace(other.find("resident=6"), 10, wrong)), Error) << wrong;
  }
}

TEST(Emit, AsynchronousCopies) {
  const std::string text =
      whole("sm_80",
            "input x: f32[64]\noutput y: f32[64]\nTile(axes=(a0:1=BLOCK, a1:16=THREAD)):\n  Smem x_smem[64] (f32)\n"
            "  CpAsyncCopy(x_smem[(a1 * 4)], x[(a1 * 4)], lanes=4)\n  CpAsyncCommit\n  CpAsyncWait(keep=0)\n  Sync\n"
            "  in0 = load x_smem[a1]\n  y[a1] = in0\n")
          .text;
  EXPECT_THAT(text, HasSubstr("  cp_async_16(&x_smem[a1 * 4], &x[a1 * 4]);\n"
                              "  asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n"
                              "  asm volatile(\"cp.async.wait_group 0;\" ::: \"memory\");\n"));
  EXPECT_THAT(text, HasSubstr("cp.async.cg.shared.global [%0], [%1], 16;"));
}

// The emitter writes the offset of a sum without the simplifier. Both must give the same text.
TEST(Emit, OffsetsOfSumsReadAsSimplified) {
  const Ranges axes = {{"a0", {0, 7}}, {"a1", {0, 7}}};
  const Expr a = var("a0"), b = var("a1");
  const std::vector<std::int64_t> strides = {100, 1};
  for (const std::vector<Expr>& index : std::vector<std::vector<Expr>>{{a, b},
                                                                       {a * 4 + b + 3, b * 4},
                                                                       {a, a + 7},
                                                                       {0, 0},
                                                                       {a - 1, b},
                                                                       {3 - a, b},
                                                                       {a / 2, a % 2},
                                                                       {b, a * 0 + 5},
                                                                       {min(a, b), b},
                                                                       {a, b - a * 100}}) {
    const Speller &gpu = speller(load_target("sm_90")), &cpu = speller(load_target("opencl-cpu"));
    EXPECT_EQ(offset_code(index, strides, axes, gpu, false), index_code(flat_offset(index, strides), axes, gpu));
    EXPECT_EQ(offset_code(index, strides, {}, cpu, false), index_code(flat_offset(index, strides), {}, cpu));
  }
}

// Only those parts of an expression that may exceed 32 bits are computed in 64 bits.
TEST(Emit, IndicesThatLeave32BitsAreLong) {
  const Speller &cuda = speller(load_target("sm_90")), &opencl = speller(load_target("opencl-gpu"));
  const Ranges axes = {{"a0", {0, 65535}}, {"a1", {0, 65535}}, {"a2", {0, 3000000000}}};
  const Expr a = var("a0"), b = var("a1"), far = var("a2"), value = var("in0");
  const auto in_cuda = [&](const Expr& e) { return index_code(e, axes, cuda); };
  EXPECT_EQ(in_cuda(a * 32767 + b), "a0 * 32767 + a1");
  EXPECT_EQ(in_cuda(a * 65536), "(long long)a0 * 65536");
  EXPECT_EQ(in_cuda(a * 65536 + b), "(long long)a0 * 65536 + a1");
  EXPECT_EQ(in_cuda(a * 32767 + b * 32767), "(long long)(a0 * 32767) + a1 * 32767");
  // The quotient fits in 32 bits.
  EXPECT_EQ(in_cuda((a * 65536 + b) / 131072), "((long long)a0 * 65536 + a1) / 131072");
  EXPECT_EQ(in_cuda(less(a * 65536, b)), "(long long)a0 * 65536 < a1");
  EXPECT_EQ(in_cuda(min(a * 65536, b)), "min((long long)a0 * 65536, (long long)a1)");
  EXPECT_EQ(in_cuda(min(far, 5)), "min((long long)a2, 5LL)");
  EXPECT_EQ(in_cuda(min(a, 5)), "min(a0, 5)");
  EXPECT_EQ(in_cuda(value * 3 % 7), "((long long)in0 * 3 % 7 + 7) % 7");
  EXPECT_EQ(index_code(a * 65536 + b, axes, opencl), "(long)a0 * 65536 + a1");
  EXPECT_EQ(index_code(min(a * 65536, 5), axes, opencl), "min((long)a0 * 65536, 5L)");
  // A loaded number selects the row: first of an array that 32 bits cannot address, then of a smaller array.
  EXPECT_EQ(offset_code({value, b}, {65536, 1}, axes, cuda, true), "(long long)in0 * 65536 + a1");
  EXPECT_EQ(offset_code({value, b}, {65536, 1}, axes, cuda, false), "in0 * 65536 + a1");
}

// The extents of the array alone decide: if 32 bits cannot address all elements, the offsets are long.
TEST(Emit, OffsetsOfLargeArraysAreLong) {
  const auto text = [](const char* target, std::int64_t rows) {
    return whole(target, fmt::format("input x: f32[{0}, 65536]\noutput y: f32[{0}, 65536]\n"
                                     "Tile(axes=(a0:{0}=BLOCK, a1:64=THREAD)):\n"
                                     "  StridedLoop(a2 = a1; < 65536; += 64): # free\n"
                                     "    in0 = load x[a0, a2]\n    y[a0, a2] = in0\n",
                                     rows))
        .text;
  };
  for (const auto& [target, type] : {std::pair("sm_90", "long long"), std::pair("opencl-gpu", "long")}) {
    EXPECT_THAT(text(target, 32767), HasSubstr("y[a0 * 65536 + a2] = in0;"));
    EXPECT_THAT(text(target, 32769), HasSubstr(fmt::format("y[({})a0 * 65536 + a2] = in0;", type)));
    EXPECT_THAT(text(target, 32769), HasSubstr("for (int a2 = a1; a2 < 65536; a2 += 64)"));
  }
}

// The value that ends the loop must fit in 32 bits, too.
TEST(Emit, LoopsThatLeave32BitsAreLong) {
  const auto text = [](std::int64_t extent) {
    return whole("sm_90", fmt::format("output y: f32[{0}]\nTile(axes=(a0:1=BLOCK, a1:64=THREAD)):\n"
                                      "  StridedLoop(a2 = a1; < {0}; += 64): # free\n    y[a2] = 1\n",
                                      extent))
        .text;
  };
  EXPECT_THAT(text(2147483584), HasSubstr("for (int a2 = a1; a2 < 2147483584; a2 += 64) {\n    y[a2] = 1.0f;"));
  EXPECT_THAT(text(2147483640), HasSubstr("for (long long a2 = a1; a2 < 2147483640; a2 += 64) {\n    y[a2] = 1.0f;"));
  EXPECT_THAT(text(4000000000), HasSubstr("for (long long a2 = a1; a2 < 4000000000; a2 += 64) {"));
}

}  // namespace
}  // namespace deplo::ir
