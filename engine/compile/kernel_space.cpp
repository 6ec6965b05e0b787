#include "engine/compile/kernel_space.h"

#include <mutex>
#include <utility>
#include <vector>

#include "core/error.h"
#include "rules/rule.h"

namespace deplo::engine {
namespace {

/// A cache of positions for later paths through them: searchers walk thousands of paths from the root, and some rules
/// take milliseconds to decide. The root is cached. The first path through a cached position caches nothing below it;
/// each later path caches the child that it reaches. If the cache is full, all positions are dropped, because a search
/// moves on to other parts of its space.
struct KeptPositions {
  static constexpr std::size_t max_positions = 8000;  // about ten kilobytes each
  std::mutex mutex;
  std::size_t count = 0, generation = 0;

  void note() {
    if (++count < max_positions) return;
    count = 0;
    ++generation;
  }
};

class KernelPosition : public search::Position {
 public:
  KernelPosition(rules::Lowering lowering, std::shared_ptr<const Restrictions> restrictions,
                 std::shared_ptr<KeptPositions> kept)
      : lowering_(std::move(lowering)), restrictions_(std::move(restrictions)), kept_(std::move(kept)) {
    if (!lowering_.fork()) return;
    const Fork& whole = *lowering_.fork();
    options_ = allowed_options(whole, *restrictions_);
    fork_ = with_options(whole, options_);
  }

  const std::optional<Fork>& fork() const override { return fork_; }
  const Trail& trail() const override { return lowering_.trail(); }
  search::PositionPtr choose(std::size_t option) const override {
    CHECK(option < options_.size());
    if (kept_ == nullptr) return next(option, nullptr);
    bool keeps = false;
    {
      const std::lock_guard lock(kept_->mutex);
      if (generation_ != kept_->generation) children_.clear();
      generation_ = kept_->generation;
      children_.resize(options_.size());
      if (children_[option] != nullptr) return children_[option];
      keeps = std::exchange(passed_, true);
    }
    search::PositionPtr position = next(option, keeps ? kept_ : nullptr);
    if (!keeps) return position;
    const std::lock_guard lock(kept_->mutex);
    if (generation_ != kept_->generation || children_[option] != nullptr) return position;
    children_[option] = position;
    kept_->note();
    return position;
  }
  const rules::Lowering& lowering() const { return lowering_; }

 private:
  search::PositionPtr next(std::size_t option, std::shared_ptr<KeptPositions> kept) const {
    rules::Lowering next = lowering_;
    next.choose(options_[option]);
    return std::make_shared<KernelPosition>(std::move(next), restrictions_, std::move(kept));
  }

  rules::Lowering lowering_;
  std::shared_ptr<const Restrictions> restrictions_;  // shared by the whole space
  std::shared_ptr<KeptPositions> kept_;               // shared by the whole space; null: this position is not cached
  // The following members are guarded by the mutex of kept_.
  mutable std::vector<search::PositionPtr> children_;  // index: option; null: not cached
  mutable std::size_t generation_ = 0;                 // generation of the children
  mutable bool passed_ = false;                        // a path has gone through this position
  std::optional<Fork> fork_;                           // the rule's fork, reduced to the allowed options
  std::vector<std::size_t> options_;                   // indices of the allowed options in the rule's fork
};

}  // namespace

KernelSpace::KernelSpace(const ir::Program& loop, const Target& target, Restrictions restrictions)
    : restrictions_(std::make_shared<const Restrictions>(std::move(restrictions))),
      root_(std::make_shared<KernelPosition>(rules::Lowering(loop, target), restrictions_,
                                             std::make_shared<KeptPositions>())) {}

search::PositionPtr KernelSpace::find(const Trail& trail) const {
  Result<rules::Lowering> found = rules::follow(lowering(*root_), trail, rules::TrailIs::whole);
  if (!found.ok()) return nullptr;
  if (restrictions_->empty()) return std::make_shared<KernelPosition>(std::move(found.value()), restrictions_, nullptr);
  // the restrictions may exclude options that the rules offer, so the trail is walked again
  return search::walk(*this, found.value().trail());
}

std::vector<search::KnobInfo> KernelSpace::knobs() const {
  std::vector<search::KnobInfo> knobs = Space::knobs();
  for (search::KnobInfo& info : knobs) {
    const std::size_t dot = info.name.find('.');
    const rules::Rule* const rule = rules::find_rule(info.name.substr(0, dot));
    CHECK(rule != nullptr && dot != std::string::npos);
    info.meaning = rule->summary;
    if (rules::find_knob(*rule, info.name.substr(dot + 1))->type == rules::KnobType::on_off) info.kind = "on_off";
  }
  return knobs;
}

Compiled KernelSpace::compile(const search::Position& candidate) const { return engine::compile(lowering(candidate)); }

Trail KernelSpace::untuned() const {
  rules::Lowering lowering = KernelSpace::lowering(*root_);
  while (lowering.fork()) lowering.choose(0);
  return lowering.trail();
}

const rules::Lowering& KernelSpace::lowering(const search::Position& candidate) {
  const auto* const position = dynamic_cast<const KernelPosition*>(&candidate);
  CHECK(position != nullptr);
  return position->lowering();
}

}  // namespace deplo::engine
