// mark_unroll: small loops get an unroll mark.
//   for a6 in 0..16: # reduce   →   for a6 in 0..16: # reduce unroll
#include <algorithm>

#include "ir/walk.h"
#include "rules/tile/common.h"
#include "rules/tile/rules.h"

namespace deplo::rules {
namespace {

constexpr std::int64_t full_trips = 64;  // the seeds' budget: a loop of up to 64 trips may be unrolled whole

// The innermost loops, in order. Each gets a knob of its own.
std::vector<const ir::Loop*> innermost(const ir::Body& body) {
  std::vector<const ir::Loop*> result;
  ir::for_each(body, [&](const ir::Stmt& stmt) {
    const auto* loop = stmt.as<ir::Loop>();
    if (loop == nullptr) return;
    bool inner = false;
    ir::for_each(loop->body, [&](const ir::Stmt& s) { inner |= s.as<ir::Loop>() != nullptr; });
    if (!inner) result.push_back(loop);
  });
  return result;
}

std::int64_t trips(const ir::Loop& loop) { return ceil_div(loop.axis.extent, loop.step); }

// 0 stands for a full unroll. The compilers for CPUs unroll by themselves; on GPUs a loop over shared memory wants it.
std::vector<Value> factors(const ir::Loop& loop, const Target& target) {
  std::vector<Value> result;
  const bool small = trips(loop) <= full_trips;
  if (!target.cpu && small) add_option(result, 0);
  add_option(result, 1);
  for (const std::int64_t factor : {2, 4, 8})
    if (trips(loop) % factor == 0 && trips(loop) > factor) add_option(result, factor);
  if (small) add_option(result, 0);
  return result;
}

Verdict decide(const ir::Program& program, const Target& target, std::span<const Choice> pins) {
  const auto loops = innermost(tile_of(program).body);
  std::size_t open = 0;
  for (const ir::Loop* loop : loops) {
    if (trips(*loop) < 2) continue;
    if (open++ == pins.size()) return Fork{loop->axis.name, factors(*loop, target)};
  }
  if (open == 0) return Skip{"no loop to unroll"};
  return Apply{};
}

ir::Program apply(ir::Program program, const Target&, std::span<const Choice> pins) {
  for (const ir::Loop* loop : innermost(tile_of(program).body))
    if (const auto factor = pinned(pins, loop->axis.name))
      const_cast<ir::Loop*>(loop)->unroll = static_cast<int>(*factor);
  return program;
}

}  // namespace

const Rule mark_unroll = {"mark_unroll", decide, apply};

}  // namespace deplo::rules
