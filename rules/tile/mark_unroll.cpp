// mark_unroll: small loops get an unroll mark.
//   for a6 in 0..16: # reduce   →   for a6 in 0..16: # reduce unroll
// The loops on a pipeline's last slabs are copies of those in its steady state and share their marks.
#include <algorithm>
#include <deque>

#include "ir/walk.h"
#include "rules/cost/resources.h"
#include "rules/tile/helpers/common.h"

namespace deplo::rules {
namespace {

using Loops = std::vector<const ir::Loop*>;  // a loop and its copies

constexpr std::int64_t full_trips = 64;   // the articles' budget: a loop of up to 64 trips may be unrolled whole
constexpr std::int64_t most_copies = 16;  // in a part: what a trip costs beside its body is lost in more
// On GPUs 64 KiB of 16-byte instructions, half of what the L1.5 instruction cache holds (Jia et al., Dissecting the
// NVIDIA Volta GPU Architecture via Microbenchmarking, 2018). ptxas takes seconds for more.
constexpr std::int64_t most_instructions = 4096;

std::int64_t trips(const ir::Loop& loop) { return ceil_div(loop.axis.extent, loop.step); }

bool computes_only(const ir::Loop& loop) {
  bool good = true;
  ir::for_each(loop.body, [&](const ir::Stmt& s) {
    good &= s.as<ir::Loop>() == nullptr && s.as<ir::Stage>() == nullptr && s.as<ir::AsyncWait>() == nullptr;
  });
  return good;
}

void collect_innermost(const ir::Stmt& stmt, Loops& found) {
  const auto* loop = stmt.as<ir::Loop>();
  if (loop != nullptr && computes_only(*loop)) {
    if (trips(*loop) > 1) found.push_back(loop);
    return;
  }
  if (const ir::Body* inner = ir::inner_body(stmt))
    for (const ir::Stmt& s : *inner) collect_innermost(s, found);
}

// A pipeline's: it waits for a slab and stages a later one.
bool is_steady_state(const ir::Stmt& stmt) {
  const auto* loop = stmt.as<ir::Loop>();
  return loop != nullptr && loop->body.size() > 1 && loop->body[0].as<ir::AsyncWait>() != nullptr &&
         loop->body[1].as<ir::Stage>() != nullptr;
}

// In order, copies with their first. What follows a steady state on its last slabs has as many loops.
std::vector<Loops> decisions(const ir::Body& body) {
  std::vector<Loops> result;
  std::deque<std::size_t> to_come;  // whose copies come next
  for (const ir::Stmt& stmt : body) {
    Loops found;
    collect_innermost(stmt, found);
    for (const ir::Loop* loop : found) {
      if (!to_come.empty()) {
        result[to_come.front()].push_back(loop);
        to_come.pop_front();
        continue;
      }
      result.push_back({loop});
    }
    for (std::size_t i = 0; is_steady_state(stmt) && i < found.size(); ++i)
      to_come.push_back(result.size() - found.size() + i);
  }
  return result;
}

// Registers that a load is made for: over each axis that its index depends on.
std::int64_t loads(const ir::Load& load, const ir::Tile& tile) {
  std::int64_t count = 1;
  for (const ir::Axis& axis : tile.axes)
    if (axis.bind == ir::Bind::reg && std::any_of(load.index.begin(), load.index.end(),
                                                  [&](const ir::Expr& e) { return ir::depends_on(e, axis.name); }))
      count *= axis.extent;
  return count;
}

// Of one trip, in all copies: an accumulation for each of the thread's outputs, the loads for them, the other
// statements once.
std::int64_t instructions(const Loops& loops, const ir::Tile& tile) {
  const std::int64_t outputs = ir::count_of(tile, ir::Bind::reg) * ir::count_of(tile, ir::Bind::vector);
  std::int64_t count = 0;
  ir::for_each(loops.front()->body, [&](const ir::Stmt& s) {
    const auto* load = s.as<ir::Load>();
    count += s.as<ir::Accum>() != nullptr ? outputs : load != nullptr ? loads(*load, tile) : 1;
  });
  return count * static_cast<std::int64_t>(loops.size());
}

// 0 stands for a full unroll. The compilers for CPUs unroll by themselves; on GPUs a loop over shared memory wants it.
std::vector<Value> factors(const Loops& loops, const ir::Tile& tile, const Target& target) {
  const ir::Loop& loop = *loops.front();
  std::vector<Value> result;
  const std::int64_t most = target.cpu ? full_trips : most_instructions / instructions(loops, tile);
  const bool small = trips(loop) <= std::min(full_trips, most);
  if (!target.cpu && small) add_option(result, 0);
  add_option(result, 1);
  for (const std::int64_t factor : divisors(trips(loop), 2, target.cpu ? most_copies / 2 : std::min(most, most_copies)))
    if (trips(loop) > factor && (!target.cpu || (factor & (factor - 1)) == 0)) add_option(result, factor);
  if (small) add_option(result, 0);
  return result;
}

Verdict decide(const ir::Program& program, const Target& target, const Pins& pins) {
  const ir::Tile& tile = tile_of(program);
  const std::vector<Loops> open = decisions(tile.body);
  if (open.empty()) return Skip{"no loop to unroll"};
  if (pins.size() == open.size()) return Apply{};
  const Loops& next = open[pins.size()];
  return Fork{next.front()->axis.name, factors(next, tile, target)};
}

ir::Program apply(ir::Program program, const Target&, const Pins& pins) {
  for (const Loops& loops : decisions(tile_of(program).body))
    for (const ir::Loop* loop : loops)
      to_edit(program, *loop).unroll = static_cast<int>(pins.integer(loops.front()->axis.name).value());
  return program;
}

}  // namespace

extern const Rule mark_unroll = {
    .name = "mark_unroll",
    .summary = "small loops unrolled",
    .knobs = {{"*", KnobType::integer}},
    .decide = decide,
    .apply = apply,
};

}  // namespace deplo::rules
