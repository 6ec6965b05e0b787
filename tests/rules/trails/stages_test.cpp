// Tests chunk loops: which loops are chunk loops, the names of their stages' knobs, waits for the stages, and copies of
// loop bodies.
#include <gtest/gtest.h>

#include "rules/analysis/tile.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

// A program with two chunk loops, and with loops that are not chunk loops. The first chunk loop has two stages. The
// second has a stage whose source the first one stages, too.
constexpr const char* two_loops = R"(=== tile: k ===
input x: f32[64]
input w: f32[64]
output y: f32[8]
Tile(axes=(a0:8=THREAD)):
  row = Stage(w, origin=(0), slab=(s0:64@0))
  for a1 in 0..4: # free
    x_smem = Stage(x, origin=((a1 * 16)), slab=(s0:16@0)) buffers=3@(a1 % 3)
    w_smem = Stage(w, origin=((a1 * 16)), slab=(s0:16@0)) buffers=3@(a1 % 3) tma
    for a2 in 0..16: # reduce
      in0 = load x_smem[(a1 % 3), a2]
      in1 = load w_smem[(a1 % 3), a2]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
  for a3 in 0..2: # free
    for a4 in 0..2: # free
      inner = Stage(x, origin=((a4 * 8)), slab=(s0:8@0))
      in2 = load inner[a0]
      acc1 <- add(acc1, in2)
  for a5 in 0..2: # free
    in3 = load row[a5]
    acc1 <- add(acc1, in3)
  for a6 in 0..8: # free
    x_smem1 = Stage(x, origin=((a6 * 8)), slab=(s0:8@0))
    AsyncWait(keep=0)
    in4 = load x_smem1[a0]
    acc2 <- add(acc2, in4)
    acc1 <- add(acc1, acc2)
  v1 = add(acc0, acc1)
  y[a0] = v1
)";

ir::Program program() { return ir::parse(two_loops); }

TEST(ChunkLoops, AreFreeLoopsOfTheTileThatBeginWithStages) {
  const ir::Program p = program();
  EXPECT_EQ(chunk_loops(tile_of(p)), (std::vector<std::size_t>{1, 4}));
}

TEST(ChunkLoops, HoldNoOtherStages) {
  ir::Program p = program();
  ir::Loop& loop = loop_at(tile_of(p), 1);
  loop.body.push_back(loop.body.front());
  EXPECT_EQ(chunk_loops(tile_of(p)), (std::vector<std::size_t>{4}));
}

TEST(ChunkLoops, StartAt0AndWalkBy1) {
  ir::Program p = program();
  loop_at(tile_of(p), 1).step = 2;
  loop_at(tile_of(p), 4).start = 1;
  EXPECT_TRUE(chunk_loops(tile_of(p)).empty());
}

TEST(ChunkStages, AreCalledByTheirSourceAndWhereThatIsStagedAgainByTheirBuffer) {
  const ir::Program p = program();
  const std::vector<ChunkStage> stages = chunk_stages(tile_of(p));
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[0].knob, "x");
  EXPECT_EQ(stages[1].knob, "w");
  EXPECT_EQ(stages[2].knob, "x_smem1");
  EXPECT_EQ(stage_at(tile_of(p), stages[1]).buffer, "w_smem");
  EXPECT_EQ(stage_at(tile_of(p), stages[2]).buffer, "x_smem1");
}

TEST(WaitFor, SaysPhaseAndSlotWhereSomethingTravelsByTma) {
  const ir::Program p = program();
  const ir::Tile& tile = tile_of(p);
  const ir::Loop& loop = loop_at(tile, 1);
  const ir::AsyncWait wait = wait_for(loop, ir::var("a1"), 0, scope_in(tile, &loop));
  EXPECT_EQ(ir::print(wait.phase), "(a1 / 3)");  // only the last of four chunks fills a slot again
  EXPECT_EQ(ir::print(wait.slot), "(a1 % 3)");
  const ir::AsyncWait last = wait_for(loop, 7, 0, {});
  EXPECT_TRUE(last.phase.is_constant(0) && last.slot.is_constant(1));
  const ir::Loop& other = loop_at(tile, 4);
  EXPECT_EQ(wait_for(other, ir::var("a6"), 2, {}), (ir::AsyncWait{2, 0, 0}));
}

TEST(PutWait, StandsOnceBehindTheStages) {
  ir::Program p = program();
  ir::Tile& tile = tile_of(p);
  for (int i = 0; i < 2; ++i) put_wait(tile, 1);
  const ir::Loop& loop = loop_at(tile, 1);
  ASSERT_EQ(loop.body.size(), 4U);
  ASSERT_NE(loop.body[2].as<ir::AsyncWait>(), nullptr);
  EXPECT_EQ(ir::print(loop.body[2].as<ir::AsyncWait>()->slot), "(a1 % 3)");
  put_wait(tile, 4);
  EXPECT_EQ(loop_at(tile, 4).body.size(), 5U);
}

TEST(Carried, AreTheAccumulatorsThatStartOutsideTheLoop) {
  const ir::Program p = program();
  const ir::Tile& tile = tile_of(p);
  using Names = std::set<std::string, std::less<>>;
  EXPECT_EQ(carried(tile, loop_at(tile, 1)), (Names{"acc0", "acc1", "acc2"}));
  EXPECT_EQ(carried(tile, loop_at(tile, 4)), (Names{"acc0", "acc1"}));  // acc2 starts again in every iteration
}

TEST(RenameValues, GivesNamesThatTheProgramDoesNotHave) {
  const ir::Program p = program();
  ir::Body copy = loop_at(tile_of(p), 4).body;
  rename_values(copy, p, {"acc1"});
  EXPECT_EQ(ir::print(copy),
            "x_smem1 = Stage(x, origin=((a6 * 8)), slab=(s0:8@0))\n"
            "AsyncWait(keep=0)\n"
            "in5 = load x_smem1[a0]\n"
            "acc3 <- add(acc3, in5)\n"
            "acc1 <- add(acc1, acc3)\n");
}

TEST(RenameValues, FollowsValuesIntoIndicesGuardsAndCombines) {
  ir::Program p = ir::parse(R"(=== tile: k ===
input t: i32[4]
input x: f32[9]
output y: f32[2]
Tile(axes=(a0:2=THREAD)):
  for a1 in 0..4: # free
    if (a1 < 3):
      in0:i32 = load t[a1]
      in7 = load x[min(max(in0, 0), 8)]
      acc0 <- add(acc0, in7)
    Combine(acc0, op=add, over=(a0))
    v0:i32 = index (min(max(in0, 0), 8) + 1)
    y[a0] = acc0
)");
  ir::Body copy = loop_at(tile_of(p), 0).body;
  rename_values(copy, p, {});
  EXPECT_EQ(ir::print(copy),
            "if (a1 < 3):\n"
            "  in1:i32 = load t[a1]\n"
            "  in2 = load x[min(max(in1, 0), 8)]\n"
            "  acc1 <- add(acc1, in2)\n"
            "Combine(acc1, op=add, over=(a0))\n"
            "v1:i32 = index (min(max(in1, 0), 8) + 1)\n"
            "y[a0] = acc1\n");
}

TEST(ReplaceAxis, DropsGuardsThatAlwaysHold) {
  ir::Body body = loop_at(tile_of(ir::parse(R"(=== tile: k ===
input x: f32[9]
output y: f32[9]
Tile(axes=(a0:4=THREAD)):
  for a1 in 0..3: # free
    if (((a1 * 4) + a0) < 9):
      in0 = load x[((a1 * 4) + a0)]
      y[((a1 * 4) + a0)] = in0
)")),
                          0)
                      .body;
  ir::Body first = body;
  replace_axis(first, "a1", 1, {{"a0", {0, 3}}});
  EXPECT_EQ(ir::print(first), "in0 = load x[(a0 + 4)]\ny[(a0 + 4)] = in0\n");
  replace_axis(body, "a1", 2, {{"a0", {0, 3}}});
  EXPECT_EQ(ir::print(body), "if (a0 < 1):\n  in0 = load x[(a0 + 8)]\n  y[(a0 + 8)] = in0\n");
}

}  // namespace
}  // namespace deplo::rules
