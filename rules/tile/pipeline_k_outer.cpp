// pipeline_k_outer: a chunk loop whose stages have d slots fills slab k + d - 1 while it computes on slab k.
//   for k in 0..n: # free { stage(k); AsyncWait(keep=0); compute(k) }
//     →   tail=peeled:
//         stage(0) … stage(d - 2)
//         for k in 0..n-(d-1): # free { AsyncWait(keep=d-2); stage(k + d - 1); compute(k) }
//         for e in 0..d-1: # free { AsyncWait(keep=0); compute(n - (d-1) + e) }
//     →   tail=predicated:
//         stage(0) … stage(d - 2)
//         for k in 0..n: # free { AsyncWait(keep=d-2); stage(k + d - 1) when k + d - 1 < n; compute(k) }
// With two slots, the last loop is straight-line code. The wait of iteration k is also the barrier after the reads of
// slab k - 1, whose slot is filled next. With a predicated tail, the code contains the arithmetic only once, so that a
// loop over a slab that is twice as long may be unrolled. The iterations on the last slabs wait for empty groups.
#include <iterator>
#include <utility>

#include "ir/hardware/mma.h"
#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

std::int64_t slots_of(const ir::Loop& loop) { return loop.body.front().as<ir::Stage>()->slots; }

// Returns the positions of the loops to pipeline. They have at least as many chunks as slots, so that the steady state
// has at least one iteration.
std::vector<std::size_t> pipelines(const ir::Tile& tile) {
  std::vector<std::size_t> places;
  for (const std::size_t place : chunk_loops(tile))
    if (const ir::Loop& loop = loop_at(tile, place);
        slots_of(loop) > 1 && loop.axis.extent >= slots_of(loop) && loop.producers == 0)
      places.push_back(place);
  return places;
}

constexpr const char *peeled = "peeled", *predicated = "predicated";

// A predicated tail comes first if the arithmetic on a slab can be unrolled once, but not twice. Otherwise it costs a
// few instructions per iteration. It also guards the last elements of k in every iteration, which a peeled tail does on
// the last slabs only.
std::vector<Value> tails(const ir::Loop& pipeline, const ir::Tile& tile) {
  bool once = false, guarded = false;
  ir::for_each(pipeline.body, [&](const ir::Stmt& stmt) {
    guarded |= stmt.as<ir::If>() != nullptr;
    const auto* loop = stmt.as<ir::Loop>();
    if (loop == nullptr) return;
    const std::int64_t unrolled = trip_instructions(*loop, tile) * ir::mma::trips(*loop);
    once |= unrolled <= max_unrolled && 2 * unrolled > max_unrolled;
  });
  if (pipeline.end) return {Value{predicated}};  // only the block knows which slab is the last one
  std::vector<Value> result = {Value{peeled}, Value{predicated}};
  if (once && !guarded) std::swap(result[0], result[1]);
  return result;
}

Verdict decide_pipeline_k_outer(const ir::Program& program, const Target&, const Pins& pins) {
  const ir::Tile& tile = tile_of(program);
  const std::vector<std::size_t> places = pipelines(tile);
  if (places.empty()) return Skip{"no chunk loop with buffered stages"};
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::string apply = loop_knob("apply", i), tail = loop_knob("tail", i);
    if (!pins.on_off(apply)) return on_off_fork(apply, true);
    if (!*pins.on_off(apply) || pins.text(tail)) continue;
    if (auto options = tails(loop_at(tile, places[i]), tile); options.size() > 1) return Fork{tail, std::move(options)};
  }
  return Apply{};
}

ir::Loop free_loop(std::string axis, std::int64_t trips) {
  return {{std::move(axis), trips, ir::Bind::free}, 0, 1, 1, {}};
}

void append(ir::Body& to, ir::Body from) { std::move(from.begin(), from.end(), std::back_inserter(to)); }

// Makes the parts of a pipeline from a chunk loop: prologue, steady state and epilogue.
class Pipeline {
 public:
  Pipeline(const ir::Program& program, const ir::Loop& loop, bool peels)
      : program_(program),
        loop_(loop),
        axis_(loop.axis.name),
        around_(scope_in(tile_of(program))),
        kept_(carried(tile_of(program), loop)),
        peels_(peels),
        ahead_(slots_of(loop) - 1),
        steady_(loop.axis.extent - (peels ? ahead_ : 0)) {
    for (const ir::Stmt& stmt : loop.body) {
      if (const auto* stage = stmt.as<ir::Stage>()) {
        stages_.push_back(*stage);
        auto& copy = *stages_.back().as<ir::Stage>();
        if (copy.transport == ir::Transport::copy) copy.transport = ir::Transport::ahead;
      } else if (stmt.as<ir::AsyncWait>() == nullptr) {
        compute_.push_back(stmt);
      }
    }
  }

  ir::Body parts() const {
    ir::Body result = prologue();
    result.emplace_back(steady());
    if (peels_) append(result, epilogue());
    return result;
  }

 private:
  ir::Ranges scope(std::int64_t trips) const {
    ir::Ranges scope = around_;
    scope.emplace_back(axis_, ir::Interval{0, trips - 1});
    return scope;
  }

  ir::Body at(ir::Body body, const ir::Expr& chunk, const ir::Ranges& ranges) const {
    replace_axis(body, axis_, chunk, ranges);
    return body;
  }

  ir::Body prologue() const {
    ir::Body result;
    for (std::int64_t slab = 0; slab < ahead_; ++slab) {
      append(result, at(stages_, slab, around_));
      for (std::size_t i = result.size() - stages_.size(); loop_.end && i < result.size(); ++i)
        result[i].as<ir::Stage>()->when = ir::simplify(ir::less(slab, *loop_.end), around_);
    }
    return result;
  }

  ir::Loop steady() const {
    const ir::Ranges ranges = scope(steady_);
    ir::Loop loop = free_loop(axis_, steady_);
    loop.end = loop_.end;
    loop.body.emplace_back(wait_for(loop_, ir::var(axis_), ahead_ - 1, ranges));
    append(loop.body, at(stages_, ir::var(axis_) + ahead_, ranges));
    const ir::Expr end = loop_.end ? ir::min(loop_.axis.extent, *loop_.end) : ir::Expr(loop_.axis.extent);
    const ir::Expr exists = ir::simplify(ir::less(ir::var(axis_) + ahead_, end), ranges);
    for (ir::Stmt& stmt : loop.body) {
      auto* stage = stmt.as<ir::Stage>();
      if (stage == nullptr || peels_) continue;
      stage->when = exists;
      // With as many chunks as slots, the slot was simplified to the chunk's number. The chunk after the last slot
      // takes slot 0.
      stage->slot = ir::simplify((ir::var(axis_) + ahead_) % stage->slots, ranges);
    }
    append(loop.body, at(compute_, ir::var(axis_), ranges));
    return loop;
  }

  ir::Body epilogue() const {
    const bool straight = ahead_ == 1;
    const ir::Ranges ranges = straight ? around_ : scope(ahead_);
    const ir::Expr chunk = straight ? ir::Expr(steady_) : ir::var(axis_) + steady_;
    ir::Body body;
    body.emplace_back(wait_for(loop_, chunk, 0, ranges));
    append(body, at(compute_, chunk, ranges));
    rename_values(body, program_, kept_);
    if (straight) return body;
    ir::Loop loop = free_loop(axis_, ahead_);
    loop.body = std::move(body);
    return ir::single(std::move(loop));
  }

  const ir::Program& program_;
  const ir::Loop& loop_;
  const std::string& axis_;
  ir::Ranges around_;
  std::set<std::string, std::less<>> kept_;
  bool peels_;
  std::int64_t ahead_, steady_;  // slabs in flight; iterations of the steady state
  ir::Body stages_, compute_;
};

ir::Program apply_pipeline_k_outer(ir::Program program, const Target&, const Pins& pins) {
  ir::Body& body = tile_of(program).body;
  std::size_t grown = 0;
  const std::vector<std::size_t> places = pipelines(tile_of(program));
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!pins.on_off(loop_knob("apply", i)).value()) continue;
    const std::size_t place = places[i] + grown;
    const bool peels = pins.text(loop_knob("tail", i)) == peeled;
    ir::Body parts = Pipeline(program, loop_at(tile_of(program), place), peels).parts();
    grown += parts.size() - 1;
    const auto at = body.erase(body.begin() + static_cast<std::ptrdiff_t>(place));
    body.insert(at, std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
  }
  return program;
}

}  // namespace

extern const Rule pipeline_k_outer = {
    .name = "pipeline_k_outer",
    .summary = "the next slab is filled while the current one is used",
    .knobs = {{"apply*", KnobType::on_off}, {"tail*", KnobType::text, peeled}},
    .decide = decide_pipeline_k_outer,
    .apply = apply_pipeline_k_outer,
};

}  // namespace deplo::rules
