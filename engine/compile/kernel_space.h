// The schedules of a kernel as a search space. A position is a lowering that stopped at an open decision.
#pragma once
#include <memory>

#include "engine/compile/candidate_space.h"
#include "engine/source/restrict.h"
#include "ir/program.h"
#include "rules/lower.h"
#include "search/space.h"

namespace deplo::engine {

class KernelSpace : public CandidateSpace {
 public:
  /// `loop` must be verified Loop IR. Forks offer the options that the restrictions allow, in the order of the rules.
  KernelSpace(const ir::Program& loop, const Target& target, Restrictions restrictions = {});
  search::PositionPtr root() const override { return root_; }
  /// Returns the knobs with their types and with the summaries of their rules.
  std::vector<search::KnobInfo> knobs() const override;
  /// Returns the position of a trail. The trail may be older than some rules (rules::follow()).
  search::PositionPtr find(const Trail&) const override;

  Compiled compile(const search::Position& candidate) const override;
  Trail untuned() const override;

  /// Returns the lowering of a candidate. The candidate must come from a KernelSpace.
  static const rules::Lowering& lowering(const search::Position& candidate);

 private:
  std::shared_ptr<const Restrictions> restrictions_;
  search::PositionPtr root_;
};

}  // namespace deplo::engine
