// A kernel's schedules as a search space: a position is a lowering that stopped at an open decision.
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
  /// `loop` must be verified Loop IR. Forks offer the options that the restrictions leave, in the rules' order.
  KernelSpace(const ir::Program& loop, const Target& target, Restrictions restrictions = {});
  search::PositionPtr root() const override { return root_; }
  /// With the types of the rules' knobs, and the rules' summaries.
  std::vector<search::KnobInfo> knobs() const override;
  /// Also finds trails that are older than some rules (rules::follow()).
  search::PositionPtr find(const Trail&) const override;

  Compiled compile(const search::Position& candidate) const override;
  Trail untuned() const override;

  /// The lowering of a candidate that comes from a KernelSpace.
  static const rules::Lowering& lowering(const search::Position& candidate);

 private:
  std::shared_ptr<const Restrictions> restrictions_;
  search::PositionPtr root_;
};

}  // namespace deplo::engine
