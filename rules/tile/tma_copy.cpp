// tma_copy: one thread starts the copy of a whole slab, which the hardware performs according to a descriptor (sm_90
// on).
//   n1_smem = Stage(n1, …) buffers=2@(a5 % 2)
//     →   n1_smem = Stage(n1, …) buffers=2@(a5 % 2) tma
//         AsyncWait(keep=0, phase=((a5 / 2) % 2), slot=(a5 % 2))
#include "ir/hardware/stage_layout.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

// Returns whether shared memory has room if TMA copies all stages, which need alignment and a barrier per slot.
bool fits(ir::Program program, const std::vector<ChunkStage>& stages, const Target& target) {
  for (const ChunkStage& at : stages) stage_at(tile_of(program), at).transport = ir::Transport::tma;
  return fits_shared(program, target);
}

Verdict decide_tma_copy(const ir::Program& program, const Target& target, const Pins& pins) {
  if (!target.tma) return Skip{"no TMA on this target (CUDA has it from sm_90 on)"};
  const ir::Tile& tile = tile_of(program);
  const std::vector<ChunkStage> stages = chunk_stages(tile);
  if (stages.empty()) return Skip{"no BufferedStage to convert"};
  if (stages.front().loop != stages.back().loop) return Skip{"the fills of several chunk loops have no common phase"};
  if (pins.empty() && !fits(program, stages, target)) return Skip{"no shared memory left for barriers and alignment"};
  std::string reason;
  for (const ChunkStage& at : stages) {
    const ir::Stage& stage = stage_at(tile, at);
    if (stage.transport == ir::Transport::tma) continue;  // already chosen for matrix instructions
    std::string why = tma_refusal(stage, *program.find(stage.source));
    if (why.empty() && !pins.on_off(at.knob)) return on_off_fork(at.knob, true);
    if (reason.empty()) reason = std::move(why);
  }
  if (pins.empty()) return Skip{reason.empty() ? "TMA already copies all slabs" : "no slab for TMA: " + reason};
  return Apply{};
}

ir::Program apply_tma_copy(ir::Program program, const Target&, const Pins& pins) {
  ir::Tile& tile = tile_of(program);
  for (const ChunkStage& at : chunk_stages(tile)) {
    if (!pins.on_off(at.knob).value_or(false)) continue;
    ir::Stage& stage = stage_at(tile, at);
    stage.transport = ir::Transport::tma;
    stage.panel = tma_panel(stage.slab.back().extent, ir::bytes(stage.dtype));
    put_wait(tile, at.loop);
  }
  return program;
}

}  // namespace

extern const Rule tma_copy = {
    .name = "tma_copy",
    .summary = "slabs copied by the hardware's descriptor engine",
    .knobs = {{"*", KnobType::on_off}},
    .decide = decide_tma_copy,
    .apply = apply_tma_copy,
};

}  // namespace deplo::rules
