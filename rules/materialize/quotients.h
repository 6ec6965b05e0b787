// Moves loads that several consecutive iterations of a loop share out of these iterations, and turns a loop over a
// window into a loop over its lines. Private to rules/materialize.
#pragma once
#include "rules/materialize/kernel_builder.h"

namespace deplo::rules::materializer {

/// Rewrites each innermost loop of the Kernel IR body in which a load depends on the loop's axis only through a
/// quotient: the load moves to a new loop around the iterations that share it. Each loop that is marked to be unrolled
/// by such a divisor is rewritten in the same way. The order and the number of the additions stay the same. CPUs only.
void split_quotients(ir::Body&, KernelBuilder&);

}  // namespace deplo::rules::materializer
