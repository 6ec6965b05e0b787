// reverse_blocks: the blocks run from the last to the first and begin with the data that the kernel
// before wrote last.
//   Tile(axes=(a0:32=BLOCK, a1:64=THREAD)): … x[a0, a1] …   →   … x[(31 - a0), a1] …
#include "ir/walk.h"
#include "rules/analysis/tile.h"

namespace deplo::rules {
namespace {

const ir::Axis* first_block(const ir::Tile& tile) {
  for (const ir::Axis& axis : tile.axes)
    if (axis.bind == ir::Bind::block && axis.extent > 1) return &axis;
  return nullptr;
}

Verdict decide_reverse_blocks(const ir::Program& program, const Target& target, const Pins& pins) {
  if (target.cpu) return Skip{"the threads of a CPU take blocks in an order of their own"};
  if (first_block(tile_of(program)) == nullptr) return Skip{"one block has one order"};
  const auto on = pins.on_off("on");
  if (!on) return on_off_fork("on", false);  // the heuristic leaves the order
  return *on ? Verdict(Apply{}) : Skip{"on=0: from the first"};
}

ir::Program apply_reverse_blocks(ir::Program program, const Target&, const Pins&) {
  const ir::Axis axis = *first_block(tile_of(program));
  ir::substitute_axes(program, {{axis.name, ir::Expr(axis.extent - 1) - ir::var(axis.name)}});
  return program;
}

}  // namespace

extern const Rule reverse_blocks = {
    .name = "reverse_blocks",
    .summary = "blocks run from the last to the first",
    .knobs = {{"on", KnobType::on_off, 0}},  // stored trails are older than the rule and take 0
    .decide = decide_reverse_blocks,
    .apply = apply_reverse_blocks,
};

}  // namespace deplo::rules
