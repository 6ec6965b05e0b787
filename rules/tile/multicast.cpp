// multicast: neighbouring blocks that read the same slab become a cluster and load the slab once. Each block loads a
// part of it for all blocks.
//   Tile(axes=(a0:8=BLOCK, …)):                       Tile(axes=(a0:4=BLOCK, a1:2=CLUSTER, …)):
//     for a5 in 0..64: # free producers=128             for a6 in 0..64: # free producers=128
//       a_smem = Stage(a, origin=((a0 * 64), …      →     a_smem = Stage(a, origin=(((a0 * 128) + (a1 * 64)), …
//       b_smem = Stage(b, origin=((a5 * 64), …            b_smem = Stage(b, origin=((a6 * 64), …
// Slabs that do not depend on the CLUSTER axis are shared, here b (sharers() in rules/cost/resources.h). A slot is
// filled again after all blocks have finished with it, so the blocks advance together.
#include <algorithm>

#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

// Returns the stages of loops whose slots are filled by producers.
std::vector<ChunkStage> filled_stages(const ir::Tile& tile) {
  std::vector<ChunkStage> result = chunk_stages(tile);
  std::erase_if(result, [&](const ChunkStage& stage) { return loop_at(tile, stage.loop).producers == 0; });
  return result;
}

// Returns the axis whose blocks become clusters that share the stage's slab: the last axis with a fitting extent,
// because its blocks are the nearest. The blocks of a cluster must go through the same number of slabs. Other slabs
// that do not depend on the axis are shared, too. nullptr if there is no such axis.
const ir::Axis* shared_along(const ir::Tile& tile, const ChunkStage& at, std::int64_t blocks) {
  const ir::Stage& stage = stage_at(tile, at);
  const std::optional<ir::Expr>& end = loop_at(tile, at.loop).end;
  if (!splits(stage, blocks)) return nullptr;
  const auto fits = [&](const ir::Axis& axis) {
    return axis.bind == ir::Bind::block && axis.extent % blocks == 0 && !ir::depends_on(stage.origin, axis.name) &&
           !(end && ir::depends_on(*end, axis.name));
  };
  const auto found = std::find_if(tile.axes.rbegin(), tile.axes.rend(), fits);
  return found == tile.axes.rend() ? nullptr : &*found;
}

std::vector<Value> slab_options(const ir::Tile& tile, std::int64_t blocks) {
  std::vector<Value> result;
  for (const ChunkStage& stage : filled_stages(tile))
    if (shared_along(tile, stage, blocks) != nullptr) result.emplace_back(stage.knob);
  return result;
}

// 1 comes first: only a device can tell how much the slower pace of a cluster costs.
std::vector<Value> block_options(const ir::Tile& tile, const Target& target) {
  std::vector<Value> result = {Value{std::int64_t{1}}};
  for (std::int64_t blocks = 2; blocks <= target.cluster; blocks *= 2)
    if (!slab_options(tile, blocks).empty()) result.emplace_back(blocks);
  return result;
}

Verdict decide_multicast(const ir::Program& program, const Target& target, const Pins& pins) {
  if (target.cluster == 1) return Skip{"no clusters of blocks on this target (CUDA has them from sm_90 on)"};
  const ir::Tile& tile = tile_of(program);
  const auto blocks = pins.integer("blocks");
  if (blocks == 1) return Skip{"blocks=1: every block loads its slabs"};
  if (blocks) return pins.text("slab") ? Verdict(Apply{}) : Fork{"slab", slab_options(tile, *blocks)};
  if (ir::count_of(tile, ir::Bind::cluster) > 1) return Skip{"the blocks of a cluster share K"};
  if (producers(tile.body) == 0) return Skip{"no separate threads fill the slots"};
  std::vector<Value> options = block_options(tile, target);
  if (options.size() == 1) return Skip{"no 2, 4 or 8 neighbouring blocks read the same slab, split into as many parts"};
  return Fork{"blocks", std::move(options)};
}

ir::Program apply_multicast(ir::Program program, const Target&, const Pins& pins) {
  const ir::Axis cluster = {ir::fresh_axis(program), pins.integer("blocks").value(), ir::Bind::cluster};
  ir::Tile& tile = tile_of(program);
  const std::vector<ChunkStage> stages = filled_stages(tile);
  const auto stage = std::ranges::find(stages, pins.text("slab").value(), &ChunkStage::knob);
  const std::string along = shared_along(tile, *stage, cluster.extent)->name;
  std::ranges::find(tile.axes, along, &ir::Axis::name)->extent /= cluster.extent;
  const auto last =
      std::find_if(tile.axes.rbegin(), tile.axes.rend(), [](const auto& a) { return a.bind == ir::Bind::block; });
  tile.axes.insert(last.base(), cluster);
  ir::substitute_axes(program, {{along, ir::var(along) * cluster.extent + ir::var(cluster.name)}});
  return program;
}

}  // namespace

extern const Rule multicast = {
    .name = "multicast",
    .summary = "blocks of a cluster load each shared slab once for all of them",
    .knobs = {{"blocks", KnobType::integer, 1}, {"slab", KnobType::text}},
    .decide = decide_multicast,
    .apply = apply_multicast,
};

}  // namespace deplo::rules
