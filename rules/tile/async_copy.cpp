// async_copy: threads start copies to shared memory (cp.async, sm_80 on) that do not pass through registers.
//   input_smem = Stage(input, …) buffers=2@(a5 % 2)
//     →   input_smem = Stage(input, …) lanes=4 buffers=2@(a5 % 2) async
//         AsyncWait(keep=0)

#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/options.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

constexpr std::int64_t narrowest = 4, widest = 16;  // bytes: PTX ISA, cp.async copies 4, 8 or 16

// Returns the widest copy, the narrowest one if it helps, and 0. A slab of 4-byte elements that lies across the rows of
// its source is still copied element by element.
std::vector<Value> sizes(const ir::Program& program, const ir::Stage& stage, const ir::Loop& loop,
                         const Target& target) {
  std::vector<Value> result;
  for (const int lanes : copy_widths(stage, *program.find(stage.source), target, scope_in(tile_of(program), &loop))) {
    const std::int64_t size = lanes * ir::bytes(stage.dtype);
    if (size < narrowest || size > widest) continue;
    if (result.empty() || (size == narrowest && walks_rows(program, stage))) add_option(result, size);
  }
  add_option(result, 0);
  return result;
}

Verdict decide_async_copy(const ir::Program& program, const Target& target, const Pins& pins) {
  if (!target.async_copy) return Skip{"no cp.async on this target (CUDA has it from sm_80 on)"};
  const ir::Tile& tile = tile_of(program);
  for (const ChunkStage& at : chunk_stages(tile)) {
    const ir::Stage& stage = stage_at(tile, at);
    if (stage.transport != ir::Transport::copy || ir::bytes(stage.dtype) == 1) continue;
    if (pins.integer(at.knob)) continue;
    std::vector<Value> options = sizes(program, stage, loop_at(tile, at.loop), target);
    if (options.size() > 1) return Fork{at.knob, std::move(options)};
  }
  if (pins.empty()) return Skip{"no Stage eligible for cp.async"};
  return Apply{};
}

ir::Program apply_async_copy(ir::Program program, const Target&, const Pins& pins) {
  ir::Tile& tile = tile_of(program);
  for (const ChunkStage& at : chunk_stages(tile)) {
    const std::int64_t bytes = pins.integer(at.knob).value_or(0);
    if (bytes == 0) continue;
    ir::Stage& stage = stage_at(tile, at);
    stage.transport = ir::Transport::async;
    stage.lanes = static_cast<int>(bytes / ir::bytes(stage.dtype));
    put_wait(tile, at.loop);
  }
  return program;
}

}  // namespace

extern const Rule async_copy = {
    .name = "async_copy",
    .summary = "copies that do not pass through registers",
    .knobs = {{"*", KnobType::integer}},
    .decide = decide_async_copy,
    .apply = apply_async_copy,
};

}  // namespace deplo::rules
