// Reading PTX: valid modules, refusals in one line, and damaged texts, which never crash the reader or the machine.
#include "measure/ptx/text/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/rng.h"
#include "measure/ptx/by_hand.h"

namespace deplo::measure::ptx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* sample = R"(// a comment
.version 9.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 smem[];
.global .align 4 .b8 table[8] = {1, 2, 3, 255};
.visible .entry k(
	.param .u64 .ptr .align 1 k_param_0,
	.param .align 64 .b8 k_param_1[128]
)
.maxntid 128, 1, 1
.reqnctapercluster 2, 1, 1
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<5>;
	.reg .b64 	%rd<3>;
	.shared .align 16 .b8 _Zsmem[64];
	.loc	1 7 3
	ld.param.u64 	%rd1, [k_param_0];
	mov.u32 	%r1, %tid.x; /* another
	comment */ setp.ne.s32 	%p1, %r1, 0;
	@!%p1 bra 	$L__BB0_2;
	.loc	1 9 5, function_name $L__info_string0, inlined_at 1 21 3
	{.reg .pred p;
elect.sync _|p, -1;
selp.s32 %r2, 1, 0, p;}
$L__BB0_2:
	.pragma "nounroll";
	{.reg .pred p;
	setp.eq.u32 p, %r1, 0x1F;
	@p st.global.u32 [%rd1+-4], 7;}
	ret;
}
.section .debug_str { .b8 0, 1 }
)";

TEST(PtxText, WhatAModuleHas) {
  const Module module = parse(sample);
  EXPECT_EQ(module.target, "sm_90a");
  ASSERT_EQ(module.variables.size(), 2U);
  EXPECT_EQ(module.variables[0].size, 0U);
  EXPECT_EQ(module.variables[1].initial, (std::vector<std::uint8_t>{1, 2, 3, 255}));
  ASSERT_EQ(module.functions.size(), 1U);
  const Function& k = module.functions[0];
  EXPECT_EQ(k.max_threads, 128);
  EXPECT_EQ(k.cluster, 2);
  ASSERT_EQ(k.parameters.size(), 2U);
  EXPECT_EQ(k.parameters[1].size, 128U);
  EXPECT_EQ(k.parameters[1].align, 64U);
  EXPECT_EQ(k.registers.size(), 12U);
  ASSERT_EQ(k.statements.size(), 9U);
  EXPECT_EQ(k.statements[0].place.line, 7);
  EXPECT_EQ(k.statements[3].guard, "%p1");
  EXPECT_TRUE(k.statements[3].guard_negated);
  EXPECT_EQ(k.statements[4].opcode, "elect.sync");
  EXPECT_EQ(k.statements[4].place.inlined_at, 21);
  EXPECT_EQ(k.statements[4].line, 25);
  EXPECT_EQ(k.labels.at("$L__BB0_2"), 6U);
  EXPECT_NE(k.statements[5].operands[3].name, k.statements[7].guard) << "two predicates p in two blocks";
  EXPECT_EQ(static_cast<std::int64_t>(k.statements[7].operands[0].bits), -4);
}

TEST(PtxText, LayoutOfTheKernel) {
  const Program program = decode(parse(sample), "k");
  EXPECT_EQ(program.parameter_offsets, (std::vector<std::uint64_t>{0, 64}));
  EXPECT_EQ(program.parameter_bytes, 192U);
  EXPECT_TRUE(program.dynamic_shared);
  EXPECT_EQ(program.shared_bytes, 1024U) << "dynamic memory is aligned to 1024";
}

std::string refusal(const std::string& text, const std::string& entry = "k") {
  try {
    decode(parse(text), entry);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string with_function(const std::string& callee, const std::string& caller) {
  return ".version 9.0 .target sm_80 .address_size 64 .func f() { " + callee + " ret; } .entry k() { " + caller + " }";
}

// Calls are replaced by the body of the function, with its own registers, labels and variables.
TEST(PtxText, FunctionsThatAreCalled) {
  std::vector<std::uint32_t> x(32);
  launch(R"(.version 9.0
.target sm_80
.address_size 64
.func (.param .b32 result) twice(.param .b32 value) {
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  .local .align 4 .b8 l[4];
  ld.param.b32 %r1, [value];
  setp.lt.u32 %p1, %r1, 8;
  @%p1 bra L1;
  st.local.u32 [l], %r1;
  ld.local.u32 %r2, [l];
  add.s32 %r1, %r1, %r2;
  st.param.b32 [result], %r1;
  ret;
L1:
  st.param.b32 [result], %r1;
  ret;
}
.visible .entry k(.param .u64 k_param_0) {
  .reg .b32 %r<5>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [k_param_0];
  mov.u32 %r1, %tid.x;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), twice, (a); ld.param.b32 %r2, [b]; }
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), twice, (a); ld.param.b32 %r2, [b]; }
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %r2;
  ret;
}
)",
         x);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(x[i], i < 8 ? i : 4 * i);
}

TEST(PtxText, RefusalsAreOneLine) {
  const auto expect = [](const std::string& text, const char* message) {
    EXPECT_THAT(refusal(text), HasSubstr(message));
    EXPECT_THAT(refusal(text), Not(HasSubstr("\n")));
  };
  expect(by_hand("  tcgen05.alloc.b32 [%r1], 32;"), "PTX line 15: the PTX machine does not execute tcgen05.alloc.b32");
  expect(by_hand("  add.s32 %r1, %r2;"), "PTX line 15: add.s32: expected 3 operands, found 2");
  expect(by_hand("  add.s32 %r1, %r2, %rd1;"), "add.s32: expected an operand of 32 bits, found %rd1 of 64");
  expect(by_hand("  add.s32 %r1, %r2, %r99;"), "expected a register or a variable, found '%r99'");
  expect(by_hand("  bra nowhere;"), "bra: expected a label, found 'nowhere'");
  expect(by_hand("  call.uni (%r1), f, (%r2);"),
         "calls of printf, of assert and of functions that the file defines, found 'f'");
  expect(by_hand("  mov.u32 %r1, 1"), "expected ','");
  expect("", "expected .version");
  expect(with_function("", "call f, (a);"), "f: expected 0 arguments, found 1");
  expect(with_function("call f, ();", "call f, ();"), "expected calls without recursion");
  expect(".version 9.0 .wrong", "expected a directive of a module, found '.wrong'");
  expect(by_hand("  mov.u32 %r1, 99999999999999999999;"), "expected a number of at most 64 bits");
  expect(by_hand("  setmaxnreg.inc.sync.aligned.u32 25;"), "expected a multiple of 8 from 24 to 256");
  expect(by_hand("", ".reg .b32 %x<4000000>;"), "expected at most 262144 registers");
  expect(by_hand("", ".reg .b32 %x<18446744073709551615>;"), "expected at most 262144 registers");
  expect(by_hand("", "", ".reqnctapercluster 2, 2, 1"), "expected clusters of blocks in x only");
  std::string nested;
  for (int i = 0; i < 200'000; ++i) nested += "{a: ";
  expect(by_hand(nested), "expected at most 100 nested blocks");
  EXPECT_EQ(refusal(by_hand("")), "");
  EXPECT_EQ(refusal(by_hand(""), "other"), "expected the entry 'other' in the PTX, found k");
}

// A name that stands for several entries is refused, as is no name.
TEST(PtxText, TheEntryIsUnambiguous) {
  const std::string two =
      ".version 9.0 .target sm_80 .address_size 64 .entry _Z1kPi() { ret; } .entry _Z1kPf() { ret; }";
  const std::string templates = two + " .entry _Z1tIdEvPT_() { ret; } .entry _Z1tIfEvPT_() { ret; } .entry _Z1uv() {}";
  EXPECT_EQ(refusal(".version 9.0 .target sm_80 .address_size 64", ""),
            "expected a kernel (a __global__ function), found none");
  EXPECT_EQ(refusal(two, ""), "expected the name of an entry, found _Z1kPi, _Z1kPf in the PTX");
  EXPECT_EQ(refusal(templates, "k"), "expected the name of one of the entries 'k' in the PTX: _Z1kPi, _Z1kPf");
  EXPECT_EQ(refusal(templates, "t<float>"),
            "expected the name of one of the entries 't<float>' in the PTX: _Z1tIdEvPT_, _Z1tIfEvPT_");
  EXPECT_EQ(decode(parse(templates), "_Z1kPf").entry, "_Z1kPf");
  EXPECT_EQ(decode(parse(templates), "u").entry, "_Z1uv");
}

// A damaged text either runs or gives an error with a message.
TEST(PtxText, DamagedTextsAreRefused) {
  const std::string text = by_hand(R"(
  mul.wide.u32 %rd1, %r0, 4;
  add.s64 %rd2, %rd0, %rd1;
  ld.global.u32 %r1, [%rd2];
  mov.u32 %r2, s;
  mad.lo.s32 %r2, %r0, 16, %r2;
  cp.async.ca.shared.global [%r2], [%rd0], 16;
  cp.async.commit_group;
  cp.async.wait_group 0;
  setp.lt.u32 %p1, %r0, 7;
  @%p1 bra L1;
  shfl.sync.idx.b32 %r3|%p2, %r1, 31, 31, 0xffffff80;
  bra.uni L2;
L1:
  fma.rn.f32 %f1, %f2, 0f3F800000, %f3;
L2:
  bar.sync 0;
  ld.shared.v2.f32 {%f4, %f5}, [%r2+8];
  mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f6,%f7,%f8,%f9}, {%r4,%r5,%r6,%r7}, {%r8,%r9}, {%f6,%f7,%f8,%f9};
  cvt.rn.f16x2.f32 %r10, %f4, %f5;
  st.global.u32 [%rd2], %r10;)",
                                   ".shared .align 16 .b8 s[512];");
  ASSERT_EQ(finding(text), "");
  Rng rng(3);
  const std::string marks = "0123456789abfrsux%.,;{}[]()@!|+- \n\"";
  for (int i = 0; i < 3'000; ++i) {
    std::string damaged = text;
    for (std::uint64_t n = 1 + rng.below(4); n > 0; --n) {
      const std::size_t at = rng.below(damaged.size());
      switch (rng.below(3)) {
        case 0:
          damaged[at] = marks[rng.below(marks.size())];
          break;
        case 1:
          damaged.erase(at, 1 + rng.below(12));
          break;
        default:
          damaged.insert(at, text.substr(rng.below(text.size()), 1 + rng.below(12)));
      }
    }
    std::vector<std::uint32_t> x(64);
    try {
      launch(damaged, x, {.seed = rng.next(), .max_instructions = 10'000});
    } catch (const Error& error) {
      EXPECT_STRNE(error.what(), "") << damaged;
    }
  }
}

}  // namespace
}  // namespace deplo::measure::ptx
