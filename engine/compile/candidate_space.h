// What is searched for a kernel: candidates that can be compiled.
#pragma once
#include <memory>

#include "core/target.h"
#include "engine/compile/compiled.h"
#include "engine/source/experiment.h"
#include "search/space.h"

namespace deplo::engine {

class CandidateSpace : public search::Space {
 public:
  /// `candidate`: of this space. Throws Error if a user's kernel file cannot be launched this way.
  virtual Compiled compile(const search::Position& candidate) const = 0;
  /// The trail of the untuned kernel, whatever restrictions leave: that from which a trail's changes are counted.
  virtual Trail untuned() const = 0;
};

/// The schedules of a kernel of Loop IR (`opaque`: null), or the decisions of an opaque kernel. Both must outlive it.
std::unique_ptr<CandidateSpace> candidate_space(const ir::Program& loop, const OpaqueKernel* opaque, const Target&,
                                                const Restrictions&);
/// The schedules of a kernel of Loop IR, or the decisions of an opaque kernel. The kernel must outlive it.
std::unique_ptr<CandidateSpace> candidate_space(const KernelCase&, const Target&, const Restrictions& of_all);

}  // namespace deplo::engine
