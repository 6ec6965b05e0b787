// tileify: turns the outer free loops into thread axes.
//   for a0 in 0..32: # free { for a1 in 0..64: # free { S } }   →   Tile(axes=(a0:32=THREAD, a1:64=THREAD)): S
// A last free loop that holds every write (the normalising sweep of a row) becomes a thread axis, too. Each of its
// threads then computes everything that does not depend on this axis, until cooperative_reduce shares the work.
#include <algorithm>

#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/rule.h"

namespace deplo::rules {
namespace {

bool is_free(const ir::Stmt& stmt) {
  const auto* loop = stmt.as<ir::Loop>();
  return loop != nullptr && loop->axis.bind == ir::Bind::free;
}

bool writes(const ir::Stmt& stmt) {
  const ir::Body* inner = ir::inner_body(stmt);
  return stmt.as<ir::Write>() != nullptr || (inner != nullptr && ir::has<ir::Write>(*inner));
}

// Replaces the loop, which is the last statement of the body, by the loop's own body. Returns the loop's axis.
ir::Axis peel(ir::Body& body) {
  ir::Loop loop = std::move(*body.back().as<ir::Loop>());
  body.pop_back();
  std::move(loop.body.begin(), loop.body.end(), std::back_inserter(body));
  loop.axis.bind = ir::Bind::thread;
  return loop.axis;
}

Verdict decide_tileify(const ir::Program& program, const Target&, const Pins&) {
  if (program.level != ir::Level::loop) return Skip{"not a Loop IR program"};
  return Apply{};
}

ir::Program apply_tileify(ir::Program program, const Target&, const Pins&) {
  ir::renumber_axes(program);  // sibling loops may share a name, and one of them may become an axis of the whole tile
  program.level = ir::Level::tile;
  const ir::Axis alone = {ir::fresh_axis(program), 1, ir::Bind::thread};  // for a kernel without free loops
  ir::Tile tile;
  ir::Body before;  // scalars computed before the loops
  tile.body = std::move(program.body);
  while (!tile.body.empty() && is_free(tile.body.back()) &&
         std::none_of(tile.body.begin(), tile.body.end() - 1, [](const ir::Stmt& s) { return writes(s); })) {
    const bool chain = tile.body.size() == 1 || tile.axes.empty();
    const bool scalars = std::all_of(tile.body.begin(), tile.body.end() - 1, is_scalar);
    if (tile.axes.empty() && scalars) {
      before.assign(tile.body.begin(), tile.body.end() - 1);
      tile.body.erase(tile.body.begin(), tile.body.end() - 1);
    }
    tile.axes.push_back(peel(tile.body));
    if (!chain) break;  // the last sweep of a row: the loops inside it stay inside
  }
  if (tile.axes.empty()) tile.axes.push_back(alone);
  program.body = std::move(before);
  program.body.emplace_back(std::move(tile));
  return program;
}

}  // namespace

extern const Rule tileify = {
    .name = "tileify",
    .summary = "outer loops become thread axes",
    .knobs = {},
    .decide = decide_tileify,
    .apply = apply_tileify,
};

}  // namespace deplo::rules
