// Loads what several turns of a loop share once for all of them. Private to rules/materialize.
#pragma once
#include "rules/materialize/kernel_builder.h"

namespace deplo::rules::materializer {

/// Rewrites each innermost loop of the Kernel IR body in which a load walks the loop's axis through a quotient alone, so
/// that the load stands in a loop around it. Order and number of the additions stay. CPUs only.
void split_quotients(ir::Body&, KernelBuilder&);

}  // namespace deplo::rules::materializer
