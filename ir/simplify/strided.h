// What an index may be: an interval with a step, so that `(a0 * 16)` plus 15 more lanes is known to end where the row
// ends.
#pragma once
#include <cstdint>
#include <optional>

#include "ir/expr.h"

namespace deplo::ir {

/// low, low + step, … high. step is 0 where low == high, and divides high - low.
struct Strided {
  std::int64_t low = 0, high = 0, step = 0;
  bool single() const { return low == high; }
  bool always_zero() const { return low == 0 && high == 0; }
  bool never_zero() const { return low > 0 || high < 0; }
};

/// Bounds beyond this count as overflow.
inline constexpr std::int64_t most_index = std::int64_t{1} << 60;

/// The values of `l op r`; nullopt where they leave ±most_index or the divisor is not a positive constant.
std::optional<Strided> combine(ExprOp, const Strided& l, const Strided& r);
/// The values of `s` in low..high; nullopt where there are none.
std::optional<Strided> clamp(const Strided& s, std::int64_t low, std::int64_t high);
/// The values of a loop variable that starts at one of `start` and stays below `extent`; nullopt where it never runs.
std::optional<Strided> loop_values(const Strided& start, std::int64_t step, std::int64_t extent);

}  // namespace deplo::ir
