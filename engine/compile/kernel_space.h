// A kernel's schedules as a search space: a position is a lowering stopped at its open decision.
#pragma once
#include <memory>

#include "engine/source/restrict.h"
#include "ir/program.h"
#include "rules/lower.h"
#include "search/space.h"

namespace deplo::engine {

class KernelSpace : public search::Space {
 public:
  /// `loop` is verified Loop IR. Forks offer what the restrictions leave, in the rules' order.
  KernelSpace(const ir::Program& loop, const Target& target, Restrictions restrictions = {});
  search::PositionPtr root() const override { return root_; }
  /// Also of a trail that is older than some rules (rules::follow()).
  search::PositionPtr find(const Trail&) const override;

  /// The scheduled program behind a candidate that came from this kind of space.
  static const rules::Lowering& lowering(const search::Position& candidate);

 private:
  std::shared_ptr<const Restrictions> restrictions_;
  search::PositionPtr root_;
};

}  // namespace deplo::engine
