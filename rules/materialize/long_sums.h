// Splits long sums into partial sums. Private to rules/materialize.
#pragma once
#include "rules/materialize/kernel_builder.h"

namespace deplo::rules::materializer {

/// Rewrites each loop of the Kernel IR body that adds many terms one by one to an accumulator. The terms and the
/// indices stay the same; only the order of the additions changes.
void split_long_sums(ir::Body&, KernelBuilder&);

}  // namespace deplo::rules::materializer
