// The possible values of an index: an interval with a step. The step proves, for example, that `(a0 * 16)` and the 15
// lanes after it stay within the row.
#pragma once
#include <cstdint>
#include <optional>

#include "ir/expr.h"

namespace deplo::ir {

/// low, low + step, …, high. If low == high, step is 0; otherwise step divides high - low.
struct Strided {
  std::int64_t low = 0, high = 0, step = 0;
  bool single() const { return low == high; }
  bool always_zero() const { return low == 0 && high == 0; }
  bool never_zero() const { return low > 0 || high < 0; }
};

/// Bounds beyond this count as overflow.
inline constexpr std::int64_t max_index = std::int64_t{1} << 60;

/// The values of `l op r`. nullopt if they exceed ±max_index, if the divisor is not a positive constant, or if an
/// operand of bxor may be negative.
std::optional<Strided> combine(ExprOp, const Strided& l, const Strided& r);
/// The values of `s` in low..high; nullopt if there are none.
std::optional<Strided> clamp(const Strided& s, std::int64_t low, std::int64_t high);
/// The values of a loop variable whose start is one of the values `start`, and that stays below `extent`; nullopt if
/// the loop never runs.
std::optional<Strided> loop_values(const Strided& start, std::int64_t step, std::int64_t extent);

}  // namespace deplo::ir
