// How many terms a kernel adds one after the other.
#pragma once
#include <cstdint>

namespace deplo::ir {

/// No kernel adds more terms than this one after the other to one accumulator of f32: a longer sum is a sum of partial
/// sums (rules/materialize/long_sums.h). The bound of rounding errors relies on it (interpret/rounding.cpp).
inline constexpr std::int64_t longest_chain = 32768;

}  // namespace deplo::ir
