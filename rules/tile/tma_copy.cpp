// tma_copy: one thread starts the copy of a whole slab, which the hardware walks by a descriptor (sm_90 on).
//   n1_smem = Stage(n1, …) buffers=2@(a5 % 2)
//     →   n1_smem = Stage(n1, …) buffers=2@(a5 % 2) tma
//         AsyncWait(keep=0, phase=((a5 / 2) % 2), slot=(a5 % 2))
#include <fmt/format.h>

#include <algorithm>

#include "ir/stage_layout.h"
#include "ir/tma.h"
#include "rules/cost/resources.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

// Columns of one box: all of them, else the widest panel that a box can hold. 0: whole rows.
std::int64_t panel_of(std::int64_t columns, std::int64_t element) {
  if (columns <= ir::tma::most_extent) return 0;
  const std::vector<std::int64_t> widths = divisors(columns, 1, ir::tma::most_extent);
  const auto good = [&](std::int64_t width) { return width * element % ir::tma::granule == 0; };
  const auto widest = std::find_if(widths.rbegin(), widths.rend(), good);
  return widest == widths.rend() ? 0 : *widest;
}

// Why no descriptor can describe the slab; "" where one can.
std::string refusal(const ir::Stage& stage, const ir::Buffer& source) {
  const std::int64_t element = ir::bytes(source.dtype);
  if (element == 1) return fmt::format("`{}` has elements of {} bytes", source.name, element);
  const auto descends = [](const ir::SlabAxis& a, const ir::SlabAxis& b) { return a.dim >= b.dim; };
  const bool in_order = std::adjacent_find(stage.slab.begin(), stage.slab.end(), descends) == stage.slab.end();
  if (!in_order || static_cast<std::size_t>(stage.slab.back().dim) + 1 != source.shape.size())
    return fmt::format("the slab of `{}` has another order than its rows", source.name);
  for (std::size_t d = 0; d < source.shape.size(); ++d)
    if (source.shape[d] > 1 && source.strides[d] < 1) return fmt::format("`{}` repeats elements", source.name);
  ir::TmaDescriptor box = {"", source.name, std::vector<std::int64_t>(source.shape.size(), 1), 0};
  for (const ir::SlabAxis& axis : stage.slab) box.box[static_cast<std::size_t>(axis.dim)] = axis.extent;
  if (const std::int64_t panel = panel_of(box.box.back(), element); panel > 0) box.box.back() = panel;
  if (std::string fault = ir::tma::fault(box, source); !fault.empty()) return fault;
  std::int64_t bytes = element;
  for (const std::int64_t extent : box.box) bytes *= extent;
  return bytes % ir::tma::alignment == 0
             ? ""
             : fmt::format("a box of {} bytes, not a multiple of {}", bytes, ir::tma::alignment);
}

// With all of them by TMA: their alignment, and a barrier per slot.
bool fits(ir::Program program, const std::vector<ChunkStage>& stages, const Target& target) {
  for (const ChunkStage& at : stages) stage_at(tile_of(program), at).transport = ir::Transport::tma;
  return fits_shared(program, target);
}

Verdict decide(const ir::Program& program, const Target& target, const Pins& pins) {
  if (!target.tma) return Skip{"no TMA on this target (CUDA has it from sm_90 on)"};
  const ir::Tile& tile = tile_of(program);
  const std::vector<ChunkStage> stages = chunk_stages(tile);
  if (stages.empty()) return Skip{"no BufferedStage to convert"};
  if (stages.front().loop != stages.back().loop) return Skip{"the fills of several chunk loops have no one phase"};
  if (pins.empty() && !fits(program, stages, target)) return Skip{"no shared memory left for barriers and alignment"};
  std::string reason;
  for (const ChunkStage& at : stages) {
    const ir::Stage& stage = stage_at(tile, at);
    std::string why = refusal(stage, *program.find(stage.source));
    if (why.empty() && !pins.on_off(at.knob)) return on_off_fork(at.knob, true);
    if (reason.empty()) reason = std::move(why);
  }
  if (pins.empty()) return Skip{"no slab for TMA: " + reason};
  return Apply{};
}

ir::Program apply(ir::Program program, const Target&, const Pins& pins) {
  ir::Tile& tile = tile_of(program);
  for (const ChunkStage& at : chunk_stages(tile)) {
    if (!pins.on_off(at.knob).value_or(false)) continue;
    ir::Stage& stage = stage_at(tile, at);
    stage.transport = ir::Transport::tma;
    stage.panel = panel_of(stage.slab.back().extent, ir::bytes(stage.dtype));
    put_wait(tile, at.loop);
  }
  return program;
}

}  // namespace

extern const Rule tma_copy = {
    .name = "tma_copy",
    .summary = "slabs copied by the hardware's descriptor engine",
    .knobs = {{"*", KnobType::on_off}},
    .decide = decide,
    .apply = apply,
};

}  // namespace deplo::rules
