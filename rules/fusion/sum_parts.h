// Splits reductions of few, long rows, and scans of few, long lines, into parts, so that all units of the target have
// some of them.
#pragma once
#include "core/target.h"
#include "ir/tensor/tensor.h"
#include "rules/fusion/decisions.h"

namespace deplo::rules::fusion {

/// The graph with each such reduction as two: one of the parts, and one of their results. How many parts is a decision,
/// `sum_parts` (1: the reduction stays one), which is open where the heuristic splits. A scan becomes three: the totals
/// of the parts, their scan, and a scan of each part. The decision is `scan_parts`.
ir::tensor::Graph part_sums(const ir::tensor::Graph&, const Target&, Decisions&);

}  // namespace deplo::rules::fusion
