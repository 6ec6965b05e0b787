// What mbarriers order, and their initialization.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/ptx/by_hand.h"

namespace deplo::measure::ptx {
namespace {

using ::testing::HasSubstr;

/// Returns the finding for two warps with an mbarrier for their arrivals at [%r2+256] and an element of `s` for each
/// thread at [%r3]. The first thread executes `initialization`.
std::string finding_with_mbarrier(const std::string& initialization, const std::string& body) {
  const std::string start =
      "  mov.u32 %r2, s;\n  shl.b32 %r3, %r0, 2;\n  add.u32 %r3, %r2, %r3;\n  setp.ne.u32 %p1, %r0, 0;\n"
      "  @%p1 bra begin;\n";
  return finding(by_hand(start + initialization + "begin:\n  bar.sync 0;\n" + body, ".shared .align 512 .b8 s[512];"),
                 {.threads = 64});
}

const std::string init_mbarrier = "  mbarrier.init.shared::cta.b64 [%r2+256], 64;\n";

// PTX ISA, "mbarrier.arrive" and "mbarrier.try_wait": without an order, they release and acquire.
TEST(Mbarriers, RelaxedOperationsNeedFences) {
  const auto found = [](const std::string& before, const std::string& arrive, const std::string& wait,
                        const std::string& after) {
    return finding_with_mbarrier(
        init_mbarrier,
        fmt::format("  st.shared.u32 [%r3], %r0;\n{}  mbarrier.arrive{}.shared::cta.b64 _, [%r2+256];\nwait:\n"
                    "  mbarrier.try_wait.parity{}.shared::cta.b64 %p2, [%r2+256], 0;\n  @!%p2 bra wait;\n{}"
                    "  xor.b32 %r4, %r3, 128;\n  ld.shared.u32 %r5, [%r4];\n",  // an element of the other warp
                    before, arrive, wait, after));
  };
  const std::string relaxed = ".relaxed.cta", fence = "  fence.acq_rel.cta;\n";
  EXPECT_EQ(found("", "", "", ""), "");
  EXPECT_EQ(found("", ".release.cta", ".acquire.cta", ""), "");
  EXPECT_THAT(found("", relaxed, "", ""), HasSubstr("race: reads 4 bytes"));
  EXPECT_THAT(found("", "", relaxed, ""), HasSubstr("race: reads 4 bytes"));
  EXPECT_EQ(found(fence, relaxed, relaxed, fence), "");
}

// PTX ISA, "mbarrier.test_wait": a state is that of the current phase or of the one before it.
TEST(Mbarriers, StatesAreOfTheLastPhase) {
  const std::string arrive = "  mbarrier.arrive.shared::cta.b64 %rd{}, [%r2+256];\n  bar.sync 0;\n",
                    test = "  mbarrier.test_wait.shared::cta.b64 %p2, [%r2+256], %rd5;\n",
                    first = fmt::format(fmt::runtime(arrive), 5), next = fmt::format(fmt::runtime(arrive), 6);
  EXPECT_EQ(finding_with_mbarrier(init_mbarrier, first + test), "");
  EXPECT_THAT(finding_with_mbarrier(init_mbarrier, first + next + test),
              HasSubstr("waits for phase 0 of the mbarrier, which is in phase 2 already"));
}

TEST(Mbarriers, AreInitializedOnce) {
  EXPECT_EQ(finding_with_mbarrier(init_mbarrier, ""), "");
  EXPECT_THAT(finding_with_mbarrier(init_mbarrier + init_mbarrier, ""),
              HasSubstr("again, without mbarrier.inval in between"));
  EXPECT_EQ(finding_with_mbarrier(init_mbarrier + "  mbarrier.inval.shared::cta.b64 [%r2+256];\n" + init_mbarrier, ""),
            "");
}

}  // namespace
}  // namespace deplo::measure::ptx
