// Splits long sums into partial sums. Private to rules/materialize.
#pragma once
#include "rules/materialize/kernel_builder.h"

namespace deplo::rules::materializer {

/// Rewrites each loop of the Kernel IR body that adds many terms one by one to an accumulator. Its values, and so the
/// indices of its loops, stay what they are; only the order of the additions changes.
void split_long_sums(ir::Body&, KernelBuilder&);

}  // namespace deplo::rules::materializer
