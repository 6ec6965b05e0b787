// The online softmax, step by step: what SoftmaxSum (loop.h) means.
#pragma once
#include <functional>
#include <string>

#include "ir/stmt.h"

namespace deplo::ir {

/// As values of scores are taken from -inf on, so that what has no score yet is scaled by e^(-inf) and not by NaN.
inline constexpr double lowest_maximum = -0x1.fffffep+127;  // the least f32

/// Assigns, Accums and Scales that do what the step does. `fresh` makes names of values, like "v".
Body steps(const SoftmaxSum&, const std::function<std::string()>& fresh);

}  // namespace deplo::ir
