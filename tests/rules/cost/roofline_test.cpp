// Tests the analytic prior against calculations by hand, and its ranking of schedules whose order is not in doubt.
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

// One unit executes only 1000 multiply-adds of 16 lanes, which are 32,000 FLOPs, at 1000 GFLOP/s.
TEST(Roofline, ArithmeticByHand) {
  Target target = load_target("opencl-cpu");
  target.units = 1;
  rules::Features f;
  f.mix.arithmetic = 1000;
  EXPECT_NEAR(roofline_us(f, target, {100, 100, 1000}), 0.032, 1e-12);
  f.waves = 1.5;  // 1.5 waves take two rounds
  EXPECT_NEAR(roofline_us(f, target, {100, 100, 1000}), 0.032 * 2 / 1.5, 1e-12);
}

TEST(Roofline, MemoryByHand) {
  rules::Features f;
  f.compulsory_bytes = f.traffic[2] = 1e6;  // at 100 GB/s
  EXPECT_NEAR(roofline_us(f, load_target("opencl-cpu"), {80, 100, 1000}), 10, 1e-9);
}

// One block of 4 warps, on one unit of a GPU with 1000 GFLOP/s. The unit does 256 FLOPs in a cycle, which takes 0.256
// ns.
rules::Features one_block() {
  rules::Features f;
  f.threads = 128;
  return f;
}
Target one_unit() {
  Target target = load_target("sm_90");
  target.units = 1;
  return target;
}
constexpr double launch = 1, cycle = 0.256e-3;
constexpr double last_writes = 500;  // cycles
double cycles(const rules::Features& f) {
  return (roofline_us(f, one_unit(), {100, 100, 1000}) - launch) / cycle - last_writes;
}

TEST(Roofline, OneWarpOnEachSchedulerOfAGpuTakesTheSumOfItsDemands) {
  rules::Features f = one_block();
  f.mix.arithmetic = 128 * 1000;  // 1000 per thread
  EXPECT_NEAR(cycles(f), 1000, 1e-6);
  f.mix.special = 128 * 10;
  EXPECT_NEAR(cycles(f), 1000 + 10 + 80, 1e-6);
  f.mix.shared_waits = 5;
  EXPECT_NEAR(cycles(f), 1090 + 150, 1e-6);
  f.mix.jumps = 2;
  EXPECT_NEAR(cycles(f), 1240 + 8, 1e-6);
}

// Four warps queue for shared memory. Each uses it for 100 cycles, and waits for the others at most 300 cycles.
TEST(Roofline, WarpsQueueForWhatAUnitHasOnce) {
  rules::Features f = one_block();
  f.mix.arithmetic = 128 * 1000;
  f.wavefronts = 400;
  EXPECT_GT(cycles(f), 1100);
  EXPECT_LT(cycles(f), 1400);
}

TEST(Roofline, ManyWarpsOfAGpuTakeWhatTheBusiestPlaceTakes) {
  rules::Features f = one_block();
  f.blocks = f.resident = 16;
  f.mix.arithmetic = 128 * 1000 * f.blocks;
  f.wavefronts = 100 * 64;
  f.mix.shared_waits = 20;
  EXPECT_GE(cycles(f), 16 * 1000);
  EXPECT_LT(cycles(f), 1.05 * 16 * 1000);
}

// If 16 blocks fit, 17 blocks take two rounds. The second round has one block.
TEST(Roofline, ATailWaveOfAGpuIsARoundOfItsOwn) {
  rules::Features f = one_block();
  f.resident = 16;
  const auto of = [&](double blocks) {
    f.blocks = blocks;
    f.mix.arithmetic = 128 * 1000 * blocks;
    return cycles(f);
  };
  EXPECT_NEAR(of(17), of(16) + of(1), 1e-6);
  EXPECT_NEAR(of(32), 2 * of(16), 1e-6);
}

// 4,096^3 multiply-adds of 16 bits take 254,200 cycles on 132 units, which are 150 µs at 1.7 GHz. In 1,024 of these
// cycles, a block of 128 x 256 reads 48 KiB, for which the second-level cache takes 1,536 cycles.
TEST(Roofline, TensorCoresBoundAMatmulOf16Bits) {
  const Target target = load_target("sm_90");
  ir::Program loop = rules::matmul(4096, 4096, 4096);
  for (ir::Buffer& buffer : loop.buffers) buffer.dtype = ir::DType::bf16;
  const auto us = [&](const std::string& atom) {
    const rules::Lowering lowering = rules::heuristic_with(loop, target, "mma.atom", Value(atom));
    return roofline_us(rules::features(lowering.program(), target), target, {2500, 2500, 57'446});
  };
  EXPECT_GT(us("m64n256k16"), 150);
  EXPECT_LT(us("m64n256k16"), 2 * 150);
  EXPECT_GT(us("m16n8k16"), 1.2 * us("m64n256k16"));
  EXPECT_GT(us("none"), 8 * us("m64n256k16"));
}

// 1 MB at 100 GB/s takes 10 µs. An output that is added to is zeroed first, and so goes to the second-level cache
// twice.
TEST(Roofline, MemoryAtomicsAndASecondLaunchOfAGpu) {
  rules::Features f = one_block();
  f.compulsory_bytes = 1e6;
  const double once = roofline_us(f, one_unit(), {80, 100, 1000});
  EXPECT_NEAR(once, launch + cycle * last_writes + 10, 0.1);
  f.zeroed_bytes = 1e5;
  EXPECT_NEAR(roofline_us(f, one_unit(), {80, 100, 1000}), once + launch + 1, 1e-6);
  f.mix.atomics = 128 * 100;
  f.mix.stores = 128 * 25;  // stores of 4 lanes each
  EXPECT_GT(roofline_us(f, one_unit(), {80, 100, 1000}), once + launch + 1 + cycle * 200);
}

// Without a pipeline, a block waits for each slab. With a pipeline, it waits only as long as the arithmetic does not
// cover.
TEST(Roofline, APipelineHidesTheWayOfItsSlabs) {
  rules::Features f = one_block();
  f.mix.arithmetic = 128 * 10'000;
  f.slabs = 10;
  EXPECT_NEAR(cycles(f), 10'000 + 10 * 270, 1e-6);
  f.ahead = 1;
  EXPECT_NEAR(cycles(f), 10'000 + 270, 1e-6);  // waits for the first slab only
  f.mix.arithmetic = 128 * 100;
  EXPECT_NEAR(cycles(f), 10 * 270, 1e-6);
}

// The two schedules take 197 and 2,483 µs, measured on PoCL (experiments/results, matmul_256).
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
                                 "blockify_launch.bn=32 raster.group=1 stage_inputs.a=1 stage_inputs.b=1 "
                                 "register_tile.fm=2 register_tile.fn=2");
  EXPECT_GT(small, 2 * heuristic);
}

}  // namespace
}  // namespace deplo::measure
