// The last mile of a kernel: from a schedule that is decided to what a device builds.
#pragma once
#include <string>

#include "core/trail.h"
#include "measure/device.h"
#include "rules/lower.h"

namespace deplo::engine {

/// A kernel by one schedule.
struct Compiled {
  Trail trail;
  measure::KernelCode code;  // Kernel IR, and the source that a device builds
  std::string digest;        // of the source's text: the identity of a schedule, whatever trail led to it
};
/// Of a place without an open fork.
Compiled compile(const rules::Lowering&);

}  // namespace deplo::engine
