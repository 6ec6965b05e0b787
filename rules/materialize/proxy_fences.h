// Adds fences between threads' reads of shared memory and TMA copies that overwrite it. Private to rules/materialize.
#pragma once
#include "ir/program.h"

namespace deplo::rules::materializer {

/// Adds an ir::ProxyFence before each barrier and arrival between a thread's read of a buffer and a copy by TMA to this
/// buffer. Products of warpgroups read through TMA's own proxy and need no fence.
void fence_reads(ir::Body&);

}  // namespace deplo::rules::materializer
