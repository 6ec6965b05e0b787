// The online softmax, step by step: what SoftmaxSum (loop.h) means.
#pragma once
#include <functional>
#include <string>

#include "ir/stmt.h"

namespace deplo::ir {

/// What the greatest of no scores is, so that a score of -inf and sums that have none yet are scaled by 0, not by NaN.
inline constexpr double lowest_maximum = -0x1.fffffep+127;  // the least f32

/// Before the first step: the maximum, which starts where its sums start, is one of no scores.
Stmt opening(const SoftmaxSum&);
/// Assigns, Accums and Scales that do what the step does. `fresh` makes names of values, like "v".
Body steps(const SoftmaxSum&, const std::function<std::string()>& fresh);

}  // namespace deplo::ir
