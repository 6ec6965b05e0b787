// double_buffer: the stages of a chunk loop get `depth` slots, so that a slab can be filled while another is read.
//   for a5 in 0..56: # free             for a5 in 0..56: # free
//     n1_smem = Stage(n1, …)      →       n1_smem = Stage(n1, …) buffers=2@(a5 % 2)
//     … load n1_smem[a6, a4] …            … load n1_smem[(a5 % 2), a6, a4] …
#include <algorithm>

#include "ir/hardware/mma.h"
#include "ir/hardware/stage_layout.h"
#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/options.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

// Returns the bytes of shared memory that each further slot takes.
std::int64_t slot_bytes(const ir::Loop& loop) {
  constexpr std::int64_t granule = 16;  // alignment of buffers in shared memory, in bytes
  std::int64_t total = 0;
  for (std::size_t i = 0; i < leading_stages(loop.body); ++i) {
    const auto& stage = *loop.body[i].as<ir::Stage>();
    total += ceil_div(ir::slot_count(stage) * ir::bytes(stage.dtype), granule) * granule;
    if (stage.transport == ir::Transport::tma) total += ir::MbarrierInit::object_bytes;
  }
  return total;
}

// Returns whether the loop is a matmul by warpgroups whose blocks each have a unit to themselves. Then as many slots as
// fit hide most of the L2 cache's latency. On an H200, 512 x 2048 x 2048 takes 12.7 µs with 4 slots, 10.7 with 6 and
// 9.4 with 8.
bool has_units_alone(const ir::Tile& tile, const ir::Loop& loop, const Target& target) {
  const auto* products = loop.body.back().as<ir::Loop>();
  if (products == nullptr || products->atom.empty() || loop.body.size() > leading_stages(loop.body) + 2) return false;
  const std::int64_t blocks = ir::count_of(tile, ir::Bind::block) * ir::count_of(tile, ir::Bind::cluster);
  return ir::mma::find_atom(products->atom)->of_warpgroup() && blocks <= target.units;
}

// Two slots suffice to overlap a copy with the arithmetic on the previous slab. More slots hide longer latencies.
// Copies that wait in registers gain little from more slots.
std::vector<Value> depths(const ir::Tile& tile, const ir::Loop& loop, std::int64_t slot, std::int64_t room,
                          const Target& target) {
  const std::int64_t max_slots = std::min(loop.axis.extent, 1 + room / slot);
  if (target.wgmma && has_units_alone(tile, loop, target)) return options({8, 6, 4, 5, 3, 2, 1}, 1, max_slots);
  // Matrix instructions finish with a slab before the next one has arrived.
  if (target.wgmma && has_products(loop.body)) return options({4, 3, 2, 1, 5, 6, 8}, 1, max_slots);
  if (target.async_copy && has_products(loop.body)) return options({3, 4, 2, 1, 5, 6}, 1, max_slots);
  return target.async_copy ? options({2, 1, 3, 4}, 1, max_slots) : options({1, 2, 3, 4}, 1, max_slots);
}

Verdict decide_double_buffer(const ir::Program& program, const Target& target, const Pins& pins) {
  if (target.cpu) return Skip{"a CPU cannot overlap copies with arithmetic"};
  const ir::Tile& tile = tile_of(program);
  const std::vector<std::size_t> loops = chunk_loops(tile);
  if (loops.empty()) return Skip{"no chunk loop with stages"};
  std::int64_t room = target.shared_bytes - shared_bytes(program, target);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const std::string knob = loop_knob("depth", i);
    const ir::Loop& loop = loop_at(tile, loops[i]);
    const std::int64_t slot = slot_bytes(loop);
    if (const auto depth = pins.integer(knob)) {
      room -= (*depth - 1) * slot;
      continue;
    }
    std::vector<Value> legal = depths(tile, loop, slot, std::max<std::int64_t>(room, 0), target);
    if (legal.size() > 1) return Fork{knob, std::move(legal)};
  }
  if (pins.empty()) return Skip{"no chunk loop eligible for double buffering within shared memory"};
  return Apply{};
}

void index_slot(ir::Body& body, const std::string& buffer, const ir::Expr& slot) {
  ir::for_each<ir::Load>(body, [&](ir::Load& load) {
    if (load.buffer == buffer) load.index.insert(load.index.begin(), slot);
  });
}

ir::Program apply_double_buffer(ir::Program program, const Target&, const Pins& pins) {
  ir::Tile& tile = tile_of(program);
  const std::vector<std::size_t> loops = chunk_loops(tile);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const std::int64_t depth = pins.integer(loop_knob("depth", i)).value_or(1);
    if (depth == 1) continue;
    ir::Loop& loop = loop_at(tile, loops[i]);
    const ir::Expr slot = ir::simplify(ir::var(loop.axis.name) % depth, scope_in(tile, &loop));
    for (std::size_t s = 0; s < leading_stages(loop.body); ++s) {
      auto& stage = *loop.body[s].as<ir::Stage>();
      stage.slots = static_cast<int>(depth);
      stage.slot = slot;
      index_slot(loop.body, stage.buffer, slot);
    }
    if (has_wait(loop)) put_wait(tile, loops[i]);
  }
  return program;
}

}  // namespace

extern const Rule double_buffer = {
    .name = "double_buffer",
    .summary = "slots for staged slabs: one is filled while another is read",
    .knobs = {{"depth*", KnobType::integer}},
    .decide = decide_double_buffer,
    .apply = apply_double_buffer,
};

}  // namespace deplo::rules
