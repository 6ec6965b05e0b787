// Lowers a Combine whose total every thread receives: merges registers and lanes first, then threads by shuffles and
// shared memory. Private to rules/materialize.
#pragma once
#include "rules/materialize/replication.h"

namespace deplo::rules::materializer {

/// Merges the partial accumulators of registers, lanes and threads into one.
void lower_combine(const ir::Combine&, KernelBuilder&, Replication&, ir::Body& to);

}  // namespace deplo::rules::materializer
