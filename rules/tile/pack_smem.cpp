// pack_smem: stores the columns of a staged matmul operand in panels. A thread's register tile reads a panel's width at
// once.
//   b_smem = Stage(b, …, slab=(s0:776@0, s1:64@1)); load b_smem[a6, ((a3 * 32) + …)] of 32 columns
//     →   b_smem = Stage(b, …, slab=(s0:776@0, s1:64@1)) panel=32
// The inner loop then streams through whole cache lines of one panel, instead of a part of each row (the packing of
// Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008).
#include <algorithm>

#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

// Returns the number of the buffer's columns that one thread's register tile reads; 0 if it is not read along n, or not
// in one piece.
std::int64_t columns_read(const ir::Program& program, const ir::Stage& stage, const std::string& n) {
  const ir::Tile& tile = tile_of(program);
  std::int64_t columns = 0;
  bool fits = true;
  ir::for_each<ir::Load>(tile.body, [&](const ir::Load& load) {
    if (load.buffer != stage.buffer) return;
    const ir::Expr& column = load.index.back();
    std::int64_t together = 1;
    for (const ir::Axis& axis : tile.axes)
      if ((axis.bind == ir::Bind::reg || axis.bind == ir::Bind::vector) && ir::depends_on(column, axis.name))
        together *= axis.extent;
    // A thread's columns begin where those of the previous thread end.
    fits &= ir::coefficient(column, n) == together && (columns == 0 || columns == together);
    columns = together;
  });
  return fits ? columns : 0;
}

struct Panel {
  const ir::Stage* stage;
  std::int64_t columns;
};

// Returns the stages that can have several panels, each of whole vectors and whole copies.
std::vector<Panel> panels(const ir::Program& program) {
  std::vector<Panel> result;
  const auto matmul = find_matmul(program);
  if (!matmul) return result;
  const ir::Axis& n = tile_of(program).axes[matmul->n];
  for (const Staged& staged : staged_buffers(program)) {
    const ir::Stage& stage = *staged.stage;
    const std::int64_t extent = stage.slab.back().extent, columns = columns_read(program, stage, n.name);
    const bool divides = columns > 1 && columns < extent && extent % columns == 0;
    if (stage.panel == 0 && divides && columns % std::max(1, stage.lanes) == 0) result.push_back({&stage, columns});
  }
  return result;
}

// Panels come first if their rows have less than two cache lines, such as the two or three vectors of AVX2: the same
// columns of a wider row would lie in few sets of the level 1 cache. With panels of two vectors, 32 and 128 rows x 2048
// x 2048 took 0.80 and 0.79 of the time (Zen 3).
std::vector<Value> widths(const Panel& panel) {
  constexpr std::int64_t two_lines = 128;  // bytes
  const Value whole = std::int64_t{0}, columns = panel.columns;
  return panel.columns * ir::bytes(panel.stage->dtype) < two_lines ? std::vector{columns, whole}
                                                                   : std::vector{whole, columns};
}

Verdict decide_pack_smem(const ir::Program& program, const Target& target, const Pins& pins) {
  if (target.warp > 1)
    return Skip{"panels are for CPUs; on GPUs, split_inner_for_swizzle arranges the slabs that TMA copies"};
  const std::vector<Panel> found = panels(program);
  if (found.empty()) return Skip{"no staged operand of a matmul that threads read panel by panel"};
  for (const Panel& panel : found)
    if (!pins.integer(panel.stage->source)) return Fork{panel.stage->source, widths(panel)};
  return Apply{};
}

ir::Program apply_pack_smem(ir::Program program, const Target&, const Pins& pins) {
  for (const Staged& staged : staged_buffers(program))
    if (const auto panel = pins.integer(staged.stage->source))
      edit_stages(program.body, staged.stage->buffer, [&](ir::Stage& stage) { stage.panel = *panel; });
  return program;
}

}  // namespace

extern const Rule pack_smem = {
    .name = "pack_smem",
    .summary = "staged columns in panels, as a thread reads them",
    .knobs = {{"*", KnobType::integer}},
    .decide = decide_pack_smem,
    .apply = apply_pack_smem,
};

}  // namespace deplo::rules
