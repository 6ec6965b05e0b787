// split_inner_for_swizzle: TMA stores the rows of a slab in panels as wide as its pattern, each 16-byte chunk where the
// pattern says; the loads look there (ir/stage_layout.h).
//   n1_smem = Stage(n1, …, slab=(s0:16@0, s1:128@1)) tma
//     →   n1_smem = Stage(n1, …, slab=(s0:16@0, s1:128@1)) panel=32 swizzle=128 tma
#include "ir/tma.h"
#include "rules/cost/resources.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

using ir::tma::pattern_rows;
constexpr std::int64_t element = 4;      // bytes, of all that TMA copies here
constexpr std::int64_t chunk_lanes = 4;  // elements that a pattern keeps together

// Every panel is a whole number of patterns.
bool legal(const ir::Stage& stage, std::int64_t swizzle) {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < stage.slab.size(); ++i) rows *= stage.slab[i].extent;
  return stage.slab.back().extent % (swizzle / element) == 0 && rows % pattern_rows == 0;
}

std::vector<Value> patterns(const ir::Stage& stage, std::int64_t room) {
  std::vector<Value> result = {Value{0}};
  for (const std::int64_t swizzle : {32, 64, 128})
    if (legal(stage, swizzle) && pattern_rows * swizzle <= room) add_option(result, swizzle);
  return result;
}

Verdict decide(const ir::Program& program, const Target& target, const Pins& pins) {
  if (!target.tma) return Skip{"no tma stage to swizzle"};
  if (target.vector_lanes > chunk_lanes) return Skip{"vectors wider than the 16 bytes that a pattern keeps together"};
  const ir::Tile& tile = tile_of(program);
  bool any = false;
  std::int64_t room = target.shared_bytes - shared_bytes(program, target);  // for the alignment that patterns ask for
  for (const ChunkStage& at : chunk_stages(tile)) {
    const ir::Stage& stage = stage_at(tile, at);
    if (stage.transport != ir::Transport::tma) continue;
    any = true;
    if (const auto swizzle = pins.integer(at.knob)) {
      room -= pattern_rows * *swizzle;
      continue;
    }
    std::vector<Value> legal = patterns(stage, room);
    if (legal.size() > 1) return Fork{at.knob, std::move(legal)};
  }
  if (!any) return Skip{"no tma stage to swizzle"};
  if (pins.empty()) return Skip{"no slab is a whole number of TMA's patterns"};
  return Apply{};
}

ir::Program apply(ir::Program program, const Target&, const Pins& pins) {
  ir::Tile& tile = tile_of(program);
  for (const ChunkStage& at : chunk_stages(tile)) {
    const std::int64_t swizzle = pins.integer(at.knob).value_or(0);
    if (swizzle == 0) continue;
    ir::Stage& stage = stage_at(tile, at);
    const std::int64_t panel = swizzle / element;
    stage.panel = stage.slab.back().extent == panel ? 0 : panel;
    stage.swizzle = static_cast<int>(swizzle);
  }
  return program;
}

}  // namespace

extern const Rule split_inner_for_swizzle = {
    .name = "split_inner_for_swizzle",
    .summary = "panels and swizzle of slabs that TMA copies",
    .knobs = {{"*", KnobType::integer}},
    .decide = decide,
    .apply = apply,
};

}  // namespace deplo::rules
