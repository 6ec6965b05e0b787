#include "ir/types/integers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/error.h"

namespace deplo::ir {
namespace {

__extension__ using Wide = __int128;  // holds a product of any two integers that a double holds exactly

bool calculates(Op op) {
  switch (op) {
    case Op::negative:
    case Op::absolute:
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::fma:
    case Op::power:
    case Op::shift_left:
      return true;
    default:
      return false;
  }
}

/// Returns the exact result, which the caller wraps modulo 2^32 for i32.
Wide calculate(Op op, std::span<const double> args) {
  const auto whole = [&](std::size_t i) { return static_cast<Wide>(args[i]); };
  switch (op) {
    case Op::negative:
      return -whole(0);
    case Op::absolute:
      return whole(0) < 0 ? -whole(0) : whole(0);
    case Op::add:
      return whole(0) + whole(1);
    case Op::subtract:
      return whole(0) - whole(1);
    case Op::multiply:
      return whole(0) * whole(1);
    case Op::shift_left:
      return whole(0) * (Wide{1} << std::clamp(static_cast<int>(args[1]), 0, 63));
    default:
      CHECK(op == Op::fma);
      return whole(0) * whole(1) + whole(2);
  }
}

double wrapped_i32(Wide value) {
  return static_cast<double>(static_cast<std::int32_t>(static_cast<std::uint32_t>(value)));
}

double low_bits(std::int32_t value, DType narrow) {
  const int above = 32 - width(narrow);  // the left shift drops these bits
  const std::uint32_t high = static_cast<std::uint32_t>(value) << above;
  return is_unsigned(narrow) ? static_cast<double>(high >> above)
                             : static_cast<double>(static_cast<std::int32_t>(high) >> above);
}

void require_exact(double value) {
  if (std::abs(value) > max_exact_integer && value != -0x1p63)  // to_integer() returns -2^63 for reals out of range
    throw Error(fmt::format(
        "expected 64-bit integers from -2^53 to 2^53, the range in which references are exact, found {:.0f}", value));
}

}  // namespace

double to_integer(double value, DType from, DType to) {
  const bool real = is_float(from);
  if (to == DType::i64) {
    const double whole = std::trunc(value);
    return !real || (whole >= -0x1p63 && whole < 0x1p63) ? whole : -0x1p63;
  }
  CHECK(to == DType::i32 || is_narrow_integer(to));
  const double whole = std::trunc(value);
  const bool fits = whole >= -0x1p31 && whole < 0x1p31;
  const double word = fits                                  ? whole
                      : real || !(std::abs(whole) < 0x1p64) ? -0x1p31
                                                            : wrapped_i32(static_cast<Wide>(whole));
  return to == DType::i32 ? word : low_bits(static_cast<std::int32_t>(word), to);
}

double apply_integer(Op op, std::span<const double> args, DType dtype) {
  const bool finite = std::ranges::all_of(args, [](double a) { return std::isfinite(a); });
  if (!calculates(op) || !finite) return apply(op, args);  // only inactive lanes have non-finite values
  if (dtype == DType::i64) std::ranges::for_each(args, require_exact);
  if (op == Op::power) {
    const double result = std::trunc(apply(op, args));
    require_exact(result);
    return dtype == DType::i32 ? wrapped_i32(static_cast<Wide>(result)) : result;
  }
  const Wide result = calculate(op, args);
  if (dtype == DType::i32) return wrapped_i32(result);
  require_exact(static_cast<double>(result));
  return static_cast<double>(result);
}

}  // namespace deplo::ir
