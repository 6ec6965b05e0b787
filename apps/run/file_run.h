// `deplo run --space`: runs a user's own kernel once, in a process that can be killed, or on the PTX machine.
#pragma once
#include "apps/run/run.h"
#include "core/progress.h"

namespace deplo::apps {

/// Runs the kernel with RunOptions::configuration, or else with the configuration in the store, or else with its
/// defaults. Compares its outputs with the reference that the space names. Throws Error like run(), and if the kernel
/// crashes, or takes longer than options.limit.
RunReport run_file(const RunOptions&, Progress&);

}  // namespace deplo::apps
