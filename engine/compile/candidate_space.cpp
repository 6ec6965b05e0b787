#include "engine/compile/candidate_space.h"

#include "core/hash.h"
#include "engine/compile/kernel_space.h"
#include "engine/foreign/opaque_kernel.h"

namespace deplo::engine {
namespace {

/// The decisions of an opaque kernel.
class OpaqueSpace final : public CandidateSpace {
 public:
  explicit OpaqueSpace(const OpaqueKernel& kernel) : kernel_(kernel) {}

  search::PositionPtr root() const override { return kernel_.space().root(); }
  std::vector<search::KnobInfo> knobs() const override { return kernel_.space().knobs(); }
  Trail untuned() const override { return search::heuristic(kernel_.space())->trail(); }
  Compiled compile(const search::Position& candidate) const override {
    measure::KernelCode code = kernel_.code(candidate);
    std::string digest = deplo::digest(code.source.text);
    return {candidate.trail(), std::move(code), std::move(digest)};
  }

 private:
  const OpaqueKernel& kernel_;
};

}  // namespace

std::unique_ptr<CandidateSpace> candidate_space(const ir::Program& loop, const OpaqueKernel* opaque,
                                                const Target& target, const Restrictions& restrictions) {
  if (opaque != nullptr) return std::make_unique<OpaqueSpace>(*opaque);
  return std::make_unique<KernelSpace>(loop, target, restrictions);
}

std::unique_ptr<CandidateSpace> candidate_space(const KernelCase& kernel, const Target& target,
                                                const Restrictions& of_all) {
  return candidate_space(kernel.loop, kernel.opaque.get(), target, joined(of_all, kernel.restrictions));
}

}  // namespace deplo::engine
