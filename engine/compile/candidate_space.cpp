#include "engine/compile/candidate_space.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "engine/compile/kernel_space.h"
#include "engine/foreign/opaque_kernel.h"

namespace deplo::engine {
namespace {

/// A position whose fork offers only the options that restrictions allow.
class RestrictedPosition final : public search::Position {
 public:
  RestrictedPosition(search::PositionPtr whole, std::shared_ptr<const Restrictions> restrictions)
      : whole_(std::move(whole)), restrictions_(std::move(restrictions)) {
    if (!whole_->fork()) return;
    options_ = allowed_options(*whole_->fork(), *restrictions_);
    fork_ = with_options(*whole_->fork(), options_);
  }

  const std::optional<Fork>& fork() const override { return fork_; }
  const Trail& trail() const override { return whole_->trail(); }
  search::PositionPtr choose(std::size_t option) const override {
    CHECK(option < options_.size());
    return std::make_shared<RestrictedPosition>(whole_->choose(options_[option]), restrictions_);
  }
  // leaves() is 1 for every option: the counts of the unrestricted space do not hold under restrictions.

  const search::Position& whole() const { return *whole_; }

 private:
  search::PositionPtr whole_;
  std::shared_ptr<const Restrictions> restrictions_;  // shared by the whole tree
  std::optional<Fork> fork_;
  std::vector<std::size_t> options_;  // indices of the allowed options in the unrestricted fork
};

/// The decisions of an opaque kernel as a search space.
class OpaqueSpace final : public CandidateSpace {
 public:
  OpaqueSpace(const OpaqueKernel& kernel, const Restrictions& restrictions)
      : kernel_(kernel), restrictions_(restrictions), root_(kernel.space().root()) {
    // The unrestricted space knows how many candidates are below an option; a restricted one does not.
    if (!restrictions.empty())
      root_ = std::make_shared<RestrictedPosition>(root_, std::make_shared<const Restrictions>(restrictions));
  }

  search::PositionPtr root() const override { return root_; }
  std::vector<search::KnobInfo> knobs() const override {
    std::vector<search::KnobInfo> knobs = kernel_.space().knobs();
    for (search::KnobInfo& knob : knobs) {
      const Fork whole{knob.name, knob.options};
      knob.options = with_options(whole, allowed_options(whole, restrictions_)).options;
    }
    return knobs;
  }
  Trail untuned() const override { return search::heuristic(kernel_.space())->trail(); }
  Compiled compile(const search::Position& candidate) const override {
    Trail trail = candidate.trail();
    const auto* const restricted = dynamic_cast<const RestrictedPosition*>(&candidate);
    Result<measure::KernelCode> code = kernel_.launchable(restricted == nullptr ? candidate : restricted->whole());
    if (!code.ok()) {
      std::string digest = deplo::digest(fmt::format("{}: {}", print(trail), code.failure().message));
      return {std::move(trail), {}, std::move(digest), code.failure()};
    }
    std::string digest = deplo::digest(code.value().source.text);
    return {std::move(trail), std::move(code.value()), std::move(digest)};
  }

 private:
  const OpaqueKernel& kernel_;
  const Restrictions restrictions_;
  search::PositionPtr root_;
};

}  // namespace

std::unique_ptr<CandidateSpace> candidate_space(const ir::Program& loop, const OpaqueKernel* opaque,
                                                const Target& target, const Restrictions& restrictions) {
  if (opaque != nullptr) return std::make_unique<OpaqueSpace>(*opaque, restrictions);
  return std::make_unique<KernelSpace>(loop, target, restrictions);
}

std::unique_ptr<CandidateSpace> candidate_space(const KernelCase& kernel, const Target& target,
                                                const Restrictions& of_all) {
  return candidate_space(kernel.loop, kernel.opaque.get(), target, joined(of_all, kernel.restrictions));
}

}  // namespace deplo::engine
