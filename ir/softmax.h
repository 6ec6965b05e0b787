// The online softmax, step by step: what SoftmaxSum (loop.h) means.
#pragma once
#include <functional>
#include <string>

#include "ir/program.h"

namespace deplo::ir {

/// What differences to the maximum are taken from where all scores are -inf: their exponentials are 0 then, not NaN.
inline constexpr double lowest_maximum = -0x1.fffffep+127;  // the least f32

/// Operations of a step for its score (maximum, difference, exponential), and for one of its sums. What scales the sums
/// is not counted: how often depends on the schedule.
inline constexpr double operations_of_score = 3;
inline double operations_of_sum(const Arg& weight) { return weight == Arg(1.0) ? 1 : 2; }

bool has_softmax_sum(const Program&);

/// The condition on positions without which the score that the loop's body makes is -inf, such as a causal mask; 1 where
/// there is none.
Expr seen(const Body&, const Arg& score);

/// Both conditions; 1 says nothing.
Expr both(const Expr&, const Expr&);

/// What the exponential that a weight is multiplied by may be rounded to: the type of the weight's elements in memory where
/// that has 16 bits, as in PyTorch, else f32.
DType exponential_type(const Program&, const Arg& weight);

/// Before the first step: an Accum that changes nothing, so that the maximum starts there and may be read.
Stmt opening(const SoftmaxSum&);
/// Assigns, Accums and Scales that do what the step does. `fresh` makes names of values, like "v".
Body steps(const SoftmaxSum&, const std::function<std::string()>& fresh);

}  // namespace deplo::ir
