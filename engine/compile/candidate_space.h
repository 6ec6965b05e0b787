// The search space of a kernel: candidates that can be compiled.
#pragma once
#include <memory>

#include "core/target.h"
#include "engine/compile/compiled.h"
#include "engine/source/experiment.h"
#include "search/space.h"

namespace deplo::engine {

class CandidateSpace : public search::Space {
 public:
  /// Compiles a candidate of this space. The result may be a fault (Compiled::fault).
  virtual Compiled compile(const search::Position& candidate) const = 0;
  /// Returns the trail of the untuned kernel, ignoring all restrictions. The changes in another trail are counted
  /// against it.
  virtual Trail untuned() const = 0;
};

/// Returns the schedules of `loop`, or, if `opaque` is not null, the decisions of that opaque kernel. Both kernels must
/// outlive the space.
std::unique_ptr<CandidateSpace> candidate_space(const ir::Program& loop, const OpaqueKernel* opaque, const Target&,
                                                const Restrictions&);
/// Returns the schedules of a kernel of Loop IR, or the decisions of an opaque kernel, under the kernel's own
/// restrictions and `of_all`. The kernel must outlive the space.
std::unique_ptr<CandidateSpace> candidate_space(const KernelCase&, const Target&, const Restrictions& of_all);

}  // namespace deplo::engine
