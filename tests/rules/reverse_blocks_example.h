// reverse_blocks: the blocks run from the last to the first and begin with the data that the kernel
// before wrote last.
//   Tile(axes=(a0:32=BLOCK, a1:64=THREAD)): … x[a0, a1] …   →   … x[(31 - a0), a1] …
#include "ir/walk.h"
#include "rules/tile/helpers/common.h"
#include "rules/tile/rules.h"

namespace deplo::rules {
namespace {

const ir::Axis* first_block(const ir::Tile& tile) {
  for (const ir::Axis& axis : tile.axes)
    if (axis.bind == ir::Bind::block && axis.extent > 1) return &axis;
  return nullptr;
}

Verdict decide(const ir::Program& program, const Target& target, std::span<const Choice> pins) {
  if (target.cpu) return Skip{"the threads of a CPU take blocks in an order of their own"};
  if (first_block(tile_of(program)) == nullptr) return Skip{"one block has one order"};
  const auto on = pinned(pins, "on");
  if (!on) return Fork{"on", options({0, 1}, 0, 1)};  // the heuristic takes the first option
  return *on == 0 ? Verdict(Skip{"on=0: from the first"}) : Apply{};
}

ir::Program apply(ir::Program program, const Target&, std::span<const Choice>) {
  const ir::Axis axis = *first_block(tile_of(program));
  ir::substitute_axes(program, {{axis.name, ir::Expr(axis.extent - 1) - ir::var(axis.name)}});
  return program;
}

}  // namespace

extern const Rule reverse_blocks = {"reverse_blocks", decide, apply, 0};  // on=0: as before the rule

}  // namespace deplo::rules
