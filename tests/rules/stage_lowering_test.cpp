// Tests how the threads of a CPU's block share the copies of a slab: rows are read from their beginning to their end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::rules {
namespace {

using ::testing::HasSubstr;

ir::Program lowered(const ir::Program& loop, const char* target_name) {
  const Target target = load_target(target_name);
  return materialize(heuristic(loop, target).program(), target);
}

TEST(CopiesOnCpus, EachThreadCopiesARun) {
  const ir::Program loop = matmul(512, 96, 512);  // 64 threads, and 1536 copies of 16 numbers
  const std::string text = ir::print(lowered(loop, "opencl-cpu"));
  EXPECT_THAT(text, HasSubstr("  for a4 in 0..24: # free\n    Prefetch(b[(((a1 * 8) + (a4 / 3)) + 8)"));
  EXPECT_EQ(finding(matmul(64, 32, 80), lowered(matmul(64, 32, 80), "opencl-cpu"), 1), "");
}

// 11 threads do not divide 1536 copies, so strided ones would not follow each other.
TEST(CopiesOnCpus, TheFirstThreadCopiesAllThatDoNotDivide) {
  const std::string text = ir::print(lowered(matmul(77, 96, 512), "opencl-cpu"));
  EXPECT_THAT(text, HasSubstr("  if (a1 == 0):\n    for a4 in 0..1536: # free\n      Prefetch(b[((a4 / 3) + 8)"));
  const ir::Program small = matmul(77, 48, 20);
  EXPECT_THAT(ir::print(lowered(small, "opencl-cpu")), HasSubstr("== 0)"));
  EXPECT_EQ(finding(small, lowered(small, "opencl-cpu"), 1), "");
}

}  // namespace
}  // namespace deplo::rules
