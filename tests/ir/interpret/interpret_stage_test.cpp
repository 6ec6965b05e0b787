// Stages of Tile IR that are complete at an AsyncWait: the right program passes, and each planted fault is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpret/interpret_case.h"

namespace deplo::ir {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

// Three chunks of k in two slots.
std::string two_slots(const std::string& transport) {
  return replaced(R"(=== tile: mm ===
input a: f32[4, 12]
input b: f32[12, 4]
output c: f32[4, 4]
Tile(axes=(a0:4=THREAD, a1:4=THREAD)):
  a_smem = Stage(a, origin=(0, 0), slab=(s0:4@0, s1:4@1)) buffers=2@0 T
  b_smem = Stage(b, origin=(0, 0), slab=(s0:4@0, s1:4@1)) buffers=2@0 T
  for a2 in 0..2: # reduce
    AsyncWait(keep=0, phase=((a2 / 2) % 2), slot=(a2 % 2))
    a_smem = Stage(a, origin=(0, ((a2 + 1) * 4)), slab=(s0:4@0, s1:4@1)) buffers=2@((a2 + 1) % 2) T
    b_smem = Stage(b, origin=(((a2 + 1) * 4), 0), slab=(s0:4@0, s1:4@1)) buffers=2@((a2 + 1) % 2) T
    for a3 in 0..4: # reduce
      in0 = load a_smem[(a2 % 2), a0, a3]
      in1 = load b_smem[(a2 % 2), a3, a1]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
  AsyncWait(keep=0, phase=1, slot=0)
  for a4 in 0..4: # reduce
    in2 = load a_smem[0, a0, a4]
    in3 = load b_smem[0, a4, a1]
    v1 = multiply(in2, in3)
    acc0 <- add(acc0, v1)
  c[a0, a1] = acc0
)",
                  "T\n", transport + "\n");
}

// Four chunks in three slots: two groups are in flight, and the epilogue is a loop.
const std::string three_slots = R"(=== tile: mm ===
input a: f32[4, 16]
input b: f32[16, 4]
output c: f32[4, 4]
Tile(axes=(a0:4=THREAD, a1:4=THREAD)):
  a_smem = Stage(a, origin=(0, 0), slab=(s0:4@0, s1:4@1)) buffers=3@0 async
  a_smem = Stage(a, origin=(0, 4), slab=(s0:4@0, s1:4@1)) buffers=3@1 async
  for a2 in 0..2: # reduce
    AsyncWait(keep=1)
    a_smem = Stage(a, origin=(0, ((a2 + 2) * 4)), slab=(s0:4@0, s1:4@1)) buffers=3@((a2 + 2) % 3) async
    for a3 in 0..4: # reduce
      in0 = load a_smem[(a2 % 3), a0, a3]
      in1 = load b[((a2 * 4) + a3), a1]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
  for a4 in 0..2: # reduce
    AsyncWait(keep=0)
    for a5 in 0..4: # reduce
      in2 = load a_smem[((a4 + 2) % 3), a0, a5]
      in3 = load b[((a4 * 4) + (a5 + 8)), a1]
      v1 = multiply(in2, in3)
      acc0 <- add(acc0, v1)
  c[a0, a1] = acc0
)";

// The same product in as many slots, but the last fills are predicated, so that each trip waits in the same way.
std::string predicated(const std::string& transport) {
  return replaced(R"(=== tile: mm ===
input a: f32[4, 16]
input b: f32[16, 4]
output c: f32[4, 4]
Tile(axes=(a0:4=THREAD, a1:4=THREAD)):
  a_smem = Stage(a, origin=(0, 0), slab=(s0:4@0, s1:4@1)) buffers=3@0 T
  a_smem = Stage(a, origin=(0, 4), slab=(s0:4@0, s1:4@1)) buffers=3@1 T
  for a2 in 0..4: # reduce
    AsyncWait(keep=1, phase=((a2 / 3) % 2), slot=(a2 % 3))
    a_smem = Stage(a, origin=(0, ((a2 + 2) * 4)), slab=(s0:4@0, s1:4@1)) buffers=3@((a2 + 2) % 3) T when=(a2 < 2)
    for a3 in 0..4: # reduce
      in0 = load a_smem[(a2 % 3), a0, a3]
      in1 = load b[((a2 * 4) + a3), a1]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
  c[a0, a1] = acc0
)",
                  " T", " " + transport);
}

class Pipelined : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Transports, Pipelined, ::testing::Values("ahead", "async", "tma"),
                         [](const auto& value) { return std::string(value.param); });

TEST_P(Pipelined, TwoSlots) {
  EXPECT_EQ(verify(parse(two_slots(GetParam()))), "");
  const Memory memory = run(two_slots(GetParam()));
  expect_near(memory.at("c"), product(memory, 4, 4, 12));
}

TEST_P(Pipelined, EmptyGroupsAreCounted) {
  EXPECT_EQ(verify(parse(predicated(GetParam()))), "");
  const Memory memory = run(predicated(GetParam()));
  expect_near(memory.at("c"), product(memory, 4, 4, 16));
}

TEST_P(Pipelined, FindsAFillThatAnEarlyConditionDrops) {
  const std::string text = with(predicated(GetParam()), "when=(a2 < 2)", "when=(a2 < 1)");
  if (std::string(GetParam()) == "tma") {
    EXPECT_THAT(error_of(text), HasSubstr("would hang: nothing fills slot 0 in phase 1"));
  } else {
    const Memory memory = run(text);
    EXPECT_GT(std::abs(memory.at("c")[0] - product(memory, 4, 4, 16)[0]), 1e-3);
  }
}

// Slab 3 goes into the slot from which slab 0 is still read.
TEST_P(Pipelined, FindsASlotThatIsReusedEarly) {
  const std::string text = with(with(predicated(GetParam()), "buffers=3@((a2 + 2) % 3)", "buffers=3@(a2 % 3)"),
                                "origin=(0, ((a2 + 2) * 4))", "origin=(0, ((a2 + 3) * 4))");
  EXPECT_THAT(error_of(text), AnyOf(HasSubstr("read of an asynchronous copy"), HasSubstr("wrong phase")));
}

// A Stage of one slot in a loop has an implied barrier before it.
TEST_P(Pipelined, OneSlot) {
  const std::string text = replaced(R"(=== tile: mm ===
input a: f32[4, 12]
input b: f32[12, 4]
output c: f32[4, 4]
Tile(axes=(a0:4=THREAD, a1:4=THREAD)):
  for a2 in 0..3: # reduce
    a_smem = Stage(a, origin=(0, (a2 * 4)), slab=(s0:4@0, s1:4@1)) T
    AsyncWait(keep=0, phase=(a2 % 2), slot=0)
    for a3 in 0..4: # reduce
      in0 = load a_smem[a0, a3]
      in1 = load b[((a2 * 4) + a3), a1]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
  c[a0, a1] = acc0
)",
                                    "T\n", std::string(GetParam()) + "\n");
  EXPECT_EQ(verify(parse(text)), "");
  const Memory memory = run(text);
  expect_near(memory.at("c"), product(memory, 4, 4, 12));
}

// Outside loops, no barrier is implied.
TEST(Stages, FindsARefillInStraightCode) {
  const std::string text = R"(=== tile: twice ===
input x: f32[8]
output y: f32[4]
Tile(axes=(a0:4=THREAD)):
  s = Stage(x, origin=(0), slab=(s0:4@0))
  in0 = load s[a0]
  s = Stage(x, origin=(4), slab=(s0:4@0))
  in1 = load s[(3 - a0)]
  v0 = add(in0, in1)
  y[a0] = v0
)";
  EXPECT_EQ(verify(parse(text)), "");
  EXPECT_THAT(error_of(text), AllOf(HasSubstr("race: a slot that is read"), HasSubstr("`s = Stage(x, origin=(4)")));
}

TEST_P(Pipelined, FindsAMissingWait) {
  EXPECT_THAT(error_of(with(two_slots(GetParam()), "    AsyncWait(keep=0, phase=((a2 / 2) % 2), slot=(a2 % 2))\n", "")),
              AllOf(HasSubstr("read of an asynchronous copy"), HasSubstr("`in0 = load a_smem[(a2 % 2)")));
}

TEST_P(Pipelined, FindsAWrongSlot) {
  EXPECT_THAT(error_of(with(two_slots(GetParam()), "buffers=2@((a2 + 1) % 2)", "buffers=2@(a2 % 2)")),
              AllOf(HasSubstr("read of an asynchronous copy"), HasSubstr("`in0 = load a_smem[(a2 % 2)")));
  EXPECT_THAT(error_of(with(two_slots(GetParam()), "buffers=2@((a2 + 1) % 2)", "buffers=2@(a2 + 1)")),
              AllOf(HasSubstr("slot 2 of a_smem, which has 2"), HasSubstr("`a_smem = Stage(a")));
}

TEST_P(Pipelined, FindsARefillOfACopyUnderWay) {
  EXPECT_THAT(error_of(with(two_slots(GetParam()), "(s0:4@0, s1:4@1)) buffers=2@0 " + std::string(GetParam()) + "\n  b",
                            "(s0:4@0, s1:4@1)) buffers=2@0 " + std::string(GetParam()) +
                                "\n  a_smem = Stage(a, origin=(0, 0), slab=(s0:4@0, s1:4@1)) buffers=2@0 " +
                                GetParam() + "\n  b")),
              AllOf(HasSubstr("overwrite of an asynchronous copy"), HasSubstr("`a_smem = Stage(a, origin=(0, 0)")));
}

// The refill comes after the loads, and goes into the slot that they read.
TEST_P(Pipelined, FindsARefillOfWhatIsRead) {
  const std::string stage = std::string("    a_smem = Stage(a, origin=(0, ((a2 + 1) * 4)), slab=(s0:4@0, s1:4@1)) ") +
                            "buffers=2@((a2 + 1) % 2) " + GetParam() + "\n";
  std::string text = with(two_slots(GetParam()), stage, "");
  const std::string last = "      acc0 <- add(acc0, v0)\n";
  text = with(text, last, last + with(stage, "((a2 + 1) % 2)", "(a2 % 2)"));
  EXPECT_THAT(error_of(text), AllOf(HasSubstr("race: a slot that is read with no barrier between is filled"),
                                    HasSubstr("block 0 at `a_smem = Stage(a")));
}

TEST(Stages, ThreeSlots) {
  EXPECT_EQ(verify(parse(three_slots)), "");
  const Memory memory = run(three_slots);
  expect_near(memory.at("c"), product(memory, 4, 4, 16));
}

TEST(Stages, FindsAKeepThatIsTooLarge) {
  EXPECT_THAT(error_of(with(three_slots, "keep=1", "keep=2")),
              AllOf(HasSubstr("read of an asynchronous copy"), HasSubstr("`in0 = load a_smem[(a2 % 3)")));
  EXPECT_THAT(error_of(with(three_slots, "keep=0", "keep=1")),
              AllOf(HasSubstr("read of an asynchronous copy"), HasSubstr("`in2 = load a_smem[((a4 + 2) % 3)")));
}

TEST(Stages, FindsAWrongPhase) {
  EXPECT_THAT(
      error_of(with(two_slots("tma"), "phase=((a2 / 2) % 2)", "phase=1")),
      AllOf(HasSubstr("wrong phase: slot 0 of a_smem is under way in phase 0"), HasSubstr("`AsyncWait(keep=0")));
  EXPECT_THAT(error_of(with(two_slots("tma"), "phase=1, slot=0", "phase=1, slot=1")),
              AllOf(HasSubstr("would hang: nothing fills slot 1 in phase 1"), HasSubstr("`AsyncWait(keep=0")));
}

TEST(Stages, FindsATmaCopyThatIsLeft) {
  std::string text = with(two_slots("tma"), "  AsyncWait(keep=0, phase=1, slot=0)\n", "");
  const std::size_t from = text.find("  for a4"), to = text.find("  c[");
  EXPECT_THAT(
      error_of(text.erase(from, to - from)),
      AllOf(HasSubstr("phase 1 of a_smem[0] is not complete at the end of block 0"), HasSubstr("`a_smem = Stage")));
}

TEST(Stages, LayoutsCountInSharedMemory) {
  const std::string padded = replaced(two_slots("async"), "buffers=2", "pad=4 lanes=4 buffers=2");
  EXPECT_EQ(verify(parse(padded)), "");
  EXPECT_EQ(error_of(padded, {.shared_bytes = 512}), "no error");
  EXPECT_THAT(error_of(padded, {.shared_bytes = 511}),
              AllOf(HasSubstr("shared memory over the limit: 512 bytes of 511"), HasSubstr("`b_smem = Stage(b")));
}

TEST(Stages, LoopsPerRegisterMeanTheSame) {
  const std::string text = R"(=== tile: rows ===
input x: f32[4, 8]
output y: f32[4]
Tile(axes=(a0:2=THREAD, a1:2=REG)):
  for a2 in 0..8: # reduce unroll=4 per a1
    in0 = load x[((a0 * 2) + a1), a2]
    acc0 <- add(acc0, in0)
  y[((a0 * 2) + a1)] = acc0
)";
  EXPECT_EQ(verify(parse(text)), "");
  const Memory memory = run(text);
  Values y(4);
  for (std::size_t i = 0; i < 32; ++i) y[i / 8] += memory.at("x")[i];
  expect_near(memory.at("y"), y);
}

// The threads of a warp run in step, so they need no barrier. Registers of another warp are not visible.
TEST(Interpret, RegistersOfWarps) {
  const std::string text =
      "=== tile: k ===\noutput y: f32[64]\nTile(axes=(a0:64=THREAD)):\n  Smem s[64] (f32) registers\n"
      "  v0:f32 = index (a0 * 2)\n  s[a0] = v0\n  in0 = load s[(a0 ^ 1)]\n  y[a0] = in0\n";
  const Memory memory = run(text);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(memory.at("y")[i], 2 * static_cast<double>(i ^ 1));
  EXPECT_THAT(error_of(with(text, " registers", "")), ::testing::HasSubstr("race"));
  EXPECT_THAT(error_of(with(text, "a0 ^ 1", "a0 ^ 32")), ::testing::HasSubstr("race"));
}

TEST(Interpret, LoopsThatEndEarly) {
  const Memory memory =
      run("=== tile: k ===\noutput y: f32[4]\nTile(axes=(a0:4=BLOCK)):\n  for a1 in 0..min(3, (a0 + 1)): # reduce\n"
          "    acc0 <- add(acc0, 1)\n  y[a0] = acc0\n");
  EXPECT_EQ(memory.at("y"), (Values{1, 2, 3, 3}));
}

}  // namespace
}  // namespace deplo::ir
