// tma_copy: one thread starts the copy of a whole slab, which the hardware walks by a descriptor (sm_90 on).
//   n1_smem = Stage(n1, …) buffers=2@(a5 % 2)
//     →   n1_smem = Stage(n1, …) buffers=2@(a5 % 2) tma
//         AsyncWait(keep=0, phase=((a5 / 2) % 2), slot=(a5 % 2))
#include <fmt/format.h>

#include <algorithm>

#include "ir/stage_layout.h"
#include "ir/tma.h"
#include "rules/resources.h"
#include "rules/tile/rules.h"
#include "rules/tile/stages.h"

namespace deplo::rules {
namespace {

constexpr std::int64_t box_extent = 256;  // cuTensorMapEncodeTiled: elements of a box each way
constexpr std::int64_t row_granule = 16;  // the same: bytes that the rows of a box are a multiple of
constexpr std::int64_t box_alignment =
    128;  // CUDA C++ Programming Guide, "Tensor Memory Access": of a box in shared memory
constexpr std::int64_t barrier_bytes = 8;  // of an mbarrier

// Columns of one box: all of them, else the widest panel that a box can hold. 0: whole rows.
std::int64_t panel_of(std::int64_t columns, std::int64_t element) {
  if (columns <= box_extent) return 0;
  const std::vector<std::int64_t> widths = divisors(columns, 1, box_extent);
  const auto good = [&](std::int64_t width) { return width * element % row_granule == 0; };
  const auto widest = std::find_if(widths.rbegin(), widths.rend(), good);
  return widest == widths.rend() ? 0 : *widest;
}

// Why no descriptor can describe the slab; "" where one can.
std::string refusal(const ir::Stage& stage, const ir::Buffer& source) {
  const std::int64_t element = ir::bytes(source.dtype);
  if (element != 4) return fmt::format("`{}` has elements of {} bytes", source.name, element);
  const auto descends = [](const ir::SlabAxis& a, const ir::SlabAxis& b) { return a.dim >= b.dim; };
  const bool in_order = std::adjacent_find(stage.slab.begin(), stage.slab.end(), descends) == stage.slab.end();
  if (!in_order || static_cast<std::size_t>(stage.slab.back().dim) + 1 != source.shape.size())
    return fmt::format("the slab of `{}` has another order than its rows", source.name);
  for (std::size_t d = 0; d < source.shape.size(); ++d)
    if (source.shape[d] > 1 && source.strides[d] < 1) return fmt::format("`{}` repeats elements", source.name);
  ir::TmaDescriptor box = {"", source.name, std::vector<std::int64_t>(source.shape.size(), 1), 0};
  for (const ir::SlabAxis& axis : stage.slab) box.box[static_cast<std::size_t>(axis.dim)] = axis.extent;
  if (const std::int64_t panel = panel_of(box.box.back(), element); panel > 0) box.box.back() = panel;
  if (std::string fault = ir::tma_fault(box, source); !fault.empty()) return fault;
  std::int64_t bytes = element;
  for (const std::int64_t extent : box.box) bytes *= extent;
  return bytes % box_alignment == 0 ? "" : fmt::format("a box of {} bytes, not a multiple of {}", bytes, box_alignment);
}

// What descriptors of all stages may add to shared memory: their alignment and a barrier per slot.
std::int64_t overhead(const ir::Tile& tile, const std::vector<ChunkStage>& stages) {
  std::int64_t total = 0;
  for (const ChunkStage& at : stages) total += box_alignment + stage_at(tile, at).slots * barrier_bytes;
  return total;
}

Verdict decide(const ir::Program& program, const Target& target, std::span<const Choice> pins) {
  if (!target.tma) return Skip{"no TMA on this target (CUDA has it from sm_90 on)"};
  const ir::Tile& tile = tile_of(program);
  const std::vector<ChunkStage> stages = chunk_stages(tile);
  if (stages.empty()) return Skip{"no BufferedStage to convert"};
  if (stages.front().loop != stages.back().loop) return Skip{"the fills of several chunk loops have no one phase"};
  if (shared_bytes(program, target) + overhead(tile, stages) > target.shared_bytes)
    return Skip{"no shared memory left for barriers and alignment"};
  std::string reason;
  for (const ChunkStage& at : stages) {
    const ir::Stage& stage = stage_at(tile, at);
    std::string why = refusal(stage, *program.find(stage.source));
    if (why.empty() && !pinned(pins, at.knob)) return Fork{at.knob, {Value{1}, Value{0}}};
    if (reason.empty()) reason = std::move(why);
  }
  if (pins.empty()) return Skip{"no slab for TMA: " + reason};
  return Apply{};
}

ir::Program apply(ir::Program program, const Target&, std::span<const Choice> pins) {
  ir::Tile& tile = tile_of(program);
  for (const ChunkStage& at : chunk_stages(tile)) {
    if (pinned(pins, at.knob).value_or(0) == 0) continue;
    ir::Stage& stage = stage_at(tile, at);
    stage.transport = ir::Transport::tma;
    stage.panel = panel_of(stage.slab.back().extent, ir::bytes(program.find(stage.source)->dtype));
    put_wait(tile, at.loop);
  }
  return program;
}

}  // namespace

const Rule tma_copy = {"tma_copy", decide, apply};

}  // namespace deplo::rules
