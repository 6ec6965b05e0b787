// `deplo run --tile` for a launch that does not become kernels of Loop IR: runs it block by block on a device, in a
// process that can be killed.
#pragma once
#include <string>

#include "apps/run/run.h"
#include "core/progress.h"

namespace deplo::apps {

/// Runs the launch, and compares the arrays that it changes with those of the tile interpreter. `why`: why it does not
/// run as kernels, in one line. Throws Error like run(), and also if the interpreter refuses the program, or if the
/// blocks do not end within options.limit.
RunReport run_blocks(const RunOptions&, const std::string& why, Progress&);

}  // namespace deplo::apps
