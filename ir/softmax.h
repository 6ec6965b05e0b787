// The online softmax step by step: the expansion of SoftmaxSum (loop.h).
#pragma once
#include <functional>
#include <string>

#include "ir/program.h"

namespace deplo::ir {

/// Lower bound of the maximum that is subtracted from the scores. It makes the exponentials 0, not NaN, if all scores
/// are -inf.
inline constexpr double lowest_maximum = -0x1.fffffep+127;  // the least f32

/// Number of operations that a step needs for its score (maximum, difference, exponential), and for each sum. The
/// scaling of the sums is not counted, because its frequency depends on the schedule.
inline constexpr double operations_of_score = 3;
inline double operations_of_sum(const Arg& weight) { return weight == Arg(1.0) ? 1 : 2; }

bool has_softmax_sum(const Program&);

/// Returns the condition on positions, such as a causal mask, outside of which the score that the loop's body computes
/// is -inf; 1 if there is no such condition.
Expr seen(const Body&, const Arg& score);

/// The conjunction of both conditions, without a condition that is the constant 1.
Expr both(const Expr&, const Expr&);

/// The type to which an exponential may be rounded before it is multiplied by a weight. It is the 16-bit type of the
/// weight's elements in memory, as in PyTorch; f32 if these have another type.
DType exponential_type(const Program&, const Arg& weight);

/// Returns an Accum that changes nothing. It stands before the first step, so that the maximum starts there and can be
/// read.
Stmt opening(const SoftmaxSum&);
/// Returns the step as Assigns, Accums and Scales. `fresh` returns a new name of a value at each call.
Body steps(const SoftmaxSum&, const std::function<std::string()>& fresh);

}  // namespace deplo::ir
