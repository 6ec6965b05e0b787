// Clusters of blocks: their text, what the verifier refuses, what they mean, what the sanitizer finds, and their
// source.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "ir/emit/emit.h"
#include "ir/interpret/interpret_case.h"

namespace deplo::ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Two clusters of two blocks. The second block of each cluster stores its values, and the first block adds them.
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

// The same kernel, but the first block stores its values and the second block adds them.
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

// The order in which the blocks run decides which of the two errors is found.
TEST(Cluster, AMissingBarrierBeforeTheReadIsFound) {
  for (const std::string& text : {sum, swapped()}) {
    std::set<std::string> found;
    for (const char* barrier : {"", "  Sync\n"})
      for (std::uint64_t seed = 0; seed < 16; ++seed) {
        const std::string error = error_of(with(text, "  ClusterSync # before\n", barrier), {.seed = seed});
        EXPECT_THAT(error, AllOf(HasSubstr("part"), HasSubstr("ClusterLoad")));
        found.insert(error.substr(0, error.find(':')));
      }
    EXPECT_EQ(found, (std::set<std::string>{"race", "read of shared memory that nothing wrote"}));
  }
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
  EXPECT_THAT(fault("block=1", "block=a2"), ::testing::IsEmpty());
  EXPECT_THAT(fault("part[a2, 0], block", "part[a2, 1], block"), HasSubstr("not proven in"));
  EXPECT_THAT(fault("  ClusterSync # before\n", "  if (a0 == 0):\n    ClusterSync\n"),
              HasSubstr("it must be directly in the Tile"));
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

// Two blocks fill each other's slots: each block loads one of two rows for both blocks.
const std::string shared = R"(=== kernel: shared ===
input x: f32[6, 32]
output y: f32[2, 32]
TmaDescriptor x_desc(x, box=(1, 32))
Tile(axes=(a0:2=CLUSTER, a1:32=THREAD)):
  Smem s[2, 2, 32] (f32) align=128
  MbarrierInit full[2] (count=1)
  MbarrierInit empty[2] (count=2)
  ClusterSync # before
  Produce(threads=32):
    for a2 in 0..3: # free
      MbarrierWait(empty[(a2 % 2)], phase=(1 - (a2 / 2)))
      MbarrierArriveExpectTx(full[(a2 % 2)], bytes=256)
      TmaLoad(s[(a2 % 2), a0, 0], x_desc[((a2 * 2) + a0), 0], full[(a2 % 2)], multicast)
    for a5 in 0..2: # free
      MbarrierWait(empty[((a5 + 1) % 2)], phase=a5)
  Init(acc0, op=add)
  for a3 in 0..3: # free
    MbarrierWait(full[(a3 % 2)], phase=((a3 / 2) % 2))
    for a4 in 0..2: # reduce
      in0 = load s[(a3 % 2), a4, a1]
      v0 = index (a4 + 1)
      v1 = multiply(in0, v0)
      acc0 <- add(acc0, v1)
    ProxyFence
    if (a1 < 2):
      MbarrierArrive(empty[(a3 % 2)], block=a1)
  y[a0, a1] = acc0
)";

constexpr std::uint64_t orders = 24;  // number of seeds; each gives another order of blocks and producers

TEST(Multicast, FillsTheSlotsOfAllBlocks) {
  EXPECT_EQ(verify(parse(shared)), "");
  EXPECT_EQ(parse(print(parse(shared))), parse(shared));
  for (std::uint64_t seed = 0; seed < orders; ++seed) {
    const Memory memory = run(shared, {.seed = seed});
    const Values& x = memory.at("x");
    Values expected(64);
    for (std::size_t i = 0; i < 64; ++i)
      for (std::size_t k = 0; k < 6; ++k) expected[i] += static_cast<double>(k % 2 + 1) * x[k * 32 + i % 32];
    expect_near(memory.at("y"), expected);
  }
}

TEST(Multicast, RunsTheSameForTheSameSeed) {
  const std::string text = with(shared, "empty[2] (count=2)", "empty[2] (count=1)");
  for (std::uint64_t seed = 0; seed < orders; ++seed)
    EXPECT_EQ(error_of(text, {.seed = seed}), error_of(text, {.seed = seed}));
}

TEST(Multicast, AMistakeIsFound) {
  struct Fault {
    const char *place, *other, *error;
  };
  const Fault faults[] = {
      {"empty[2] (count=2)", "empty[2] (count=1)", "race|overwrite|one arrival too many"},
      {"block=a1", "block=a0", "race|overwrite"},
      {"if (a1 < 2)", "if (a1 < 1)", "would hang"},
      {"      MbarrierWait(empty[(a2 % 2)], phase=(1 - (a2 / 2)))\n", "", "race|overwrite|one arrival too many"},
      {"bytes=256", "bytes=128", "would hang|nothing wrote|not complete"},
      {", multicast", "", "would hang|nothing wrote"},
      {"    ProxyFence\n", "", "with no ProxyFence after it"},
      {"s[(a2 % 2), a0, 0]", "s[(a2 % 2), 0, 0]", "overwrite"},
      {"ClusterSync # before", "Sync", "the barrier full is used by another block with no ClusterSync"},
      {"    for a5 in 0..2: # free\n      MbarrierWait(empty[((a5 + 1) % 2)], phase=a5)\n", "",
       "may end before another one arrives at its empty.0.: it does not wait for phase 1"},
      {"for a5 in 0..2", "for a5 in 0..1",
       "may end before another one arrives at its empty.0.: it does not wait for phase 1"},
  };
  for (const Fault& fault : faults) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < orders; ++seed) {
      const std::string error = error_of(with(shared, fault.place, fault.other), {.seed = seed});
      if (error == "no error") continue;
      ++found;
      EXPECT_THAT(error, ::testing::ContainsRegex(fault.error)) << fault.place;
    }
    EXPECT_GE(found, 6) << fault.place << " → " << fault.other;
  }
}

// The values may still be right by chance. The error is that nothing tells the producer that the slot's readers are
// done.
TEST(Multicast, ASlotIsNotKnownToBeFreeInTheOtherBlock) {
  const std::string text = with(shared, "block=a1", "block=a0");
  int races = 0;
  for (std::uint64_t seed = 0; seed < orders; ++seed)
    races += error_of(text, {.seed = seed}).starts_with("race: a producer fills an element of s of block") ? 1 : 0;
  EXPECT_GE(races, 1);
}

// Each block's rows land in the place of the other block's rows.
TEST(Multicast, PartsThatAreSwappedShow) {
  const Memory right = run(shared), wrong = run(with(shared, "s[(a2 % 2), a0, 0]", "s[(a2 % 2), (1 - a0), 0]"));
  EXPECT_GT(std::abs(right.at("y")[0] - wrong.at("y")[0]), 1e-3);
}

TEST(Multicast, TheVerifierRefuses) {
  const auto fault = [](std::string_view place, std::string_view other) {
    return verify(parse(with(shared, place, other)));
  };
  EXPECT_THAT(fault("block=a1", "block=2"), HasSubstr("block `2` is in 2..2, not proven in 0..1"));
  EXPECT_THAT(fault("if (a1 < 2)", "if (a1 < 3)"), HasSubstr("not proven in 0..1"));
  const std::string alone = with(with(shared, "CLUSTER", "BLOCK"), "ClusterSync # before", "Sync");
  EXPECT_THAT(verify(parse(with(alone, ", block=a1", ""))), HasSubstr("the Tile has no CLUSTER axis"));
  EXPECT_THAT(verify(parse(with(alone, ", multicast", ""))), HasSubstr("the Tile has no CLUSTER axis"));
  EXPECT_THAT(fault("  Init(acc0, op=add)\n", "  TmaLoad(s[0, 0, 0], x_desc[0, 0], full[0], multicast)\n"),
              HasSubstr("must be in a Produce"));
}

TEST(Multicast, IsInTheSource) {
  const KernelSource source = emit(parse(shared), load_target("sm_90"));
  EXPECT_EQ(source.cluster, 2);
  EXPECT_TRUE(source.architecture_specific);
  for (const char* part :
       {".multicast::cluster", "tma_multicast_2d(&s[", ", 0x3);", "mbarrier.arrive.shared::cluster.b64",
        "mbarrier_arrive_afar(&empty[a3 % 2], a1);", "mbarrier_wait(&full[a3 % 2]"})
    EXPECT_THAT(source.text, HasSubstr(part));
}

// Each thread or block along a0 has a part of the sum. One of them gets the total of each register.
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
              HasSubstr("one of the blocks along `a0` must get the total"));
}

}  // namespace
}  // namespace deplo::ir
