#include "apps/kernel_space.h"

#include <utility>

namespace deplo::apps {
namespace {

class KernelPosition : public search::Position {
 public:
  explicit KernelPosition(rules::Lowering lowering) : lowering_(std::move(lowering)) {}

  const std::optional<Fork>& fork() const override { return lowering_.fork(); }
  const Trail& trail() const override { return lowering_.trail(); }
  search::PositionPtr choose(std::size_t option) const override {
    rules::Lowering next = lowering_;
    next.choose(option);
    return std::make_shared<KernelPosition>(std::move(next));
  }
  const rules::Lowering& lowering() const { return lowering_; }

 private:
  rules::Lowering lowering_;
};

}  // namespace

KernelSpace::KernelSpace(const ir::Program& loop, const Target& target)
    : root_(std::make_shared<KernelPosition>(rules::Lowering(loop, target))) {}

const rules::Lowering& KernelSpace::lowering(const search::Position& candidate) {
  const auto* const position = dynamic_cast<const KernelPosition*>(&candidate);
  CHECK(position != nullptr);
  return position->lowering();
}

}  // namespace deplo::apps
