// Loops and instruction counts of captured machine code. The expected figures were counted by hand in the listings.
#include "measure/cuda/sass/instruction_mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "measure/cuda/sass/fixture.h"

namespace deplo::measure::cuda::sass {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using Counts = std::map<std::string, std::int64_t>;

Counts counts(const InstructionMix& mix) {
  Counts named;
  for (const auto& [kind, count] : mix.kinds) named[name(kind)] = count;
  return named;
}

const LoopMix& loop(const KernelMix& kernel, const std::string& label) {
  for (const LoopMix& one : kernel.loops)
    if (one.label == label) return one;
  throw std::out_of_range(label);
}

std::vector<std::string> labels(const KernelMix& kernel) {
  std::vector<std::string> all;
  for (const LoopMix& one : kernel.loops) all.push_back(std::string(2 * one.depth, ' ') + one.label);
  return all;
}

/// Returns a function with these lines: labels, and instructions without an address and a semicolon.
Listing listing_of(const std::vector<std::string>& lines) {
  std::string text = "\t.target\tsm_90\n\t.type k,@function\nk:\n";
  for (const std::string& line : lines) text += line.ends_with(':') ? line + "\n" : "  /*0000*/ " + line + " ;\n";
  return parse_listing(text);
}

TEST(InstructionMix, AMatmulThatCopiesByTma) {
  const KernelMix kernel = kernel_mix(parse_listing(captured("matmul_sm_90")));
  EXPECT_EQ(kernel.whole.instructions, 483) << "496 with padding";
  EXPECT_EQ(counts(kernel.whole)["fp32"], 256);
  EXPECT_EQ(counts(kernel.whole)["LDS.128"], 32);
  EXPECT_EQ(counts(kernel.whole)["STG.128"], 4);
  EXPECT_EQ(counts(kernel.whole)["bulk copy"], 4);
  // The loops that wait for barriers at the end of the code and the `BRA.U.ANY` around each copy do not count as loops.
  EXPECT_THAT(labels(kernel), ElementsAre(".L_x_11"));
  const InstructionMix& hot = kernel.loops[0].mix;
  EXPECT_EQ(hot.instructions, 207) << "201 in a row, and 6 that wait";
  EXPECT_THAT(counts(hot),
              UnorderedElementsAre(Pair("fp32", 128), Pair("LDS.128", 16), Pair("bulk copy", 2), Pair("barrier", 6),
                                   Pair("control", 11), Pair("move", 8), Pair("integer", 36)));
  EXPECT_NEAR(hot.arithmetic_share(), 128.0 / 207, 1e-12);
  EXPECT_EQ(hot.calls, 0);
  EXPECT_EQ(issue_bound(hot, "sm_90").cycles, 207);
  EXPECT_EQ(issue_bound(hot, "sm_90").limiter, Pipe::issue);
}

TEST(InstructionMix, AMatmulThatCopiesByThreads) {
  const KernelMix kernel = kernel_mix(parse_listing(captured("matmul_sm_80")));
  EXPECT_EQ(kernel.whole.instructions, 776) << "792 with padding";
  EXPECT_EQ(counts(kernel.whole)["fp32"], 256);
  EXPECT_EQ(counts(kernel.whole)["LDGSTS.128"], 24);
  EXPECT_EQ(kernel.whole.calls, 0) << "the one CALL is a branch within the kernel";
  EXPECT_THAT(labels(kernel),
              ElementsAre(".L_x_4", ".L_x_5", ".L_x_10", ".L_x_11", ".L_x_23", "  .L_x_16", "  .L_x_21"));
  const InstructionMix& hot = loop(kernel, ".L_x_23").mix;
  EXPECT_EQ(hot.instructions, 350);
  EXPECT_EQ(counts(hot)["fp32"], 128);
  EXPECT_EQ(counts(hot)["LDGSTS.128"], 14);
  EXPECT_EQ(counts(hot)["LDS.128"], 16);
  EXPECT_EQ(counts(hot)["LDS.32"], 12);
  // Transfers of 128 bytes: 14 · 4 for the copies, 16 · 2 and 12 for the loads. Each takes 4 cycles of a scheduler.
  EXPECT_EQ(issue_bound(hot, "sm_80").cycles, (14 * 4 + 16 * 2 + 12) * 4);
  EXPECT_EQ(issue_bound(hot, "sm_80").limiter, Pipe::memory);
}

TEST(InstructionMix, TheHotLoopHasMostArithmeticOfItsOwn) {
  const auto hot = [](const Listing& listing) {
    const KernelMix kernel = kernel_mix(listing);
    const LoopMix* loop = hot_loop(kernel);
    return loop == nullptr ? "none" : loop->label;
  };
  EXPECT_EQ(hot(parse_listing(captured("matmul_sm_90"))), ".L_x_11");
  EXPECT_EQ(hot(parse_listing(captured("matmul_sm_80"))), ".L_x_23") << "loops of copies are within";
  const std::string fma = "FFMA R0, R1, R2, R0", add = "IADD3 R0, R1, R2, RZ";
  EXPECT_EQ(hot(listing_of({fma, "EXIT"})), "none");
  EXPECT_EQ(hot(listing_of({".L_a:", fma, ".L_b:", fma, fma, "@P0 BRA `(.L_b)", "@P1 BRA `(.L_a)", "EXIT"})), ".L_b")
      << "the outer loop has one of its own";
  EXPECT_EQ(hot(listing_of({".L_a:", add, "@P0 BRA `(.L_a)", ".L_b:", add, add, "@P1 BRA `(.L_b)", "EXIT"})), ".L_b");
}

TEST(InstructionMix, ASoftmaxThatDividesByTheLongWay) {
  for (const char* architecture : {"sm_80", "sm_90"}) {
    const KernelMix kernel = kernel_mix(parse_listing(captured(std::string("softmax_") + architecture)));
    const bool is_80 = std::string(architecture) == "sm_80";
    EXPECT_EQ(kernel.whole.instructions, is_80 ? 845 : 857);
    EXPECT_EQ(counts(kernel.whole)["fp32"], 180 + 60 + 12) << "FFMA, FADD, FMUL";
    EXPECT_EQ(counts(kernel.whole)["special"], 38);
    EXPECT_EQ(counts(kernel.whole)["LDG.128"], 35);
    EXPECT_EQ(counts(kernel.whole)["shuffle"], 14);
    EXPECT_EQ(kernel.whole.calls, 12);
    EXPECT_TRUE(kernel.whole.unknown.empty());
    ASSERT_EQ(kernel.loops.size(), 4u);
    EXPECT_EQ(kernel.loops[3].mix.calls, 8);
    // The loop has IADD3, IADD3, ISETP, IADD3, IMAD.X; FMNMX for four lanes; two MOVs; a load and a branch.
    const InstructionMix& first = kernel.loops[0].mix;
    EXPECT_THAT(counts(first), UnorderedElementsAre(Pair("integer", 5), Pair("compare", 4), Pair("move", 2),
                                                    Pair("LDG.128", 1), Pair("control", 1)));
    EXPECT_EQ(first.arithmetic_share(), 0);
  }
}

TEST(InstructionMix, EachUnitBoundsTheCycles) {
  const auto bound = [](const std::vector<std::string>& lines, const char* architecture) {
    const IssueBound found = issue_bound(kernel_mix(listing_of(lines)).whole, architecture);
    return std::pair(found.cycles, name(found.limiter));
  };
  const std::vector<std::string> fma(10, "FFMA R0, R1, R2, R0"), alu(10, "IADD3 R0, R1, R2, RZ"),
      special(10, "MUFU.EX2 R0, R0"), multiply(10, "IMAD R0, R1, R2, R0"), load(10, "LDS.128 R0, [R4]"),
      store(10, "STS.128 [R4], R0"), shuffle(10, "SHFL.BFLY PT, R0, R1, 0x1, 0x1f");
  EXPECT_THAT(bound(fma, "sm_80"), Pair(20, "FMA"));
  EXPECT_THAT(bound(fma, "sm_90"), Pair(10, "issue"));
  EXPECT_THAT(bound(fma, "sm_120"), Pair(10, "issue"));
  EXPECT_THAT(bound(alu, "sm_90"), Pair(20, "ALU"));
  EXPECT_THAT(bound(alu, "sm_100"), Pair(10, "issue"));
  EXPECT_THAT(bound(multiply, "sm_90"), Pair(20, "IMAD"));
  EXPECT_THAT(bound(special, "sm_90"), Pair(80, "special"));
  EXPECT_THAT(bound(load, "sm_90"), Pair(80, "memory"));
  EXPECT_THAT(bound(store, "sm_90"), Pair(160, "memory"));
  EXPECT_THAT(bound(shuffle, "sm_90"), Pair(40, "memory"));
}

TEST(InstructionMix, AnOpcodeThatNobodyKnowsIsNamed) {
  const KernelMix kernel =
      kernel_mix(listing_of({"FFMA R0, R1, R2, R0", "QUUX.E.64 R1, R2", "@P0 QUUX R1, R2", "EXIT"}));
  EXPECT_EQ(counts(kernel.whole)["other"], 2);
  EXPECT_THAT(kernel.whole.unknown, ElementsAre("QUUX"));
  EXPECT_EQ(kernel.whole.instructions, 4);
}

TEST(InstructionMix, WhatSetsARegisterIsAMove) {
  const KernelMix kernel =
      kernel_mix(listing_of({"HFMA2.MMA R0, -RZ, RZ, 0, 0.125", "HFMA2 R0, R1, R2, R3", "IMAD.MOV.U32 R0, RZ, RZ, R1",
                             "IMAD.SHL.U32 R0, R1, 0x4, RZ", "UMOV UR4, 0x400"}));
  EXPECT_THAT(counts(kernel.whole), UnorderedElementsAre(Pair("move", 3), Pair("half", 1), Pair("integer", 1)));
}

TEST(InstructionMix, WidthsAreInTheNames) {
  const KernelMix kernel = kernel_mix(listing_of(
      {"LDS R0, [R1]", "LDS.U8 R0, [R1]", "LDS.64 R0, [R2]", "STS.128 [R4], R0",
       "LDG.E.ENL2.256 R0, R4, desc[UR4][R2.64]", "LDL.64 R0, [R1]",
       "LDGSTS.E.BYPASS.LTC128B.128 [R4], desc[UR4][R2.64]", "REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R2.64], R0"}));
  EXPECT_THAT(counts(kernel.whole),
              UnorderedElementsAre(Pair("LDS.32", 1), Pair("LDS.8", 1), Pair("LDS.64", 1), Pair("STS.128", 1),
                                   Pair("LDG.256", 1), Pair("local.64", 1), Pair("LDGSTS.128", 1), Pair("atomic", 1)));
}

TEST(Opcodes, StandInTheTableOnce) {
  std::set<std::string_view> names;
  for (const Opcode& row : opcodes()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
}

TEST(Loops, NestAndShareHeaders) {
  const KernelMix kernel = kernel_mix(
      listing_of({"MOV R0, RZ", ".outer:", "MOV R1, RZ", ".inner:", "IADD3 R1, R1, 0x1, RZ", "@P1 BRA `(.inner)",
                  "@P2 BRA `(.inner)", "IADD3 R0, R0, 0x1, RZ", "@P0 BRA `(.outer)", "EXIT"}));
  EXPECT_THAT(labels(kernel), ElementsAre(".outer", "  .inner"));
  EXPECT_EQ(kernel.loops[0].mix.instructions, 6);
  EXPECT_EQ(kernel.loops[1].mix.instructions, 3);
}

TEST(Loops, AJumpIntoTheMiddleMakesNone) {
  EXPECT_TRUE(kernel_mix(listing_of({"@P0 BRA `(.b)", ".a:", "FADD R0, R0, R1", ".b:", "FADD R0, R0, R2",
                                     "@P1 BRA `(.a)", "EXIT"}))
                  .loops.empty());
}

TEST(Loops, CodeThatNobodyComesToIsInNone) {
  const KernelMix kernel = kernel_mix(listing_of(
      {".loop:", "FADD R0, R0, R1", "@P0 BRA `(.loop)", "EXIT", ".dead:", "FMUL R0, R0, R1", "BRA `(.loop)"}));
  EXPECT_THAT(labels(kernel), ElementsAre(".loop"));
  EXPECT_EQ(kernel.loops[0].mix.instructions, 2);
}

TEST(Loops, ABranchToTheEndOfTheCodeLeaves) {
  const KernelMix kernel = kernel_mix(listing_of({".loop:", "FADD R0, R0, R1", "@P1 BRA `(.end)", "@P0 BRA `(.loop)",
                                                  "EXIT", ".end:", "BRA `(.end)", "NOP", ".behind:"}));
  EXPECT_EQ(kernel.whole.instructions, 4);
  EXPECT_THAT(labels(kernel), ElementsAre(".loop"));
}

TEST(Loops, ABranchWithAConditionAmongItsOperandsGoesBothWays) {
  const KernelMix kernel = kernel_mix(listing_of(
      {".loop:", "FADD R0, R0, R1", "@!P1 BRA !P3, `(.loop)", "BRA.U UP0, `(.loop)", "FMUL R0, R0, R0", "EXIT"}));
  EXPECT_EQ(basic_blocks(listing_of({".loop:", "FADD R0, R0, R1", "BRA.U UP0, `(.loop)", "EXIT"}).functions[0]).size(),
            2u);
  ASSERT_EQ(kernel.loops.size(), 1u);
  EXPECT_EQ(kernel.loops[0].mix.instructions, 3);
}

}  // namespace
}  // namespace deplo::measure::cuda::sass
