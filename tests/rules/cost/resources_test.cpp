// Compares resource limits with numbers of CUDA's occupancy calculator, and with the layout of shared memory.
#include "rules/cost/resources.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "ir/emit/emit.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::rules {
namespace {

TEST(Resources, AThreadMayHaveItsPartOfTheRegisterFileInStepsOf8) {
  const Target target = load_target("sm_90");
  EXPECT_EQ(thread_registers(1024, target), 64);
  EXPECT_EQ(thread_registers(512, target), 128);
  EXPECT_EQ(thread_registers(384, target), 168);  // 65536 / 384 = 170.7
  EXPECT_EQ(thread_registers(256, target), 255);
  EXPECT_EQ(thread_registers(1, target), 255);
  EXPECT_EQ(thread_registers(257, target), 224);  // 9 warps: 65536 / 288 = 227.6
}

// Numbers of CUDA's occupancy calculator: (threads, registers, shared bytes) → blocks per unit.
TEST(Resources, OccupancyIsThatOfTheCalculator) {
  const Target a100 = load_target("sm_80"), geforce = load_target("sm_120");
  EXPECT_EQ(occupancy(256, 32, 0, a100).blocks, 8);   // 2048 threads
  EXPECT_EQ(occupancy(256, 128, 0, a100).blocks, 2);  // 16 warps of 4096 registers
  EXPECT_EQ(occupancy(256, 129, 0, a100).blocks, 1);  // warps of 4352 registers: 15 fit, 12 with 4 schedulers
  EXPECT_EQ(occupancy(128, 168, 0, a100).blocks, 3);  // 12 warps of 5376 registers
  EXPECT_EQ(occupancy(32, 32, 0, a100).blocks, 32);   // the most blocks that a unit runs
  EXPECT_EQ(occupancy(32, 32, 0, geforce).blocks, 24);
  EXPECT_EQ(occupancy(256, 32, 49152, a100).blocks, 3);     // 164 KiB in parts of 49 KiB
  EXPECT_EQ(occupancy(256, 32, 32768, geforce).blocks, 3);  // 100 KiB in parts of 33 KiB
  EXPECT_EQ(occupancy(1024, 80, 0, a100).blocks, 0);        // 32 warps of 2560 registers do not fit
  EXPECT_DOUBLE_EQ(occupancy(256, 128, 0, a100).fraction, 0.25);
  EXPECT_DOUBLE_EQ(occupancy(1024, 32, 0, geforce).fraction, 1024.0 / 1536);
}

TEST(Resources, ATargetThatSaysNothingOfItsUnitsRunsABlock) {
  EXPECT_EQ(occupancy(256, 32, 0, load_target("opencl-gpu")).blocks, 1);
}

TEST(Resources, ARegisterTileFitsTheRegisterFile) {
  const Target target = load_target("sm_90");
  EXPECT_TRUE(legal_register_tile(128, 128, 8, 8, target));   // 256 threads
  EXPECT_TRUE(legal_register_tile(128, 256, 8, 8, target));   // 512 threads of 128 registers, 104 needed
  EXPECT_FALSE(legal_register_tile(256, 256, 8, 8, target));  // 1024 threads of 64 registers
  EXPECT_TRUE(legal_register_tile(128, 128, 4, 4, target));   // 1024 threads, 48 needed
  EXPECT_FALSE(legal_register_tile(256, 128, 4, 8, target));  // 1024 threads, 68 needed
  EXPECT_TRUE(legal_register_tile(256, 128, 16, 8, target));
  EXPECT_FALSE(legal_register_tile(256, 128, 16, 16, target));  // 256 accumulators
  EXPECT_FALSE(legal_register_tile(128, 128, 3, 8, target));    // 3 does not divide 128
}

TEST(Resources, BlocksOfAGpuAreTwoWholeWarpsOrMore) {
  const Target target = load_target("sm_90");
  EXPECT_FALSE(whole_warps(32, target));
  EXPECT_TRUE(whole_warps(64, target));
  EXPECT_FALSE(whole_warps(80, target));
  EXPECT_TRUE(whole_warps(96, target));
  EXPECT_TRUE(whole_warps(3, load_target("opencl-cpu")));
  EXPECT_TRUE(block_tile_of_warps(16, 32, target));
  EXPECT_FALSE(block_tile_of_warps(4, 8, target));
  EXPECT_FALSE(block_tile_of_warps(10, 10, target));  // 100, 50, 25, 20 … threads
}

std::set<std::pair<std::int64_t, std::int64_t>> tiles(std::int64_t bm, std::int64_t bn, const char* target) {
  std::set<std::pair<std::int64_t, std::int64_t>> result;
  for (const auto& [fm, fn] : register_tiles(bm, bn, load_target(target))) result.emplace(fm, fn);
  return result;
}

TEST(Resources, RegisterTilesThatLoadTooMuchAreNotOffered) {
  const auto large = tiles(128, 128, "sm_90");
  for (const auto& tile : {std::pair{8L, 8L}, {8L, 16L}, {16L, 8L}, {4L, 8L}, {4L, 4L}})
    EXPECT_EQ(large.count(tile), 1U);
  EXPECT_EQ(large.count({64, 2}), 0U);  // 66 loads for 128 outputs; 8 x 16 needs 24
  EXPECT_EQ(large.count({2, 8}), 0U);   // 10 loads for 16 outputs: per output more than three times the 24 for 128
  for (const auto& [fm, fn] : tiles(64, 96, "sm_90")) EXPECT_TRUE(fn <= 2 || fn % 4 == 0) << fm << " x " << fn;
  EXPECT_EQ(tiles(208, 128, "sm_120").count({26, 4}), 1U);
  EXPECT_EQ(tiles(112, 32, "sm_120").count({14, 2}), 1U);
  EXPECT_EQ(tiles(32, 32, "sm_120").count({2, 2}), 1U);
}

TEST(Resources, ABlockTileWithoutWholeWarpsHasAllRegisterTiles) {
  EXPECT_EQ(tiles(10, 10, "sm_90").size(), 16U);
  EXPECT_EQ(tiles(4, 64, "opencl-cpu").count({1, 64}), 1U);
}

TEST(Resources, ACpuCountsVectors) {
  const Target target = load_target("opencl-cpu");
  EXPECT_TRUE(legal_register_tile(48, 64, 12, 32, target));
  EXPECT_FALSE(legal_register_tile(48, 64, 16, 32, target));
}

TEST(Resources, TheLastThreadOfACpuIsShiftedIfNoDivisorIsNear) {
  const Target target = load_target("opencl-cpu");
  EXPECT_TRUE(legal_thread_rows(31, 8, target));    // 4 threads compute 32 rows
  EXPECT_FALSE(legal_thread_rows(31, 9, target));   // 4 threads need only 8 rows
  EXPECT_TRUE(legal_thread_rows(31, 16, target));
  EXPECT_FALSE(legal_thread_rows(31, 3, target));   // less than half of the 8 rows that a thread should have
  EXPECT_FALSE(legal_thread_rows(77, 10, target));  // 7 and 11 divide
  EXPECT_FALSE(legal_thread_rows(31, 8, load_target("sm_90")));
  EXPECT_TRUE(legal_block_tile(197, 64, target));
  for (std::int64_t rows = 1; rows < 600; ++rows) {  // every block has threads with at least half of the wanted rows
    bool found = rows < 4;
    for (std::int64_t fm = 4; fm <= 16; ++fm) found |= legal_thread_rows(rows, fm, target);
    EXPECT_TRUE(found) << rows;
  }
}

ir::Program parsed(std::string_view text) { return ir::parse(text); }

constexpr const char* rows = R"(=== tile: rows ===
input x: f32[4, 64]
output y: f32[4]
Tile(axes=(a0:2=THREAD, a1:64=THREAD, a2:2=BLOCK)):
  x_smem = Stage(x, origin=((a2 * 2), 0), slab=(s0:2@0, s1:64@1))
  StridedLoop(a3 = a1; < 64; += 64): # reduce
    in0 = load x_smem[a0, a3]
    acc0 <- add(acc0, in0)
  Combine(acc0, op=add, over=(a1))
  if (a1 == 0):
    y[((a2 * 2) + a0)] = acc0
)";

TEST(Resources, ACombineTakesAFloatPerWarpOrThread) {
  EXPECT_EQ(shared_bytes(parsed(rows), load_target("sm_90")), 2 * 64 * 4 + 2 * 2 * 4);
  EXPECT_EQ(shared_bytes(parsed(rows), load_target("opencl-gpu")), 2 * 64 * 4 + 2 * 64 * 4);
}

TEST(Resources, ACombineOfOneWarpTakesNothing) {
  std::string text = rows;
  for (const std::string_view from : {"a1:64=THREAD", "+= 64)"}) text.replace(text.find(from) + 3, 2, "32");
  EXPECT_EQ(shared_bytes(parsed(text), load_target("sm_90")), 2 * 64 * 4);
}

TEST(Resources, AnExchangeTakesAFloatForEachSumOfABlock) {
  const auto bytes = [](const char* axis) {
    const std::string text = fmt::format(R"(=== tile: parts ===
input x: f32[4, 8, 16]
output y: f32[8, 16]
Tile(axes=(a0:4={}, a1:8=THREAD, a2:4=REG, a3:4=REG)):
  for a4 in 0..1: # reduce
    in0 = load x[a0, a1, ((a2 * 4) + a3)]
    acc0 <- add(acc0, in0)
  Combine(acc0, op=add, over=(a0), to=a2)
  if (a0 == a2):
    y[a1, ((a2 * 4) + a3)] = acc0
)",
                                         axis);
    return shared_bytes(parsed(text), load_target("sm_90"));
  };
  EXPECT_EQ(bytes("THREAD"), 4 * 8 * 16 * 4);
  EXPECT_EQ(bytes("CLUSTER"), 8 * 16 * 4);
}

TEST(Resources, SlotsPadsAndBarriersCount) {
  const char* text = R"(=== tile: pipeline ===
input x: f32[8, 64]
output y: f32[8]
Tile(axes=(a0:8=THREAD)):
  for a1 in 0..4: # free
    x_smem = Stage(x, origin=(0, (a1 * 16)), slab=(s0:8@0, s1:16@1)) buffers=3@(a1 % 3) tma
    AsyncWait(keep=0, phase=((a1 / 3) % 2), slot=(a1 % 3))
    for a2 in 0..16: # reduce
      in0 = load x_smem[(a1 % 3), a0, a2]
      acc0 <- add(acc0, in0)
  y[a0] = acc0
)";
  EXPECT_EQ(shared_bytes(parsed(text), load_target("sm_90")), 3 * 8 * 16 * 4 + 3 * 8);
}

// The rules' count of shared memory equals the size that the source declares.
TEST(Resources, SharedBytesAreThoseOfTheSource) {
  for (const char* name : {"sm_80", "sm_120", "opencl-gpu"})
    for (const char* of : {"matmul", "rmsnorm", "softmax"}) {
      const Target target = load_target(name);
      ir::Symbols sizes;
      for (const std::string& symbol : kernel(of).symbols) sizes[symbol] = 64;
      const Lowering lowering = heuristic(ir::parse(kernel(of).text, sizes), target);
      const ir::KernelSource source = ir::emit(materialize(lowering.program(), target), target);
      EXPECT_EQ(shared_bytes(lowering.program(), target), source.shared_bytes) << name << " " << of;
      EXPECT_TRUE(fits_shared(lowering.program(), target));
    }
}

}  // namespace
}  // namespace deplo::rules
