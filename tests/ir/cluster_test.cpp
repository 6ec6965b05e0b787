// Clusters of blocks: their text, what the verifier refuses, what they mean, what the sanitizer finds, and their source.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ir/emit/emit.h"
#include "ir/interpret/interpret_case.h"

namespace deplo::ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Two clusters of two blocks: the second block of each writes what it has, the first adds it.
const std::string sum = R"(=== kernel: sum ===
input x: f32[2, 2, 8]
output y: f32[2, 8]
Tile(axes=(a0:2=BLOCK, a1:2=CLUSTER, a2:2=THREAD)):
  Smem part[2, 4] (f32)
  Init(acc0:f32x4, op=add)
  in0:f32x4 = load x[a0, a1, (a2 * 4)]
  acc0:f32x4 <- add(acc0, in0)
  if (a1 == 1):
    part[a2, 0]:x4 = acc0
  ClusterSync # before
  if (a1 == 0):
    ClusterLoad(in1:f32x4 <- part[a2, 0], block=1)
    acc0:f32x4 <- add(acc0, in1)
  ClusterSync # behind
  if (a1 == 0):
    y[a0, (a2 * 4)]:x4 = acc0
)";

// The same where the first block writes and the second one adds.
std::string swapped() {
  std::string text = with(sum, "if (a1 == 1):\n    part", "if (a1 == 0):\n    part");
  text = with(text, "if (a1 == 0):\n    ClusterLoad", "if (a1 == 1):\n    ClusterLoad");
  text = with(text, "block=1", "block=0");
  return with(text, "if (a1 == 0):\n    y", "if (a1 == 1):\n    y");
}

Values sums(const Memory& memory) {
  const Values& x = memory.at("x");
  Values result;
  for (std::size_t i = 0; i < 16; ++i) result.push_back(x[i / 8 * 16 + i % 8] + x[i / 8 * 16 + 8 + i % 8]);
  return result;
}

TEST(Cluster, BlocksReadEachOthersSharedMemory) {
  for (const std::string& text : {sum, swapped()}) {
    EXPECT_EQ(verify(parse(text)), "");
    EXPECT_EQ(parse(print(parse(text))), parse(text));
    const Memory memory = run(text);
    expect_near(memory.at("y"), sums(memory));
  }
}

TEST(Cluster, AMissingBarrierBeforeTheReadIsFound) {
  EXPECT_THAT(error_of(with(sum, "  ClusterSync # before\n", "")), HasSubstr("nothing wrote"));
  EXPECT_THAT(error_of(with(swapped(), "  ClusterSync # before\n", "")),
              AllOf(HasSubstr("race: no ClusterSync stands between the write and the read"), HasSubstr("block 1"),
                    HasSubstr("part"), HasSubstr("ClusterLoad")));
  EXPECT_THAT(error_of(with(swapped(), "ClusterSync # before", "Sync")), HasSubstr("race: no ClusterSync"));
}

TEST(Cluster, AMissingBarrierBehindTheReadIsFound) {
  for (const std::string& text : {sum, swapped()}) {
    EXPECT_THAT(error_of(with(text, "  ClusterSync # behind\n", "")), HasSubstr("may end while another one reads"));
    EXPECT_THAT(error_of(with(text, "ClusterSync # behind", "Sync")), HasSubstr("may end while another one reads"));
  }
}

TEST(Cluster, AnOverwriteOfWhatAnotherBlockReadsIsFound) {
  EXPECT_THAT(
      error_of(with(sum, "  ClusterSync # behind\n", "  if (a1 == 1):\n    part[a2, 0]:x4 = 0\n  ClusterSync\n")),
      HasSubstr("race"));
  EXPECT_EQ(error_of(with(sum, "  ClusterSync # behind\n", "  ClusterSync\n  if (a1 == 1):\n    part[a2, 0]:x4 = 0\n")),
            "no error");
}

TEST(Cluster, AReadOfNothingIsFound) {
  EXPECT_THAT(error_of(with(sum, "if (a1 == 1):\n    part", "if (a1 == 0):\n    part")), HasSubstr("nothing wrote"));
}

TEST(Cluster, TheVerifierRefuses) {
  const auto fault = [](std::string_view place, std::string_view other) {
    return verify(parse(with(sum, place, other)));
  };
  EXPECT_THAT(fault("block=1", "block=2"), HasSubstr("block `2` is in 2..2, not proven in 0..1"));
  EXPECT_THAT(fault("block=1", "block=a2"), testing::IsEmpty());
  EXPECT_THAT(fault("part[a2, 0], block", "part[a2, 1], block"), HasSubstr("not proven in"));
  EXPECT_THAT(fault("  ClusterSync # before\n", "  if (a0 == 0):\n    ClusterSync\n"),
              HasSubstr("it stands directly in the Tile"));
  EXPECT_THAT(fault("a1:2=CLUSTER", "a1:2=BLOCK"), HasSubstr("the Tile has no CLUSTER axis"));
  EXPECT_THAT(fault("a0:2=BLOCK", "a0:2=CLUSTER"), HasSubstr("more than one CLUSTER axis"));
  EXPECT_THAT(fault("a1:2=CLUSTER", "a1:32=CLUSTER"), HasSubstr("a cluster of 32 blocks, at most 16"));
  EXPECT_THAT(fault("<- part[a2, 0]", "<- x[a0, a1, (a2 * 4)]"), HasSubstr("`x` is not shared memory"));
}

TEST(Cluster, IsInTheSource) {
  const KernelSource source = emit(parse(sum), load_target("sm_90"));
  EXPECT_EQ(source.blocks, 4);
  EXPECT_EQ(source.cluster, 2);
  for (const char* part : {"__launch_bounds__(2) __cluster_dims__(2, 1, 1)", "block = blockIdx.x / 2",
                           "a1 = blockIdx.x % 2", "mapa.shared::cluster.u32",
                           "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4]", "barrier.cluster.arrive.release",
                           "barrier.cluster.wait.acquire", "const float4 in1 = cluster_load_4(&part[a2 * 4], 1);"})
    EXPECT_THAT(source.text, HasSubstr(part));
}

// Each thread has a part of the sum: of two threads, or of two blocks, one gets the total of each register.
constexpr const char* parts = R"(=== tile: parts ===
input x: f32[2, 4, 8]
output y: f32[4, 8]
Tile(axes=(a0:{}, a1:4=THREAD, a2:8=REG)):
  for a3 in 0..1: # reduce
    in0 = load x[a0, a1, a2]
    acc0 <- add(acc0, in0)
  Combine(acc0, op=add, over=(a0), to={})
  if (a0 == {}):
    y[a1, a2] = acc0
)";

TEST(Combine, GivesTheTotalToOneThreadOrBlock) {
  for (const char* axis : {"2=THREAD", "2=CLUSTER"})
    for (const char* to : {"0", "1", "(a2 % 2)", "(a2 / 4)"}) {
      const std::string text = fmt::format(fmt::runtime(parts), axis, to, to);
      EXPECT_EQ(verify(parse(text)), "") << text;
      EXPECT_EQ(parse(print(parse(text))), parse(text));
      const Memory memory = run(text);
      const Values& x = memory.at("x");
      Values expected;
      for (std::size_t i = 0; i < 32; ++i) expected.push_back(x[i] + x[32 + i]);
      expect_near(memory.at("y"), expected);
    }
}

TEST(Combine, LeavesNothingWithTheOthers) {
  for (const char* axis : {"2=THREAD", "2=CLUSTER"}) {
    const Memory memory = run(fmt::format(fmt::runtime(parts), axis, "1", "0"));
    EXPECT_TRUE(std::isnan(memory.at("y")[0]));
  }
}

TEST(Combine, TheVerifierRefusesAWrongReceiver) {
  const auto fault = [](const char* axis, const char* to) {
    return verify(parse(fmt::format(fmt::runtime(parts), axis, to, "0")));
  };
  EXPECT_THAT(fault("2=CLUSTER", "2"), HasSubstr("not proven in 0..1"));
  EXPECT_THAT(fault("2=CLUSTER", "a0"), HasSubstr("`to` depends on `a0`, along which it is a position"));
  EXPECT_THAT(fault("2=THREAD", "a0"), HasSubstr("`to` differs between the threads"));
  EXPECT_THAT(fault("2=THREAD", "(a1 % 2)"), HasSubstr("`to` differs between the threads"));
  EXPECT_THAT(fault("2=REG", "0"), HasSubstr("`to` is a position along one THREAD or CLUSTER axis"));
  EXPECT_THAT(verify(parse(with(fmt::format(fmt::runtime(parts), "2=CLUSTER", "0", "0"), ", to=0", ""))),
              HasSubstr("of the blocks along `a0` one gets the total"));
}

}  // namespace
}  // namespace deplo::ir
