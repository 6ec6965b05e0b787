// Lets a CPU add to several accumulators in parallel. Private to rules/materialize.
#pragma once
#include <cstddef>

#include "rules/materialize/kernel_builder.h"

namespace deplo::rules::materializer {

/// Loops with more accumulators have enough independent chains of additions, and registers are few.
inline constexpr std::size_t max_split_accumulators = 2;
/// Rewrites each innermost loop of the Kernel IR body that has one or two accumulators, so that consecutive iterations
/// add to different accumulators.
void add_in_parallel(ir::Body&, KernelBuilder&);

}  // namespace deplo::rules::materializer
