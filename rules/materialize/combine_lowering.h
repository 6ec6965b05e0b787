// A Combine that leaves the total with all becomes sums of registers and lanes, shuffles and shared memory. Private to rules/materialize.
#pragma once
#include "rules/materialize/replication.h"

namespace deplo::rules::materializer {

/// Partial accumulators of registers, lanes and threads become one.
void lower_combine(const ir::Combine&, KernelBuilder&, Replication&, ir::Body& to);

}  // namespace deplo::rules::materializer
