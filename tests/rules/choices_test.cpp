// What the untuned compiler takes: the first option of each fork, by rule and target.
#include <gtest/gtest.h>

#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::rules {
namespace {

ir::Program matmul(std::int64_t m, std::int64_t n, std::int64_t k) {
  return ir::parse(kernel("matmul").text, {{"M", m}, {"N", n}, {"K", k}});
}

// The first option of the knob on the heuristic's way; nullopt: no such decision.
std::optional<std::int64_t> first(const ir::Program& loop, const char* target, std::string_view knob) {
  const Lowering lowering = heuristic(loop, load_target(target));
  for (const Choice& choice : lowering.trail())
    if (choice.knob == knob) return std::get<std::int64_t>(choice.value);
  return std::nullopt;
}

std::vector<Value> options(const ir::Program& loop, const char* target, std::string_view knob) {
  Lowering lowering(loop, load_target(target));
  while (lowering.fork() && lowering.fork()->knob != knob) lowering.choose(0);
  return lowering.fork() ? lowering.fork()->options : std::vector<Value>{};
}

TEST(Choices, KIsSplitWhereBlocksOf64X128DoNotFillTheDevice) {
  EXPECT_EQ(first(matmul(32, 512, 3584), "sm_120", "split_matmul_k.splits"), 56);   // 4 blocks, 170 units, 224 chunks
  EXPECT_EQ(first(matmul(512, 3584, 3584), "sm_120", "split_matmul_k.splits"), 1);  // 224 blocks
  EXPECT_EQ(first(matmul(256, 3584, 3584), "sm_120", "split_matmul_k.splits"), 2);
  EXPECT_EQ(first(matmul(32, 512, 3584), "opencl-cpu", "split_matmul_k.splits"), std::nullopt);
}

TEST(Choices, BlocksRunRowByRowFirst) {
  EXPECT_EQ(first(matmul(512, 3584, 3584), "sm_90", "raster.group"), 1);
  EXPECT_EQ(options(matmul(512, 3584, 3584), "sm_90", "raster.group").size(), 4U);
  EXPECT_TRUE(options(matmul(512, 3584, 3584), "opencl-cpu", "raster.group").empty());
}

TEST(Choices, ChunksOfKAreDivisorsThatHoldWholeAccessesFirst) {
  const std::vector<Value> wanted = {Value{16L}, Value{32L}, Value{8L},   Value{64L}, Value{128L},
                                     Value{28L}, Value{56L}, Value{112L}, Value{14L}};
  EXPECT_EQ(options(matmul(512, 3584, 3584), "sm_90", "chunk_matmul_k.bk"), wanted);
  const std::vector<Value> guarded = {Value{16L}, Value{32L}, Value{8L}, Value{64L}, Value{128L}};
  EXPECT_EQ(options(matmul(64, 64, 509), "sm_90", "chunk_matmul_k.bk"), guarded);
  EXPECT_LE(options(matmul(64, 64, 5040), "sm_90", "chunk_matmul_k.bk").size(), 12U);
}

// Copied: pages between its rows, or more rows to share the copy.
TEST(Choices, ACpuCopiesThePanelUnlessFewRowsShareIt) {
  const ir::Program in_place = matmul(32, 256, 2048), far_rows = matmul(32, 2048, 2048), many = matmul(128, 256, 2048);
  EXPECT_EQ(first(in_place, "opencl-cpu", "stage_inputs.b"), 0);
  EXPECT_EQ(first(in_place, "opencl-cpu", "stage_inputs.a"), 1);
  EXPECT_EQ(first(in_place, "opencl-cpu", "chunk_matmul_k.bk"), 256);
  for (const ir::Program& copied : {far_rows, many}) {
    EXPECT_EQ(first(copied, "opencl-cpu", "stage_inputs.b"), 1);
    EXPECT_EQ(first(copied, "opencl-cpu", "stage_inputs.a"), 0);
  }
}

ir::Program softmax(std::int64_t rows, std::int64_t columns) {
  return ir::parse(kernel("softmax").text, {{"M", rows}, {"N", columns}});
}

TEST(Choices, ARowIsChunkedFirstWhereItDoesNotFit) {
  EXPECT_EQ(first(softmax(32, 2048), "sm_120", "chunk_reduce.chunk"), 0);
  EXPECT_GT(first(softmax(32, 32768), "sm_120", "chunk_reduce.chunk"), 0);
}

}  // namespace
}  // namespace deplo::rules
