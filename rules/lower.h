// Walks the pipeline: decisions turn a Loop IR program into a scheduled Tile IR program, which becomes Kernel IR.
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
  /// The open decision, with the full name `rule.knob`; nullopt if the program is scheduled.
  const std::optional<Fork>& fork() const { return fork_; }
  const Trail& trail() const { return trail_; }
  const ir::Program& program() const { return program_; }  // Tile IR, scheduled up to the open decision
  const Target& target() const { return target_; }
  void choose(std::size_t option);
  /// The value of Knob::as_before of the open fork's knob.
  std::optional<Value> as_before() const;

  /// What one rule of the pipeline did, for -vv: the reason why it was skipped, and the program before and after.
  struct Step {
    const Rule& rule;
    std::string skipped;  // "" if the rule was applied
    ir::Program before, after;
  };
  using Observer = std::function<void(const Step&)>;
  /// `loop` must be verified Loop IR. Runs the pipeline to the first fork or to its end.
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
  beginning,  // written by a person: choices in order; after the last one, options[0] decides
  whole,      // stored: every decision that existed at the time, by name; newer knobs take Knob::as_before
};
/// Replays the trail from a place without choices to a scheduled program. Fails with Status::invalid, naming the first
/// knob or value that does not fit, and what would fit.
Result<Lowering> follow(Lowering start, const Trail&, TrailIs);
/// The same, starting from a kernel.
inline Result<Lowering> follow(ir::Program loop, const Target& target, const Trail& trail,
                               TrailIs is = TrailIs::beginning) {
  return follow(Lowering(std::move(loop), target), trail, is);
}
/// Takes options[0] at every fork: the untuned compiler.
inline Lowering heuristic(ir::Program loop, const Target& target) {
  return follow(std::move(loop), target, {}).value();
}

/// Turns scheduled Tile IR into Kernel IR: expands register axes, fills stages, combines partial results, keeps guards.
ir::Program materialize(const ir::Program& tile, const Target&);

}  // namespace deplo::rules
