// Races in shared memory between lanes of one warp. Only a barrier of both lanes orders their accesses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/rng.h"
#include "drawn_seeds.h"
#include "measure/ptx/by_hand.h"
#include "measure/ptx/races/order.h"

namespace deplo::measure::ptx {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Returns the finding for a kernel in which each lane has the address of its own element of `s` in %r2, and that of
/// its neighbour's element in %r3.
std::string finding_in_warp(const std::string& body, std::int64_t threads = 32) {
  return finding(by_hand("mov.u32 %r2, s; shl.b32 %r4, %r0, 2; add.u32 %r2, %r2, %r4; xor.b32 %r3, %r2, 4;" + body,
                         ".shared .align 16 .b8 s[256];"),
                 {.blocks = 1, .threads = threads, .seed = 1});
}

TEST(LaneRaces, ReadsOfWhatANeighbourWrites) {
  EXPECT_THAT(
      finding_in_warp("st.shared.u32 [%r2], %r0; ld.shared.u32 %r5, [%r3];"),
      AllOf(HasSubstr("race: reads 4 bytes at byte 4 of shared memory, which lane 1 of the same warp wrote at PTX"),
            HasSubstr("no __syncwarp() (bar.warp.sync) or other barrier is between them")));
  EXPECT_EQ(finding_in_warp("st.shared.u32 [%r2], %r0; bar.warp.sync 0xffffffff; ld.shared.u32 %r5, [%r3];"), "");
  EXPECT_EQ(finding_in_warp("st.shared.u32 [%r2], %r0; bar.sync 0; ld.shared.u32 %r5, [%r3];"), "");
  EXPECT_EQ(finding_in_warp("st.shared.u32 [%r2], %r0; ld.shared.u32 %r5, [%r2];"), "") << "its own";
  EXPECT_EQ(finding_in_warp("st.volatile.shared.u32 [%r2], %r0; ld.volatile.shared.u32 %r5, [%r3];"), "");
  EXPECT_EQ(finding_in_warp("st.shared.u32 [%r2], %r0; bar.warp.sync 0xfffff; ld.shared.u32 %r5, [%r3];", 20), "")
      << "lanes that do not exist are not missed";
}

TEST(LaneRaces, WritesOverWhatANeighbourReads) {
  const std::string first = "st.shared.u32 [%r2], %r0; bar.warp.sync 0xffffffff; ld.shared.u32 %r5, [%r3];";
  EXPECT_THAT(finding_in_warp(first + "st.shared.u32 [%r2], %r5;"),
              AllOf(HasSubstr("race: writes 4 bytes"), HasSubstr("of the same warp read at PTX line")));
  EXPECT_EQ(finding_in_warp(first + "bar.warp.sync 0xffffffff; st.shared.u32 [%r2], %r5;"), "");
}

// PTX ISA, "cp.async.wait_group": it makes the copies visible to the executing thread.
TEST(LaneRaces, CopiesThatANeighbourWaitsFor) {
  const std::string copy =
      "mul.wide.u32 %rd1, %r0, 4; add.s64 %rd1, %rd0, %rd1; cp.async.ca.shared.global [%r2], [%rd1], 4; "
      "cp.async.commit_group;";
  const std::string wait = "cp.async.wait_group 0;", meet = "bar.warp.sync 0xffffffff;",
                    read = "ld.shared.u32 %r5, [%r3];";
  const auto races = AllOf(HasSubstr("race: reads 4 bytes at byte 4 of shared memory, which lane 1 of the same warp"),
                           HasSubstr("no __syncwarp()"));
  EXPECT_THAT(finding_in_warp(copy + wait + read), races);
  EXPECT_THAT(finding_in_warp(copy + meet + wait + read), races);
  EXPECT_EQ(finding_in_warp(copy + wait + meet + read), "");
  EXPECT_EQ(finding_in_warp(copy + wait + "bar.sync 0;" + read), "");
  EXPECT_EQ(finding_in_warp(copy + wait + "ld.shared.u32 %r5, [%r2];"), "") << "its own";

  const std::string first = "st.shared.u32 [%r2], %r0;" + meet + read;
  EXPECT_THAT(finding_in_warp(first + copy + wait),
              AllOf(HasSubstr("race: writes 4 bytes"), HasSubstr("of the same warp read at PTX line")));
  EXPECT_EQ(finding_in_warp(first + meet + copy + wait), "");
}

TEST(LaneRaces, AShuffleOrdersNoMemory) {
  const std::string write = "st.shared.u32 [%r2], %r0; ", read = " ld.shared.u32 %r5, [%r3];";
  EXPECT_THAT(finding_in_warp(write + "shfl.sync.bfly.b32 %r6, %r0, 1, 31, 0xffffffff;" + read), HasSubstr("race: "));
}

TEST(LaneRaces, LanesMayWriteOnePlaceByOneInstruction) {
  EXPECT_EQ(
      finding_in_warp("mov.u32 %r2, s; st.shared.u32 [%r2], 7; bar.warp.sync 0xffffffff; ld.shared.u32 %r5, [%r2];"),
      "");
  EXPECT_THAT(finding_in_warp("mov.u32 %r2, s; st.shared.u32 [%r2], 7; st.shared.u32 [%r2], 8;"),
              HasSubstr("race: writes 4 bytes at byte 0"));
}

// Compares LaneOrder with a model that remembers which lanes have met at barriers, directly or through a chain of
// lanes.
TEST(LaneRaces, OrderIsThatOfChainsOfBarriers) {
  constexpr std::size_t lanes = 32;
  for (const std::uint64_t seed : drawn_seeds(200)) {
    Rng rng(seed);
    LaneOrder order;
    struct Made {
      std::size_t lane;
      Epoch epoch;
      LaneSet known;  // lanes that are ordered after this access
    };
    std::vector<Made> made;
    for (int step = 0; step < 60; ++step) {
      if (rng.below(3) > 0) {
        const std::size_t lane = rng.below(lanes);
        made.push_back({lane, order.epoch(lane), LaneSet{1} << lane});
        continue;
      }
      const LaneSet set = rng.below(6) == 0 ? ~LaneSet{0} : static_cast<LaneSet>(rng.below(std::uint64_t{1} << 32));
      order.meet(set);
      for (Made& each : made)
        if ((each.known & set) != 0) each.known |= set;
    }
    for (const Made& each : made)
      for (std::size_t lane = 0; lane < lanes; ++lane)
        ASSERT_EQ(order.covers(lane, each.lane, each.epoch), (each.known >> lane & 1) != 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace deplo::measure::ptx
