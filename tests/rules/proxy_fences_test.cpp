// Tests where threads fence their reads of shared memory against the TMA copies that overwrite it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::rules::proxy_fences_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string kernel_text(ir::DType dtype, std::string_view target, std::string_view wanted) {
  ir::Program loop = matmul(128, 128, 256);
  for (ir::Buffer& buffer : loop.buffers) buffer.dtype = dtype;
  const Trail trail = parse_trail(wanted);
  Lowering lowering(loop, load_target(target));
  while (const auto& fork = lowering.fork()) {
    const auto choice = std::ranges::find(trail, fork->knob, &Choice::knob);
    const auto option = choice == trail.end() ? fork->options.begin() : std::ranges::find(fork->options, choice->value);
    lowering.choose(static_cast<std::size_t>(option - fork->options.begin()));
  }
  return ir::print(materialize(lowering.program(), load_target(target)));
}

// A fence is needed only before the barrier in the loop. After the last barrier, no slot is filled again.
TEST(ProxyFences, StandBeforeTheBarrierOfAPipeline) {
  const std::string text = kernel_text(ir::DType::f32, "sm_90", "split_matmul_k.splits=1 double_buffer.depth=2");
  ASSERT_THAT(text, HasSubstr("TmaLoad("));
  const std::size_t fence = text.find("    ProxyFence\n    Sync\n");
  EXPECT_NE(fence, std::string::npos) << text;
  EXPECT_EQ(text.find("ProxyFence", fence + 10), std::string::npos) << text;
}

TEST(ProxyFences, StandBeforeTheArrivalOfAWarp) {
  const std::string text =
      kernel_text(ir::DType::bf16, "sm_90", "mma.atom=m16n8k16 tma_copy.a=1 tma_copy.b=1 specialize_warps.apply=1");
  ASSERT_THAT(text, HasSubstr("Produce("));
  EXPECT_THAT(text, ::testing::ContainsRegex("    ProxyFence\n    if [^\n]*:\n      MbarrierArrive\\(empty"));
  EXPECT_THAT(text, Not(HasSubstr("ProxyFence\n  Sync")));
}

TEST(ProxyFences, AreNotForProductsOfWarpgroupsAndOtherCopies) {
  const std::string products = kernel_text(ir::DType::bf16, "sm_90", "");
  ASSERT_THAT(products, HasSubstr("Wgmma("));
  EXPECT_THAT(products, Not(HasSubstr("ProxyFence")));
  const std::string copies = kernel_text(ir::DType::bf16, "sm_80", "");
  ASSERT_THAT(copies, HasSubstr("CpAsyncCopy("));
  EXPECT_THAT(copies, Not(HasSubstr("ProxyFence")));
}

}  // namespace
}  // namespace deplo::rules::proxy_fences_test
