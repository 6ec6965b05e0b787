// Splits reductions of few, long rows, and scans of few, long lines, into parts, so that all units of the target have
// work.
#pragma once
#include "core/target.h"
#include "ir/tensor/tensor.h"
#include "rules/fusion/decisions.h"

namespace deplo::rules::fusion {

/// Returns the graph with each such reduction replaced by two: one of the parts, and one of their results. The number
/// of parts is the decision `sum_parts` (1: the reduction is not split), which is open if the heuristic splits. A scan
/// becomes three operations: the totals of the parts, the scan of these totals, and a scan of each part. Its decision
/// is `scan_parts`.
ir::tensor::Graph part_sums(const ir::tensor::Graph&, const Target&, Decisions&);

}  // namespace deplo::rules::fusion
