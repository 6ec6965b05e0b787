// The last step of compiling a kernel: from a complete schedule to the source that a device builds.
#pragma once
#include <optional>
#include <string>

#include "core/outcome.h"
#include "core/trail.h"
#include "measure/device.h"
#include "rules/lower.h"

namespace deplo::engine {

/// A kernel compiled with one schedule, or the reason why it cannot be launched with it.
struct Compiled {
  Trail trail;
  measure::KernelCode code;           // Kernel IR, and the source that a device builds
  std::string digest;                 // digest of the source's text: identifies a schedule, whatever trail led to it
  std::optional<Failure> fault = {};  // only for a user's kernel file: there is no code, and `digest` is of the fault
};
/// Compiles a complete schedule. The lowering must have no open fork.
Compiled compile(const rules::Lowering&);

}  // namespace deplo::engine
