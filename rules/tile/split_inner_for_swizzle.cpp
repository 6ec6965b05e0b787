// split_inner_for_swizzle: TMA stores the rows of a slab in panels as wide as its swizzle pattern, with each 16-byte
// chunk where the pattern places it. Loads use the same layout (stage_layout.h). The pattern with the fewest
// wavefronts, then the fewest panels, comes first. Copies of 16 bytes by cp.async can use patterns, too, if matrix
// instructions read the slab: a pad may avoid bank conflicts when its rows are read, but not when they are filled.
//   n1_smem = Stage(n1, …, slab=(s0:16@0, s1:128@1)) tma
//     →   n1_smem = Stage(n1, …, slab=(s0:16@0, s1:128@1)) panel=32 swizzle=128 tma
#include <algorithm>
#include <tuple>

#include "core/mapped.h"
#include "ir/hardware/tma.h"
#include "rules/analysis/tile.h"
#include "rules/cost/banks.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

using ir::tma::pattern_rows;
constexpr std::int64_t chunk_lanes = 4;  // elements that a pattern keeps together

struct Scored {
  double wavefronts;
  bool padded;                   // whether only a pad gives so few wavefronts
  std::int64_t panels, swizzle;  // each panel is a separate copy
};

// Without a pattern, pad_smem may pad cp.async's slab by up to eight copies, as far as there is room. Matrices of 32
// bits that lie across k are read without conflicts with a pad, or in many narrow panels, but cp.async would fill these
// panels with conflicts.
Scored score(const std::vector<WarpAccess>& accesses, ir::Stage layout, std::int64_t room) {
  const std::int64_t panels = layout.panel > 0 ? layout.slab.back().extent / layout.panel : 1;
  Scored result = {buffer_cost(accesses, layout).wavefronts, false, panels, layout.swizzle};
  if (layout.transport == ir::Transport::tma || layout.swizzle > 0) return result;
  std::int64_t rows = layout.slots;
  for (std::size_t i = 0; i + 1 < layout.slab.size(); ++i) rows *= layout.slab[i].extent;
  for (int step = 0; step < 8; ++step) {
    layout.pad += layout.lanes;
    if (rows * layout.pad * ir::bytes(layout.dtype) > room) break;
    const double wavefronts = buffer_cost(accesses, layout).wavefronts;
    result.padded |= wavefronts < result.wavefronts;
    result.wavefronts = std::min(result.wavefronts, wavefronts);
  }
  return result;
}

std::vector<Value> patterns(const std::vector<WarpAccess>& accesses, const ir::Stage& stage, std::int64_t room) {
  std::vector<Scored> scored;
  for (const ir::Stage& layout : tma_layouts(stage))
    if (pattern_rows * layout.swizzle <= room) scored.push_back(score(accesses, layout, room));
  std::ranges::stable_sort(scored, [](const Scored& a, const Scored& b) {
    return std::tie(a.wavefronts, a.padded, a.panels) < std::tie(b.wavefronts, b.padded, b.panels);
  });
  return mapped<Value>(scored, &Scored::swizzle);
}

bool can_swizzle(const ir::Stage& stage, bool products) {
  if (stage.swizzle > 0) return false;  // already chosen for matrix instructions
  const bool chunks = stage.lanes * ir::bytes(stage.dtype) == 16;
  return stage.transport == ir::Transport::tma || (stage.transport == ir::Transport::async && chunks && products);
}

Verdict decide_split_inner_for_swizzle(const ir::Program& program, const Target& target, const Pins& pins) {
  const bool products = has_products(tile_of(program).body);
  if (!target.tma && !products) return Skip{"no tma stage to swizzle"};
  if (target.vector_lanes > chunk_lanes) return Skip{"vectors wider than the 16 bytes that a pattern keeps together"};
  const ir::Tile& tile = tile_of(program);
  bool any = false;
  // Bytes for the alignment that patterns need.
  std::int64_t room = target.shared_bytes - shared_bytes(program, target);
  for (const ChunkStage& at : chunk_stages(tile)) {
    const ir::Stage& stage = stage_at(tile, at);
    if (!can_swizzle(stage, products)) continue;
    any = true;
    if (const auto swizzle = pins.integer(at.knob)) {
      room -= pattern_rows * *swizzle;
      continue;
    }
    std::vector<Value> legal =
        patterns(without_repeats(warp_accesses(program, Unrolled::all, stage.buffer)), stage, room);
    if (legal.size() > 1) return Fork{at.knob, std::move(legal)};
  }
  if (!any) return Skip{"no tma stage to swizzle"};
  if (pins.empty()) return Skip{"no slab's size is a multiple of TMA's pattern"};
  return Apply{};
}

ir::Program apply_split_inner_for_swizzle(ir::Program program, const Target&, const Pins& pins) {
  ir::Tile& tile = tile_of(program);
  for (const ChunkStage& at : chunk_stages(tile)) {
    const std::int64_t swizzle = pins.integer(at.knob).value_or(0);
    if (swizzle == 0) continue;
    ir::Stage& stage = stage_at(tile, at);
    for (ir::Stage& layout : tma_layouts(stage))
      if (layout.swizzle == swizzle) stage = std::move(layout);
  }
  return program;
}

}  // namespace

extern const Rule split_inner_for_swizzle = {
    .name = "split_inner_for_swizzle",
    .summary = "panels and swizzle of slabs that TMA copies",
    .knobs = {{"*", KnobType::integer}},
    .decide = decide_split_inner_for_swizzle,
    .apply = apply_split_inner_for_swizzle,
};

}  // namespace deplo::rules
