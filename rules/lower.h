// Walking the pipeline: from a Loop IR program, by decisions, to a scheduled Tile IR program and on to Kernel IR.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>

#include "core/outcome.h"
#include "rules/rule.h"

namespace deplo::rules {

/// A place in the decision tree of one kernel. Value semantics; thread-safe to read.
class Lowering {
 public:
  const std::optional<Fork>& fork() const { return fork_; }  // with the full `rule.knob`; none: scheduled
  const Trail& trail() const { return trail_; }
  const ir::Program& program() const { return program_; }  // Tile IR so far
  const Target& target() const { return target_; }
  void choose(std::size_t option);
  /// Of the open fork's knob.
  std::optional<Value> as_before() const;

  /// What the pipeline did, for -vv: each rule with its skip reason or the program before and after.
  struct Step {
    const Rule& rule;
    std::string skipped;  // "" when applied
    ir::Program before, after;
  };
  using Observer = std::function<void(const Step&)>;
  /// `loop` is verified Loop IR. Runs the pipeline to the first fork or to its end.
  Lowering(ir::Program loop, const Target& target, Observer observer = {}, Pipeline rules = pipeline());

 private:
  void advance();
  ir::Program program_;
  Target target_;
  Pipeline rules_;
  std::size_t rule_ = 0;
  Trail pins_, trail_;
  std::optional<Fork> fork_;
  Observer observer_;
};

enum class TrailIs {
  beginning,  // a person wrote it: its choices come in order, and options[0] decides what it leaves open
  whole,      // a store has it: every decision of its time, by name. What is newer takes Knob::as_before
};
/// Replays the trail from a place without choices to a scheduled program. Failure: invalid, with the first knob or
/// value that does not fit, and what would.
Result<Lowering> follow(Lowering start, const Trail&, TrailIs);
/// The same from a kernel.
inline Result<Lowering> follow(ir::Program loop, const Target& target, const Trail& trail,
                               TrailIs is = TrailIs::beginning) {
  return follow(Lowering(std::move(loop), target), trail, is);
}
/// options[0] all the way: the untuned compiler.
inline Lowering heuristic(ir::Program loop, const Target& target) {
  return follow(std::move(loop), target, {}).value();
}

/// Scheduled Tile IR → Kernel IR: register axes expanded, stages filled, partials combined, guards kept.
ir::Program materialize(const ir::Program& tile, const Target&);

}  // namespace deplo::rules
