// pad_smem: adds a pad to the rows of a staged slab, so that threads that walk down a column access different banks.
//   b_smem = Stage(b, …, slab=(s0:128@0, s1:16@1)) lanes=1 async: 16 t is in bank 0 or 16 for all threads t
//     →   b_smem = Stage(b, …, slab=(s0:128@0, s1:16@1)) pad=1 lanes=1 async: 17 t is in another bank for each
// Each staged buffer has a knob. Its options are 0 and each pad with fewer wavefronts than all smaller pads (counted by
// rules/cost/banks.h).
#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/walk.h"
#include "rules/cost/banks.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

// Wider pads have the same effects as narrower ones: the banks of neighbouring rows differ by the pad in units of its
// step.
constexpr std::int64_t max_steps = 8;

void set_pad(ir::Body& body, const std::string& buffer, std::int64_t pad) {
  edit_stages(body, buffer, [&](ir::Stage& stage) { stage.pad = pad; });
}

// Returns the number that a pad must be a multiple of, so that rows start where the widest access may start.
std::int64_t pad_step(const std::vector<WarpAccess>& accesses, const ir::Stage& stage) {
  std::int64_t step = std::max(1, stage.lanes);
  for (const WarpAccess& access : accesses)
    if (access.stage->buffer == stage.buffer) step = std::lcm(step, access.lanes);
  return step;
}

// Returns the pads, the one with the fewest wavefronts first.
std::vector<Value> pads(const ir::Program& program, const ir::Stage& stage, const Target& target) {
  const std::vector<WarpAccess> accesses = without_repeats(warp_accesses(program, Unrolled::all, stage.buffer));
  const std::int64_t step = pad_step(accesses, stage);
  std::vector<Value> result;
  result.emplace_back(std::int64_t{0});
  ir::Stage layout = stage;
  BufferCost min_cost = buffer_cost(accesses, stage);
  for (layout.pad = step; min_cost.conflicts && layout.pad <= max_steps * step; layout.pad += step) {
    const BufferCost left = buffer_cost(accesses, layout);
    if (left.wavefronts >= min_cost.wavefronts) continue;
    ir::Program padded = program;
    set_pad(padded.body, stage.buffer, layout.pad);
    if (shared_bytes(padded, target) > target.shared_bytes) break;
    min_cost = left;
    result.emplace_back(layout.pad);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

// Returns the stages that may have a pad, each with its knob: its source or, if the source is staged again, its buffer.
std::vector<std::pair<std::string, const ir::Stage*>> padded_stages(const ir::Program& program) {
  std::vector<std::pair<std::string, const ir::Stage*>> result;
  std::set<std::string> sources;
  for (const Staged& staged : staged_buffers(program)) {
    const ir::Stage& stage = *staged.stage;
    const bool first = sources.insert(stage.source).second;
    // Such slabs are copied in whole rows, or stored in a swizzle pattern.
    if (stage.transport == ir::Transport::tma || stage.swizzle > 0) continue;
    result.emplace_back(first ? stage.source : stage.buffer, &stage);
  }
  return result;
}

Verdict decide_pad_smem(const ir::Program& program, const Target& target, const Pins& pins) {
  if (target.warp == 1) return Skip{"this target has no warps, so it has no banks"};
  ir::Program padded = program;
  for (const auto& [knob, stage] : padded_stages(program)) {
    if (const auto pad = pins.integer(knob)) {
      set_pad(padded.body, stage->buffer, *pad);
      continue;
    }
    std::vector<Value> options = pads(padded, *stage, target);
    if (options.size() > 1) return Fork{knob, std::move(options)};
  }
  if (pins.empty()) return Skip{"no stage has a fixable bank conflict"};
  return Apply{};
}

ir::Program apply_pad_smem(ir::Program program, const Target&, const Pins& pins) {
  std::vector<std::pair<std::string, std::int64_t>> pads;
  for (const auto& [knob, stage] : padded_stages(program))
    if (const auto pad = pins.integer(knob)) pads.emplace_back(stage->buffer, *pad);
  for (const auto& [buffer, pad] : pads) set_pad(program.body, buffer, pad);
  return program;
}

}  // namespace

extern const Rule pad_smem = {
    .name = "pad_smem",
    .summary = "pads of staged rows, against bank conflicts",
    .knobs = {{"*", KnobType::integer}},
    .decide = decide_pad_smem,
    .apply = apply_pad_smem,
};

}  // namespace deplo::rules
