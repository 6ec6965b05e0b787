// `deplo run --tile` of a program that has no kernels of Loop IR: block by block on a device, in a process that may be ended.
#pragma once
#include <string>

#include "apps/run/run.h"
#include "core/progress.h"

namespace deplo::apps {

/// Arrays that the program writes are compared with the tile interpreter's. `why` it does not run as kernels, in one line.
/// Throws Error as run() does; for what the interpreter refuses; and where the blocks do not end in options.limit.
RunReport run_blocks(const RunOptions&, const std::string& why, Progress&);

}  // namespace deplo::apps
