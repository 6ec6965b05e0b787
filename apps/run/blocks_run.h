// `deplo run --tile` for a program that cannot become kernels of Loop IR: runs it block by block on a device, in a
// process that can be killed.
#pragma once
#include <string>

#include "apps/run/run.h"
#include "core/progress.h"

namespace deplo::apps {

/// Compares the arrays that the program writes with the tile interpreter's. `why`: why it does not run as kernels, in
/// one line. Throws Error like run(), if the interpreter refuses the program, or if the blocks do not end within
/// options.limit.
RunReport run_blocks(const RunOptions&, const std::string& why, Progress&);

}  // namespace deplo::apps
