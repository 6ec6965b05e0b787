// The longest chain of dependent additions in a kernel.
#pragma once
#include <cstdint>

namespace deplo::ir {

/// The maximum number of terms that a kernel adds sequentially to one f32 accumulator. A longer sum is split into
/// partial sums (rules/materialize/long_sums.h). The bound on rounding errors relies on this limit
/// (interpret/rounding.cpp).
inline constexpr std::int64_t longest_chain = 32768;

}  // namespace deplo::ir
