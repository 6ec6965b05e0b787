// How long the shared memory of another block of the cluster exists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drawn_seeds.h"
#include "measure/ptx/by_hand.h"

namespace deplo::measure::ptx {
namespace {

using ::testing::HasSubstr;

/// Returns the finding for a cluster of two blocks, in which [%r5] is an element of the other block's memory.
std::string finding_in_cluster(const std::string& body, std::uint64_t seed) {
  const std::string start =
      "  mov.u32 %r1, %cluster_ctarank;\n  xor.b32 %r2, %r1, 1;\n  mov.u32 %r3, s;\n  shl.b32 %r4, %r0, 2;\n"
      "  add.u32 %r3, %r3, %r4;\n  mapa.shared::cluster.u32 %r5, %r3, %r2;\n";
  return finding(by_hand(start + body, ".shared .align 16 .b8 s[128];", ".reqnctapercluster 2, 1, 1"),
                 {.blocks = 2, .seed = seed});
}

const std::string cluster_wait = "  barrier.cluster.wait.aligned;\n",
                  relaxed_barrier = "  barrier.cluster.arrive.relaxed.aligned;\n" + cluster_wait,
                  release_barrier = "  barrier.cluster.arrive.release.aligned;\n" + cluster_wait,
                  write_afar = "  st.shared::cluster.u32 [%r5], %r0;\n",
                  read_afar = "  ld.shared::cluster.u32 %r6, [%r5];\n";

TEST(Clusters, ABlockMustHaveStarted) {
  for (const std::uint64_t seed : drawn_seeds(4)) {
    EXPECT_THAT(finding_in_cluster(write_afar + release_barrier, seed),
                HasSubstr("nothing orders this with its start"));
    EXPECT_EQ(finding_in_cluster(relaxed_barrier + write_afar + release_barrier, seed), "");
    EXPECT_EQ(finding_in_cluster(release_barrier + write_afar + release_barrier, seed), "");
  }
}

TEST(Clusters, ABlockMustNotHaveEnded) {
  for (const std::uint64_t seed : drawn_seeds(4)) {
    EXPECT_THAT(finding_in_cluster(relaxed_barrier + read_afar, seed), HasSubstr("end"));
    EXPECT_THAT(finding_in_cluster(relaxed_barrier + read_afar + relaxed_barrier, seed),
                HasSubstr("may end before warp 0 of rank 1 accesses its shared memory"));
    EXPECT_EQ(finding_in_cluster(relaxed_barrier + read_afar + release_barrier, seed), "");
  }
}

}  // namespace
}  // namespace deplo::measure::ptx
