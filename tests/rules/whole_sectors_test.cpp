// Tests that 16-bit results of matrix instructions are stored in 16 bytes at a time if their layout permits it, and
// otherwise as before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ir/program.h"
#include "ir/walk.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::rules::whole_sectors_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns the Kernel IR of the heuristic's schedule for a matmul of bf16.
std::string kernel_of(const char* target, std::int64_t m, std::int64_t n, std::int64_t k,
                      ir::DType result = ir::DType::bf16) {
  ir::Program loop = matmul(m, n, k);
  for (ir::Buffer& buffer : loop.buffers) buffer.dtype = buffer.role == ir::Role::output ? result : ir::DType::bf16;
  Lowering lowering(loop, load_target(target));
  while (lowering.fork()) lowering.choose(0);
  return ir::print(materialize(lowering.program(), lowering.target()));
}

TEST(WholeSectors, AreStoredByWarpsAndWarpgroups) {
  for (const char* target : {"sm_80", "sm_90", "sm_120"}) {
    const std::string text = kernel_of(target, 512, 512, 512);
    EXPECT_THAT(text, HasSubstr(":x8 = v")) << target;
    EXPECT_THAT(text, Not(HasSubstr(":x2 = "))) << target;
  }
}

// With two columns of 16 x 8 sums, four threads have two rows of 16 elements.
TEST(WholeSectors, AreStoredOfTwoRows) {
  const std::string text = kernel_of("sm_90", 32, 2048, 5632);
  EXPECT_THAT(text, HasSubstr("/ 2) * 8)"));
  EXPECT_THAT(text, Not(ContainsRegex("  c\\[[^\n]*:x2 = ")));
}

TEST(WholeSectors, NeedRowsOfWholeVectors) {
  EXPECT_THAT(kernel_of("sm_80", 512, 516, 512), Not(HasSubstr("QuadTranspose")));  // rows of 1,032 bytes
  EXPECT_THAT(kernel_of("sm_80", 512, 512, 512, ir::DType::f32), Not(HasSubstr("QuadTranspose")));
}

}  // namespace
}  // namespace deplo::rules::whole_sectors_test
