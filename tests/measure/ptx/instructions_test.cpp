// Rows of the machine's table, compared with known values. Most of these follow from the text of the PTX manual.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>
#include <string>

#include "drawn_seeds.h"
#include "ir/types/float16.h"
#include "measure/ptx/by_hand.h"

namespace deplo::measure::ptx {
namespace {

using ::testing::HasSubstr;

struct Value {
  const char* code;  // leaves its result in %r9
  std::uint32_t result;
};

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
const std::uint32_t minus_one = 0xffffffff;

const std::vector<Value>& values() {
  static const std::vector<Value> all = {
      // integers
      {"add.s32 %r9, 0x7fffffff, 1;", 0x80000000},
      {"sub.s32 %r9, 3, 5;", minus_one - 1},
      {"mul.lo.s32 %r9, -3, 5;", static_cast<std::uint32_t>(-15)},
      {"mul.hi.s32 %r9, -2, 0x40000000;", minus_one},
      {"mul.hi.u32 %r9, 0xfffffffe, 0x40000000;", 0x3fffffff},
      {"mul.wide.s32 %rd9, -2, 3; cvt.u32.u64 %r9, %rd9;", static_cast<std::uint32_t>(-6)},
      {"mul.wide.u16 %r9, 0xffff, 0xffff;", 0xfffe0001},
      {"mul.hi.u64 %rd9, 0x8000000000000000, 6; cvt.u32.u64 %r9, %rd9;", 3},
      {"mad.lo.s32 %r9, 7, 6, -2;", 40},
      {"mad.wide.u32 %rd9, 0xffffffff, 2, 5; shr.u64 %rd9, %rd9, 32; cvt.u32.u64 %r9, %rd9;", 2},
      {"add.cc.u32 %r1, 0xffffffff, 2; addc.u32 %r9, 5, 6;", 12},
      {"add.cc.u32 %r1, 0xfffffffe, 1; addc.u32 %r9, 5, 6;", 11},
      {"add.cc.u32 %r1, 0xffffffff, 1; addc.cc.u32 %r1, 0xffffffff, 0; addc.u32 %r9, 0, 0;", 1},
      {"sub.cc.u32 %r1, 1, 2; subc.u32 %r9, 7, 3;", 3},
      {"sub.cc.u32 %r1, 2, 2; subc.cc.u32 %r9, 7, 3;", 4},
      {"mad.lo.cc.u32 %r1, 0x10000, 0x10000, 0xffffffff; madc.hi.u32 %r9, 0x10000, 0x10000, 2;", 3},
      {"mad.lo.cc.u32 %r1, 0x10001, 0xffff, 1; madc.hi.u32 %r9, 0x10001, 0xffff, 2;", 3},
      {"mad.lo.cc.u64 %rd9, 1, 0xffffffffffffffff, 1; addc.u32 %r9, 0, 0;", 1},
      {"div.s32 %r9, -7, 2;", static_cast<std::uint32_t>(-3)},
      {"rem.s32 %r9, -7, 2;", minus_one},
      {"min.s32 %r9, -1, 1;", minus_one},
      {"max.u32 %r9, -1, 1;", minus_one},
      {"abs.s32 %r9, -7;", 7},
      {"neg.s32 %r9, 7;", static_cast<std::uint32_t>(-7)},
      {"add.s16 %h9, 0x7fff, 1; cvt.u32.u16 %r9, %h9;", 0x8000},
      {"sub.s16 %h9, 1, 2; cvt.s32.s16 %r9, %h9;", minus_one},
      {"and.b32 %r9, 0xff00ff, 0xf0f0f0;", 0xf000f0},
      {"xor.b32 %r9, 6, 3;", 5},
      {"not.b32 %r9, 0;", minus_one},
      {"cnot.b32 %r9, 0;", 1},
      {"shl.b32 %r9, 1, 31;", 0x80000000},
      {"shl.b32 %r9, 1, 32;", 0},
      {"shr.s32 %r9, -8, 1;", static_cast<std::uint32_t>(-4)},
      {"shr.s32 %r9, -8, 40;", minus_one},
      {"shr.u32 %r9, -8, 40;", 0},
      {"shf.l.wrap.b32 %r9, 0x80000000, 1, 1;", 3},
      {"shf.r.clamp.b32 %r9, 0x80000000, 1, 32;", 1},
      {"popc.b32 %r9, 0xf0f;", 8},
      {"clz.b32 %r9, 1;", 31},
      {"clz.b64 %r9, 1;", 63},
      {"brev.b32 %r9, 1;", 0x80000000},
      {"bfind.u32 %r9, 0x1234;", 12},
      {"bfind.s32 %r9, 0xfffffff0;", 3},
      {"bfind.shiftamt.u32 %r9, 0x1234;", 19},
      {"bfind.shiftamt.u64 %r9, 1;", 63},
      {"bfind.s32 %r9, -1;", minus_one},
      {"bfind.shiftamt.u32 %r9, 0;", minus_one},
      {"bfi.b32 %r9, 5, 0xffffffff, 4, 3;", 0xffffffdf},
      {"bfi.b32 %r9, 5, 7, 4, 0;", 7},
      {"bfe.s32 %r9, 0xf0, 4, 4;", minus_one},
      {"bfe.u32 %r9, 0xf0, 4, 4;", 15},
      {"prmt.b32 %r9, 0x33221100, 0x77665544, 0x7520;", 0x77552200},
      {"prmt.b32 %r9, 0x80, 0, 0x8;", 0x808080ff},
      {"lop3.b32 %r9, 0xf0, 0xcc, 0xaa, 0x80;", 0x80},
      {"dp2a.lo.u32.u32 %r9, 0x00030002, 0x07060504, 1;", 2 * 4 + 3 * 5 + 1},
      {"dp2a.hi.u32.u32 %r9, 0x00030002, 0x07060504, 1;", 2 * 6 + 3 * 7 + 1},
      {"dp4a.s32.u32 %r9, 0x010203ff, 0x04030201, 1;", static_cast<std::uint32_t>(-1 + 6 + 6 + 4 + 1)},
      {"cvt.rz.f32.s64 %f9, 0x7fffffffffffffff; mov.b32 %r9, %f9;", bits(std::nextafter(0x1p63F, 0.0F))},
      {"cvt.rp.f32.u32 %f9, 0x1000001; mov.b32 %r9, %f9;", bits(0x1000002)},
      // predicates
      {"setp.lt.s32 %p1, -1, 1; selp.u32 %r9, 1, 0, %p1;", 1},
      {"setp.lt.u32 %p1, -1, 1; selp.u32 %r9, 1, 0, %p1;", 0},
      {"setp.eq.s32 %p1|%p2, 1, 1; selp.u32 %r9, 1, 0, %p2;", 0},
      {"setp.ne.s32 %p2, 1, 1; setp.eq.or.s32 %p1, 1, 2, %p2; selp.u32 %r9, 1, 0, %p1;", 0},
      {"setp.lt.f32 %p1, 0f7FC00000, 0f3F800000; selp.u32 %r9, 1, 0, %p1;", 0},
      {"setp.ltu.f32 %p1, 0f7FC00000, 0f3F800000; selp.u32 %r9, 1, 0, %p1;", 1},
      {"setp.nan.f32 %p1, 0f7FC00000, 0f3F800000; selp.u32 %r9, 1, 0, %p1;", 1},
      {"setp.neu.f32 %p1, 0f80000000, 0f00000000; selp.u32 %r9, 1, 0, !%p1;", 1},
      {"setp.eq.s32 %p1, 1, 1; not.pred %p2, %p1; xor.pred %p3, %p1, %p2; and.pred %p3, %p3, %p1; selp.u32 %r9, 1, 0, "
       "%p3;",
       1},
      {"mov.pred %p1, 0; @!%p1 mov.u32 %r9, 4;", 4},
      // floats
      {"add.f32 %f9, 0f3F800000, 0f33800000; mov.b32 %r9, %f9;", bits(1)},
      {"fma.rn.f32 %f9, 0f3F800001, 0f3F800001, 0fBF800002; mov.b32 %r9, %f9;", bits(0x1p-46F)},
      {"fma.rm.f32 %f9, 0f3F800000, 0f3F800000, 0fA0000000; mov.b32 %r9, %f9;", bits(std::nextafter(1.0F, 0.0F))},
      {"fma.rp.f32 %f9, 0f3F800000, 0f3F800000, 0f20000000; mov.b32 %r9, %f9;", bits(std::nextafter(1.0F, 2.0F))},
      {"fma.rz.f32 %f9, 0f3F800000, 0f3F800000, 0f20000000; mov.b32 %r9, %f9;", bits(1)},
      {"add.rz.f32 %f9, 0f3F800000, 0fA0000000; mov.b32 %r9, %f9;", bits(std::nextafter(1.0F, 0.0F))},
      {"add.rp.f32 %f9, 0f3F800000, 0fA0000000; mov.b32 %r9, %f9;", bits(1)},
      {"sub.rm.f32 %f9, 0f3F800000, 0f20000000; mov.b32 %r9, %f9;", bits(std::nextafter(1.0F, 0.0F))},
      {"mul.rp.f32 %f9, 0f3F800001, 0f3F800001; mov.b32 %r9, %f9;", bits(0x1.000006p0F)},
      {"mul.rz.f32 %f9, 0f80000000, 0f3F800000; mov.b32 %r9, %f9;", 0x80000000},
      {"mul.ftz.f32 %f9, 0f00400000, 0f3F800000; mov.b32 %r9, %f9;", 0},
      {"mul.f32 %f9, 0f00400000, 0f3F800000; mov.b32 %r9, %f9;", 0x00400000},
      {"add.sat.f32 %f9, 0f3F800000, 0f3F800000; mov.b32 %r9, %f9;", bits(1)},
      {"div.rn.f32 %f9, 0f3F800000, 0f40400000; mov.b32 %r9, %f9;", bits(1.0F / 3.0F)},
      {"max.f32 %f9, 0f7FC00000, 0f3F800000; mov.b32 %r9, %f9;", bits(1)},
      {"max.NaN.f32 %f9, 0f7FC00000, 0f3F800000; setp.nan.f32 %p1, %f9, %f9; selp.u32 %r9, 1, 0, %p1;", 1},
      {"max.f32 %f9, 0f80000000, 0f00000000; mov.b32 %r9, %f9;", 0},
      {"min.f32 %f9, 0f00000000, 0f80000000; mov.b32 %r9, %f9;", 0x80000000},
      {"neg.f32 %f9, 0f3F800000; mov.b32 %r9, %f9;", bits(-1)},
      {"abs.f32 %f9, 0fBF800000; mov.b32 %r9, %f9;", bits(1)},
      {"copysign.f32 %f9, 0f80000000, 0f3F800000; mov.b32 %r9, %f9;", bits(-1)},
      {"ex2.approx.ftz.f32 %f9, 0f40400000; mov.b32 %r9, %f9;", bits(8)},
      {"lg2.approx.f32 %f9, 0f41000000; mov.b32 %r9, %f9;", bits(3)},
      {"rcp.approx.ftz.f32 %f9, 0f40800000; mov.b32 %r9, %f9;", bits(0.25F)},
      {"rsqrt.approx.f32 %f9, 0f40800000; mov.b32 %r9, %f9;", bits(0.5F)},
      {"sqrt.rn.f32 %f9, 0f40800000; mov.b32 %r9, %f9;", bits(2)},
      {"mul.f64 %d9, 0d3FF8000000000000, 0d4000000000000000; cvt.rn.f32.f64 %f9, %d9; mov.b32 %r9, %f9;", bits(3)},
      // 16-bit floats; 0x3c00 and 0x3f80 are 1
      {"mov.b16 %h1, 0x3c00; mov.b16 %h2, 0x1001; add.f16 %h9, %h1, %h2; cvt.u32.u16 %r9, %h9;", 0x3c01},
      {"add.f16x2 %r9, 0x40003c00, 0x3c004000;", 0x42004200},
      {"sub.bf16x2 %r9, 0x40003f80, 0x3f804000;", 0x3f80bf80},
      {"mul.f16x2 %r9, 0x40007bff, 0xbc004000;", 0xc0007c00},
      {"mul.sat.f16x2 %r9, 0x40007e00, 0x40003c00;", 0x3c000000},
      {"fma.rn.f16x2 %r9, 0x3c01, 0x3c01, 0xbc02;", 0x0010},  // 2^-20
      // 1 + 2^-11 is halfway between two numbers of f16; the third operand decides
      {"fma.rn.f16x2 %r9, 0x0c010c01, 0x3c003c00, 0x00003c00;", 0x0c013c00},
      {"fma.rn.f16x2 %r9, 0x10001000, 0x3c013bff, 0x3c003c00;", 0x3c013c00},
      {"fma.rn.bf16x2 %r9, 0x3b803b80, 0x3f813f7f, 0x3f803f80;", 0x3f813f80},
      {"fma.rn.relu.f16x2 %r9, 0xbc003c00, 0x3c003c00, 0x00007e00;", 0x7e00},
      {"min.f16x2 %r9, 0x7e003c00, 0x40008000;", 0x40008000},
      {"max.NaN.bf16x2 %r9, 0x7fc0bf80, 0x40003f80; and.b32 %r9, %r9, 0x7fffffff;", 0x7fc03f80},
      {"neg.f16x2 %r9, 0x3c00bc00;", 0xbc003c00},
      {"abs.bf16x2 %r9, 0xbf803f80;", 0x3f803f80},
      {"ex2.approx.f16x2 %r9, 0x4200bc00;", 0x48003800},
      {"tanh.approx.bf16x2 %r9, 0x7f80;", 0x3f80},
      {"mov.b16 %h1, 0x3c00; mov.b16 %h2, 0x7e00; setp.ltu.f16 %p1, %h1, %h2; selp.u32 %r9, 1, 0, %p1;", 1},
      {"mov.b16 %h1, 0xbf80; mov.b16 %h2, 0; setp.gt.bf16 %p1, %h1, %h2; selp.u32 %r9, 1, 0, %p1;", 0},
      {"set.eq.f16x2.f16x2 %r9, 0x3c000000, 0x40008000;", 0x3c00},
      {"set.ne.u32.bf16x2 %r9, 0x3f800000, 0x40008000;", 0xffff0000},
      {"{.reg.b32 f, g; mov.b32 f, 7; mov.b32 g, f; mov.b32 %r9, g;}", 7},
      // conversions
      {"cvt.s64.s32 %rd9, -1; shr.u64 %rd9, %rd9, 32; cvt.u32.u64 %r9, %rd9;", minus_one},
      {"cvt.u64.u32 %rd9, -1; shr.u64 %rd9, %rd9, 32; cvt.u32.u64 %r9, %rd9;", 0},
      {"cvt.s32.s8 %r9, 0x80;", static_cast<std::uint32_t>(-128)},
      {"cvt.sat.u8.s32 %r9, 300;", 255},
      {"cvt.rzi.s32.f32 %r9, 0fC0333333;", static_cast<std::uint32_t>(-2)},
      {"cvt.rni.s32.f32 %r9, 0f40200000;", 2},
      {"cvt.rzi.s32.f32 %r9, 0f7FC00000;", 0},
      {"cvt.rzi.s32.f32 %r9, 0f7F800000;", 0x7fffffff},
      {"cvt.rzi.u32.f32 %r9, 0fBF800000;", 0},
      {"cvt.rni.f32.f32 %f9, 0f3FC00000; mov.b32 %r9, %f9;", bits(2)},
      {"cvt.sat.f32.f32 %f9, 0fBF800000; mov.b32 %r9, %f9;", 0},
      {"cvt.rn.f32.s32 %f9, 0x1000001; mov.b32 %r9, %f9;", bits(0x1000000)},
      {"cvt.rn.f32.u32 %f9, -1; mov.b32 %r9, %f9;", bits(0x1p32F)},
      {"cvt.rn.f16.f32 %h9, 0f3FC00000; cvt.u32.u16 %r9, %h9;", 0x3e00},
      {"cvt.rn.bf16.f32 %h9, 0f3F818000; cvt.u32.u16 %r9, %h9;", 0x3f82},
      {"mov.b16 %h9, 0x3e00; cvt.f32.f16 %f9, %h9; mov.b32 %r9, %f9;", bits(1.5F)},
      {"cvt.rn.bf16x2.f32 %r9, 0f3F800000, 0f40000000;", 0x3f804000},
      {"cvt.rn.f16x2.f32 %r9, 0f3F800000, 0f40000000;", 0x3c004000},
      {"cvt.rna.tf32.f32 %r9, 0f3F801000;", 0x3f802000},
      {"mov.b16 %h1, 0x1234; mov.b16 %h2, 0x5678; mov.b32 %r9, {%h1, %h2};", 0x56781234},
      {"mov.b64 %rd9, {1, 2}; mov.b64 {%r8, %r9}, %rd9;", 2},
      // operations across lanes; the test looks at lane 0
      {"shfl.sync.bfly.b32 %r9, %r0, 5, 31, -1;", 5},
      {"shfl.sync.down.b32 %r9, %r0, 3, 31, -1;", 3},
      {"shfl.sync.up.b32 %r9|%p1, %r0, 3, 0, -1; selp.u32 %r9, 1, 0, %p1;", 0},
      {"shfl.sync.idx.b32 %r9, %r0, 9, 31, -1;", 9},
      {"shfl.sync.idx.b32 %r9, %r0, 9, 0x181f, -1;", 1},
      {"setp.lt.u32 %p1, %r0, 3; vote.sync.ballot.b32 %r9, %p1, -1;", 7},
      {"setp.lt.u32 %p1, %r0, 3; vote.sync.any.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;", 1},
      {"setp.lt.u32 %p1, %r0, 3; vote.sync.all.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;", 0},
      {"redux.sync.add.u32 %r9, %r0, -1;", 31 * 16},
      {"redux.sync.max.s32 %r9, %r0, -1;", 31},
      {"elect.sync %r8|%p1, -1; selp.u32 %r9, 1, 0, %p1;", 1},
      {"and.b32 %r1, %r0, 3; match.any.sync.b32 %r9, %r1, -1;", 0x11111111},
      {"activemask.b32 %r9;", minus_one},
      {"mov.u32 %r9, %laneid;", 0},
      {"mov.u32 %r9, %ntid.x;", 32},
      {"mov.u32 %r9, %lanemask_lt;", 0},
  };
  return all;
}

TEST(PtxInstructions, GiveKnownValues) {
  for (const Value& value : values()) {
    std::vector<std::uint32_t> x(32, 0xdead);
    const std::string text =
        by_hand(std::string("  ") + value.code + "\n  setp.eq.u32 %p9, %r0, 0; @%p9 st.global.u32 [%rd0], %r9;");
    try {
      launch(text, x);
    } catch (const Error& error) {
      ADD_FAILURE() << value.code << ": " << error.what();
      continue;
    }
    EXPECT_EQ(x[0], value.result) << value.code;
  }
}

TEST(PtxInstructions, AtomicsCombineOnceForEachLane) {
  std::vector<std::uint32_t> x = {10, 10, 10, 10, bits(0.5F), 0, 7, 0};
  launch(by_hand("  atom.global.add.u32 %r1, [%rd0], 2;\n  red.global.max.s32 [%rd0+4], %r0;\n"
                 "  atom.global.inc.u32 %r1, [%rd0+8], 12;\n  atom.global.exch.b32 %r1, [%rd0+12], 5;\n"
                 "  atom.global.add.f32 %f1, [%rd0+16], 0f3F800000;\n  atom.global.cas.b32 %r1, [%rd0+24], 7, 9;\n"
                 "  atom.add.relaxed.gpu.s32 %r1, [%rd0+28], 3;"),
         x);
  EXPECT_EQ(x[0], 10U + 64);
  EXPECT_EQ(x[1], 31U);
  EXPECT_EQ(x[2], (10 + 32) % 13U);
  EXPECT_EQ(x[3], 5U);
  EXPECT_EQ(x[4], bits(32.5F));
  EXPECT_EQ(x[6], 9U);
  EXPECT_EQ(x[7], 32U * 3) << "libcu++ names the operation before the order";
}

TEST(PtxInstructions, LoadsExtendAndVectorsAreInOrder) {
  std::vector<std::uint32_t> x = {0x8081ff7f, 1, 2, 3, 0, 0, 0, 0};
  launch(by_hand("  setp.ne.u32 %p1, %r0, 0; @%p1 exit;\n  ld.global.s8 %r1, [%rd0+1];\n  ld.global.u8 %r2, [%rd0+1];\n"
                 "  ld.global.nc.v4.u32 {%r3, %r4, %r5, %r6}, [%rd0];\n"
                 "  st.global.v2.u32 [%rd0+16], {%r1, %r2};\n  st.global.v2.u32 [%rd0+24], {%r6, %r4};\n"
                 "  st.global.u8 [%rd0+4], %r1;"),
         x);
  EXPECT_EQ(x[4], minus_one);
  EXPECT_EQ(x[5], 255U);
  EXPECT_EQ(x[6], 3U);
  EXPECT_EQ(x[7], 1U);
  EXPECT_EQ(x[1], 255U);
}

// NVRTC loads four elements where a kernel uses three. Another warp may write the fourth one, but it must exist.
TEST(PtxInstructions, WhatALoadDoesNotUseIsNotRead) {
  const auto found = [](const std::string& stored) {
    const std::string body =
        "  setp.ne.u32 %p1, %r0, 0;\n  @%p1 bra there;\n  st.shared.v2.u32 [s], {1, 2};\n  st.shared.u32 [s+8], 3;\n"
        "there:\n  bar.sync 0;\n  setp.ge.u32 %p2, %r0, 32;\n  @%p2 bra other;\n"
        "  ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [s];\n  st.global.u32 [%rd0], " +
        stored + ";\n  exit;\nother:\n  st.shared.u32 [s+12], 4;\n";
    return finding(by_hand(body, ".shared .align 16 .b8 s[16];"), {.threads = 64});
  };
  EXPECT_EQ(found("%r3"), "");
  EXPECT_THAT(found("%r4"), HasSubstr("race"));
  const std::string of_three =
      by_hand("  ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd0];\n  st.global.u32 [%rd0], %r3;");
  EXPECT_EQ(finding(of_three, {}, 4), "");
  EXPECT_THAT(finding(of_three, {}, 3), HasSubstr("out of bounds: 16 bytes at byte 0 of 'x'"));
}

// Each warp fills the array with the same values and reads what it wrote itself. Kernel Tuner's expdist does this.
TEST(PtxInstructions, WarpsMayWriteTheSameBytes) {
  const auto found = [](const std::string& body, std::int64_t threads = 64) {
    std::set<std::string> findings;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const std::string text = finding(by_hand("  and.b32 %r1, %r0, 31;\n  shl.b32 %r2, %r1, 2;\n  mov.u32 %r3, s;\n"
                                               "  add.u32 %r2, %r2, %r3;\n  setp.lt.u32 %p1, %r0, 64;\n"
                                               "  setp.lt.u32 %p2, %r0, 32;\n" +
                                                   body,
                                               ".shared .align 16 .b8 s[128];"),
                                       {.threads = threads, .seed = seed});
      findings.insert(text.find("race: ") == std::string::npos ? text : "race");
    }
    return findings;
  };
  const std::string fill = "  st.shared.u32 [%r2], %r1;\n  ld.shared.u32 %r5, [%r2];\n";
  const std::string barrier = "  bar.sync 0;\n", other = "  @%p2 st.shared.u32 [%r2], 77;\n";
  const std::set<std::string> nothing{""}, races{"race"};
  EXPECT_EQ(found(fill), nothing);
  EXPECT_EQ(found(fill + fill), nothing);
  EXPECT_EQ(found("  st.shared.u32 [%r2], %r0;\n  ld.shared.u32 %r5, [%r2];\n"), races) << "other values";
  EXPECT_EQ(found("  @%p1 st.shared.u32 [%r2], %r1;\n  ld.shared.u32 %r5, [%r2];\n", 96), races)
      << "the third warp reads what it did not write";
  EXPECT_EQ(found("  @%p1 st.shared.u32 [%r2], %r1;\n" + barrier + "  ld.shared.u32 %r5, [%r2];\n", 96), nothing);
  EXPECT_EQ(found(fill + other), races) << "the other warp may write after it";
  EXPECT_EQ(found(fill + barrier + other), nothing);
}

// __syncthreads_count, _and and _or; half of the threads take part in another barrier twice.
TEST(PtxInstructions, BarriersCountVotes) {
  for (const std::uint64_t seed : drawn_seeds(5)) {
    std::vector<std::uint32_t> x(4 * 128);
    launch(by_hand(R"(  setp.ge.u32 %p1, %r0, 64;
  setp.lt.u32 %p2, %r0, 100;
  setp.lt.u32 %p3, %r0, 128;
  bar.red.popc.u32 %r1, 0, %p2;
  bar.red.and.pred %p4, 0, %p2;
  bar.red.and.pred %p5, 0, %p3;
  bar.red.or.pred %p6, 0, !%p3;
  selp.u32 %r2, 1, 0, %p4;
  selp.u32 %r3, 2, 0, %p5;
  selp.u32 %r4, 4, 0, %p6;
  add.u32 %r2, %r2, %r3;
  add.u32 %r2, %r2, %r4;
  mov.u32 %r5, 0;
  mov.u32 %r6, 0;
  @%p1 bra.uni there;
  bra.uni end;
there:
  bar.red.popc.u32 %r5, 1, 64, !%p2;
  bar.red.popc.u32 %r6, 1, 64, %p2;
end:
  mul.wide.u32 %rd1, %r0, 16;
  add.s64 %rd1, %rd0, %rd1;
  st.global.v4.u32 [%rd1], {%r1, %r2, %r5, %r6};)"),
           x, {.threads = 128, .seed = seed});
    for (std::size_t t = 0; t < 128; ++t) {
      const bool voted = t >= 64;
      EXPECT_EQ(x[4 * t], 100U);
      EXPECT_EQ(x[4 * t + 1], 2U);
      EXPECT_EQ(x[4 * t + 2], voted ? 28U : 0);
      EXPECT_EQ(x[4 * t + 3], voted ? 36U : 0);
    }
  }
}

// Lanes diverge and reconverge. Each lane takes a different number of trips.
TEST(PtxInstructions, LanesPartAndMeet) {
  for (const std::uint64_t seed : drawn_seeds(20)) {
    std::vector<std::uint32_t> x(64);
    launch(by_hand(R"(  mov.u32 %r1, 0;
  mov.u32 %r2, 0;
L1:
  setp.ge.u32 %p1, %r1, %r0;
  @%p1 bra L2;
  add.s32 %r2, %r2, %r1;
  add.s32 %r1, %r1, 1;
  and.b32 %r3, %r1, 1;
  setp.eq.u32 %p2, %r3, 0;
  @%p2 bra L1;
  add.s32 %r2, %r2, 100;
  bra.uni L1;
L2:
  shfl.sync.idx.b32 %r4, %r2, 5, 31, -1;
  mul.wide.u32 %rd1, %r0, 4;
  add.s64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], %r2;
  st.global.u32 [%rd2+128], %r4;)"),
           x, {.seed = seed});
    for (std::uint32_t i = 0; i < 32; ++i) {
      EXPECT_EQ(x[i], (i == 0 ? 0 : i * (i - 1) / 2) + (i + 1) / 2 * 100) << i;
      EXPECT_EQ(x[32 + i], 10U + 300);
    }
  }
}

// A lane waits for another lane of its warp. With independent thread scheduling, both make progress.
TEST(PtxInstructions, LanesOfAWarpMayWaitForEachOther) {
  for (const std::uint64_t seed : drawn_seeds(20)) {
    std::vector<std::uint32_t> x(4);
    launch(by_hand(R"(  setp.eq.u32 %p1, %r0, 7;
  @%p1 bra L2;
L1:
  ld.volatile.global.u32 %r1, [%rd0];
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra L1;
  bra.uni L3;
L2:
  st.volatile.global.u32 [%rd0], 1;
L3:
  atom.global.add.u32 %r2, [%rd0+4], 1;)"),
           x, {.seed = seed});
    EXPECT_EQ(x[1], 32U);
  }
}

// The first block waits for later blocks, which must begin while it waits.
TEST(PtxInstructions, BlocksMayWaitForLaterOnes) {
  std::vector<std::uint32_t> x(4);
  launch(by_hand(R"(  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra L2;
L1:
  ld.volatile.global.u32 %r2, [%rd0];
  setp.ne.u32 %p2, %r2, 3;
  @%p2 bra L1;
  bra.uni L3;
L2:
  setp.eq.u32 %p3, %r0, 0;
  @%p3 red.global.add.u32 [%rd0], 1;
L3:
  @%p1 bra L4;
  st.global.u32 [%rd0+4], 9;
L4:)"),
         x, {.blocks = 4});
  EXPECT_EQ(x[1], 9U);
}

// PTX ISA, "exit": a barrier does not wait for threads that have ended. Masks apply only to the remaining lanes.
TEST(PtxInstructions, NothingWaitsForThreadsThatHaveEnded) {
  for (const std::uint64_t seed : drawn_seeds(8)) {
    std::vector<std::uint32_t> x(4);
    launch(by_hand(R"(  setp.ge.u32 %p1, %r0, 40;
  @%p1 exit;
  setp.eq.u32 %p2, %r0, 32;
  @%p2 st.global.u32 [%rd0], 7;
  bar.sync 0;
  vote.sync.ballot.b32 %r1, 1, 0xffffffff;
  ld.global.u32 %r3, [%rd0];
  setp.eq.u32 %p3, %r0, 0;
  @%p3 st.global.u32 [%rd0+4], %r3;
  @%p2 st.global.u32 [%rd0+8], %r1;)"),
           x, {.threads = 96, .seed = seed});
    EXPECT_EQ(x[1], 7U);
    EXPECT_EQ(x[2], 0xffU);
  }
}

/// A list of `count` registers, such as "{%r1,%r2}".
std::string register_list(const std::string& name, int first, int count) {
  std::string text;
  for (int i = first; i < first + count; ++i) text += (i == first ? "{" : ",") + fmt::format("{}{}", name, i);
  return text + "}";
}

/// d = a b + c by wmma of 16 x 16 matrices in the array x: a and c by rows, b and d by columns. `type`: f16 or bf16.
/// `offset`: added to the address of a.
std::string wmma_by_hand(const std::string& type, int offset = 0) {
  const bool is_f16 = type == "f16";
  const int count = is_f16 ? 8 : 4;
  const std::string a = register_list("%r", 1, count), b = register_list("%r", 11, count),
                    c = register_list("%f", 1, 8), d = register_list("%f", 11, 8);
  return by_hand(
      fmt::format("  mov.u32 %r30, 16;\n"
                  "  wmma.load.a.sync.aligned.row.m16n16k16.global.{0} {1}, [%rd0+{2}], %r30;\n"
                  "  wmma.load.b.sync.aligned.col.m16n16k16.global.{0} {3}, [%rd0+512];\n"
                  "  wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {4}, [%rd0+1024], 16;\n"
                  "  wmma.mma.sync.aligned.row.col.m16n16k16.f32.{5} {6}, {1}, {3}, {4};\n"
                  "  wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%rd0+2048], {6}, %r30;",
                  type, a, offset, b, c, is_f16 ? "f32" : "bf16.bf16.f32", d));
}

TEST(PtxInstructions, WmmaMultipliesMatrices) {
  for (const ir::DType dtype : {ir::DType::f16, ir::DType::bf16}) {
    const auto factor = [](std::uint32_t i) { return static_cast<float>(i * 7 % 11) - 5; };
    const auto initial = [](std::uint32_t i) { return static_cast<float>(i) / 2; };
    std::vector<std::uint32_t> x(768);
    for (std::uint32_t i = 0; i < 512; ++i)
      x[i / 2] |= std::uint32_t{ir::float16_bits(factor(i), dtype)} << (16 * (i % 2));
    for (std::uint32_t i = 0; i < 256; ++i) x[256 + i] = bits(initial(i));
    launch(wmma_by_hand(dtype == ir::DType::f16 ? "f16" : "bf16"), x);
    for (std::uint32_t m = 0; m < 16; ++m)
      for (std::uint32_t n = 0; n < 16; ++n) {
        float sum = initial(16 * m + n);
        for (std::uint32_t k = 0; k < 16; ++k) sum += factor(16 * m + k) * factor(256 + 16 * n + k);
        ASSERT_EQ(x[512 + 16 * n + m], bits(sum)) << m << ' ' << n;
      }
  }
  EXPECT_THAT(finding(wmma_by_hand("f16", 16)), HasSubstr("misaligned: a matrix at"));
}

// PTX ISA, "mma" and "ldmatrix": the behaviour is undefined if a thread of the warp has exited.
TEST(PtxInstructions, MatrixInstructionsNeedAWholeWarp) {
  const std::string product =
      "  mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, "
      "{%f1,%f2,%f3,%f4};\n";
  const std::string load = "  mov.u32 %r2, s;\n  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];\n";
  const std::string shared = ".shared .align 16 .b8 s[16];";
  for (const std::string& body : {product, load}) {
    EXPECT_EQ(finding(by_hand("  setp.ge.u32 %p1, %r0, 32;\n  @%p1 exit;\n" + body, shared), {.threads = 64}), "");
    EXPECT_THAT(finding(by_hand("  setp.ge.u32 %p1, %r0, 20;\n  @%p1 exit;\n" + body, shared)),
                HasSubstr("expected all 32 lanes of the warp, but lanes 0xfff00000 have ended or do not exist"));
    EXPECT_THAT(finding(by_hand(body, shared), {.threads = 48}), HasSubstr("but lanes 0xffff0000 have ended"));
  }
}

TEST(PtxInstructions, Hangs) {
  EXPECT_THAT(finding(by_hand("L1:\n  ld.volatile.global.u32 %r1, [%rd0];\n  setp.eq.u32 %p1, %r1, 0;\n  @%p1 bra L1;"),
                      {.max_instructions = 100'000}),
              HasSubstr("hang: no thread ended and no memory changed"));
  EXPECT_THAT(finding(by_hand("  setp.eq.u32 %p1, %r0, 3;\n  @%p1 bra L1;\n  bar.sync 0;\n  bra.uni L2;\nL1:\n"
                              "  bar.sync 1;\nL2:")),
              HasSubstr("of warp 0 only, and expected by all: warp 0 (lanes"));
  EXPECT_THAT(finding(by_hand("  bar.sync 0, 64;")), HasSubstr("deadlock"));
}

TEST(PtxInstructions, AccessesOutOfBounds) {
  const auto expect = [](const std::string& body, const char* says, const char* declarations = "") {
    EXPECT_THAT(finding(by_hand(body, declarations)), HasSubstr(says)) << body;
  };
  expect("  ld.global.u32 %r1, [%rd0+4096];",
         "out of bounds: 4 bytes at byte 4096 of 'x', which has 4096 bytes; block 0");
  expect("  ld.global.u32 %r1, [%rd0+-4];", "out of bounds: 4 bytes at byte -4 of 'x'");
  expect("  ld.global.u32 %r1, [1024];", "not an address in global memory");
  expect("  ld.global.v2.u32 {%r1, %r2}, [%rd0+4];", "misaligned: 8 bytes");
  expect("  st.shared.u32 [s+64], 1;", "out of bounds: 4 bytes at byte 64 of shared memory, which has 64 bytes",
         ".shared .align 4 .b8 s[64];");
  expect("  st.shared.u32 [0], 1;", "out of bounds: 4 bytes at byte -1024 of shared memory");
  expect("  st.local.u32 [l+16], 1;", "out of bounds: 4 bytes at byte 16 of local memory",
         ".local .align 4 .b8 l[16];");
  expect("  mov.u64 %rd1, k_param_0; cvta.param.u64 %rd1, %rd1; st.u32 [%rd1], 1;", "writes a parameter");
  expect("  trap;", "the kernel traps");
}

}  // namespace
}  // namespace deplo::measure::ptx
