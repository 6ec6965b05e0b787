// The analytic prior: by hand, and in order where the order is not in doubt.
#include "rules/cost/roofline.h"

#include <gtest/gtest.h>

#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::measure {
namespace {

double predicted(const std::string& kernel, const ir::Symbols& symbols, const std::string& target_name,
                 const std::string& trail) {
  const Target target = load_target(target_name);
  const ir::Program loop = ir::parse(rules::kernel(kernel).text, symbols, kernel);
  return roofline_us(rules::features(rules::follow(loop, target, parse_trail(trail)).value().program(), target), target,
                     {100, 100, 1000});
}

// One unit busy with nothing but 1000 multiply-adds of 16 lanes at 1000 GFLOP/s: 32,000 FLOPs.
TEST(Roofline, ArithmeticByHand) {
  Target target = load_target("opencl-cpu");
  target.units = 1;
  rules::Features f;
  f.mix.arithmetic = 1000;
  EXPECT_NEAR(roofline_us(f, target, {100, 100, 1000}), 0.032, 1e-12);
  f.waves = 1.5;  // two rounds for one and a half
  EXPECT_NEAR(roofline_us(f, target, {100, 100, 1000}), 0.032 * 2 / 1.5, 1e-12);
}

TEST(Roofline, MemoryByHand) {
  rules::Features f;
  f.compulsory_bytes = f.traffic[2] = 1e6;  // at 100 GB/s
  EXPECT_NEAR(roofline_us(f, load_target("opencl-cpu"), {80, 100, 1000}), 10, 1e-9);
  EXPECT_NEAR(roofline_us(f, load_target("sm_90"), {80, 100, 1000}), 10, 1e-9);
}

// Measured on PoCL: 197 and 2,483 µs (experiments/results, matmul_256).
TEST(Roofline, WhatIsTwelveTimesSlowerOnACpuIsSeenToBe) {
  const ir::Symbols sizes = {{"M", 256}, {"N", 256}, {"K", 256}};
  const double best = predicted("matmul", sizes, "opencl-cpu",
                                "chunk_matmul_k.bk=256 blockify_launch.bm=256 blockify_launch.bn=64 stage_inputs.a=0 "
                                "stage_inputs.b=1 register_tile.fm=8 register_tile.fn=32");
  const double scalar = predicted("matmul", sizes, "opencl-cpu",
                                  "chunk_matmul_k.bk=64 blockify_launch.bm=24 blockify_launch.bn=64 stage_inputs.a=0 "
                                  "stage_inputs.b=0 register_tile.fm=12 register_tile.fn=2 vectorize.width=1");
  EXPECT_GT(scalar, 4 * best);
}

TEST(Roofline, FewThreadsAndNoTileAreSlowerOnAGpu) {
  const ir::Symbols sizes = {{"M", 2048}, {"N", 2048}, {"K", 2048}};
  const double heuristic = predicted("matmul", sizes, "sm_80", "");
  const double small = predicted("matmul", sizes, "sm_80",
                                 "chunk_matmul_k.bk=16 split_matmul_k.splits=1 blockify_launch.bm=16 "
                                 "blockify_launch.bn=16 raster.group=1 stage_inputs.a=1 stage_inputs.b=1 "
                                 "register_tile.fm=1 register_tile.fn=1");
  EXPECT_GT(small, 2 * heuristic);
}

}  // namespace
}  // namespace deplo::measure
