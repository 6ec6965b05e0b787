#include "engine/compile/candidate_space.h"

#include "core/hash.h"
#include "engine/compile/kernel_space.h"
#include "engine/foreign/kernel_file.h"

namespace deplo::engine {
namespace {

/// The configurations of a user's own kernel.
class FileSpace final : public CandidateSpace {
 public:
  explicit FileSpace(const foreign::KernelFile& file) : file_(file) {}

  search::PositionPtr root() const override { return file_.space().root(); }
  std::vector<search::KnobInfo> knobs() const override { return file_.space().knobs(); }
  Trail untuned() const override { return search::heuristic(file_.space())->trail(); }
  Compiled compile(const search::Position& candidate) const override {
    measure::KernelCode code = file_.code(file_.space().configuration(candidate));
    std::string digest = deplo::digest(code.source.text);
    return {candidate.trail(), std::move(code), std::move(digest)};
  }

 private:
  const foreign::KernelFile& file_;
};

}  // namespace

std::unique_ptr<CandidateSpace> candidate_space(const KernelCase& kernel, const Target& target,
                                                const Restrictions& of_all) {
  if (kernel.file) return std::make_unique<FileSpace>(*kernel.file);
  return std::make_unique<KernelSpace>(kernel.loop, target, joined(of_all, kernel.restrictions));
}

}  // namespace deplo::engine
