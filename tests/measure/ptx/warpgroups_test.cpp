// What the four warps of a warpgroup must do together, and the registers and matrices of wgmma.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/ptx/by_hand.h"

namespace deplo::measure::ptx {
namespace {

using ::testing::HasSubstr;

const std::string wgmma_fence = "  wgmma.fence.sync.aligned;\n",
                  wgmma_product =
                      "  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, "
                      "0, 1, 1, 0, 0;\n",
                  wgmma_wait = "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";

/// Returns the finding for a kernel with the descriptor of a in %rd1 and that of b in %rd2. The rows of both matrices
/// have 128 bytes and are swizzled. `start`: the byte of shared memory at which a begins.
std::string finding_in_warpgroup(const std::string& body, std::int64_t threads = 128, int start = 0) {
  const std::string descriptors = fmt::format(
      "  mov.u64 %rd3, s;\n  shr.u64 %rd3, %rd3, 4;\n  or.b64 %rd3, %rd3, 4611686293305294848;\n"
      "  add.s64 %rd1, %rd3, {};\n  add.s64 %rd2, %rd3, 512;\n",
      start / 16);
  return finding(by_hand(descriptors + body, ".shared .align 1024 .b8 s[16384];"), {.threads = threads});
}

TEST(Warpgroups, AFenceComesBeforeTheFirstProduct) {
  EXPECT_EQ(finding_in_warpgroup(wgmma_fence + wgmma_product + wgmma_wait), "");
  EXPECT_THAT(finding_in_warpgroup(wgmma_product + wgmma_wait), HasSubstr("no wgmma.fence comes before this wgmma"));
}

TEST(Warpgroups, AFenceComesBetweenOtherAccessesAndAProduct) {
  const std::string says = "a register of this wgmma was read or written after the last wgmma.fence";
  const std::string read = "  mov.f32 %f9, %f1;\n", write = "  mov.f32 %f1, 0f00000000;\n";
  for (const std::string& access : {read, write}) {
    EXPECT_THAT(finding_in_warpgroup(wgmma_fence + access + wgmma_product + wgmma_wait), HasSubstr(says));
    EXPECT_THAT(finding_in_warpgroup(wgmma_fence + wgmma_product + wgmma_wait + access + wgmma_product + wgmma_wait),
                HasSubstr(says));
    EXPECT_EQ(finding_in_warpgroup(wgmma_fence + wgmma_product + wgmma_wait + access + wgmma_fence + wgmma_product +
                                   wgmma_wait),
              "");
  }
  EXPECT_EQ(finding_in_warpgroup(wgmma_fence + wgmma_product + wgmma_product + wgmma_wait), "")
      << "the products share their sums";
}

TEST(Warpgroups, AMatrixBeginsWhereItsPatternBegins) {
  const std::string body = wgmma_fence + wgmma_product + wgmma_wait;
  EXPECT_EQ(finding_in_warpgroup(body, 128, 32), "") << "later elements along k";
  EXPECT_EQ(finding_in_warpgroup(body, 128, 1024), "") << "the next eight rows";
  EXPECT_THAT(finding_in_warpgroup(body, 128, 256),
              HasSubstr("begins in row 2 of the 8 rows of its swizzle's pattern, but the base offset"));
}

TEST(Warpgroups, AProxyFenceAppliesToItsMemory) {
  const auto found = [](const std::string& proxy_fence) {
    return finding_in_warpgroup(
        "  mov.u32 %r2, s;\n  shl.b32 %r3, %r0, 2;\n  add.u32 %r2, %r2, %r3;\n  st.shared.u32 [%r2], 0;\n" +
        proxy_fence + "  bar.sync 0;\n" + wgmma_fence + wgmma_product + wgmma_wait);
  };
  EXPECT_EQ(found("  fence.proxy.async;\n"), "");
  EXPECT_EQ(found("  fence.proxy.async.shared::cta;\n"), "");
  EXPECT_THAT(found("  fence.proxy.async.global;\n"), HasSubstr("without fence.proxy.async"));
  EXPECT_THAT(found(""), HasSubstr("without fence.proxy.async"));
}

TEST(Warpgroups, AllFourWarpsMultiply) {
  const std::string body = wgmma_fence + wgmma_product + wgmma_wait;
  EXPECT_THAT(finding_in_warpgroup(body, 96), HasSubstr("expected a warpgroup of four warps, found one of 3"));
  EXPECT_THAT(finding_in_warpgroup(body, 192), HasSubstr("expected a warpgroup of four warps, found one of 2"));
  EXPECT_THAT(finding_in_warpgroup("  setp.ge.u32 %p1, %r0, 96;\n  @%p1 exit;\n" + body),
              HasSubstr("warp 3 of block 0 ends without wgmma.mma_async"));
}

TEST(Warpgroups, AllFourWarpsMoveRegisters) {
  const std::string body = "  setmaxnreg.dec.sync.aligned.u32 24;\n";
  EXPECT_EQ(finding_in_warpgroup(body), "");
  EXPECT_THAT(finding_in_warpgroup("  setp.ge.u32 %p1, %r0, 32;\n  @%p1 exit;\n" + body),
              HasSubstr("warp 1 of block 0 ends without setmaxnreg.dec"));
}

}  // namespace
}  // namespace deplo::measure::ptx
