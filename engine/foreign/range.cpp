#include "engine/foreign/range.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace deplo::engine::foreign {
namespace ranges {
namespace {

using Kind = Range::Kind;

// Doubles represent every integer up to this value, so integer bounds are exact, and no operation on them overflows 64
// bits.
constexpr double max_exact = 0x1p53;
// Larger than the errors of std::pow and std::log2.
constexpr double function_error = 1e-9;

constexpr Range unknown{};
constexpr Range any_scalar{Kind::scalar, false, 0, 0};
constexpr Range either{Kind::number, true, 0, 1};

Range truth(bool value) { return {Kind::number, true, value ? 1.0 : 0.0, value ? 1.0 : 0.0}; }
Range number(double low, double high, bool is_integer) {
  if (!(low >= -max_exact && high <= max_exact)) return unknown;  // also for NaN
  return {Kind::number, is_integer, low, high};
}
bool is_point(const Range& a) { return a.low == a.high; }
bool is_true(const Range& a) { return a.is_number() && (a.low > 0 || a.high < 0); }
bool has_zero(const Range& a) { return a.low <= 0 && a.high >= 0; }
bool are_integers(const Range& a, const Range& b) { return a.is_integer && b.is_integer; }

/// Returns the range of a function that is monotone in each argument for every value of the other. Its extremes are at
/// the corners.
template <class Function>
Range corners(const Range& a, const Range& b, bool is_integer, Function function) {
  const auto [low, high] =
      std::minmax({function(a.low, b.low), function(a.low, b.high), function(a.high, b.low), function(a.high, b.high)});
  return number(low, high, is_integer);
}

Range floor_divide(const Range& a, const Range& b) {
  if (has_zero(b)) return unknown;             // a possible division by zero
  if (!are_integers(a, b)) return any_scalar;  // x / y may be rounded to an integer that it does not reach
  // Below 2^52, a rounded quotient of integers never reaches the next integer.
  if (std::max(std::abs(a.low), std::abs(a.high)) > 0x1p52) return unknown;
  return corners(a, b, true, [](double x, double y) { return std::floor(x / y); });
}

/// The remainder has the sign of the divisor.
Range remainder(const Range& a, const Range& b) {
  if (has_zero(b)) return unknown;
  if (!are_integers(a, b)) return any_scalar;  // rounding may exceed the bounds that hold for integers
  if (b.high < 0) return number(b.low + 1, 0, true);
  if (a.low >= 0 && a.high < b.low) return a;
  if (is_point(b)) {
    const double first = std::floor(a.low / b.low), last = std::floor(a.high / b.low);
    // Small quotients are exact enough.
    if (first == last && std::abs(first) < 0x1p20) return number(a.low - first * b.low, a.high - first * b.low, true);
  }
  return number(0, a.low >= 0 ? std::min(a.high, b.high - 1) : b.high - 1, true);
}

Range power(const Range& base, const Range& exponent) {
  if (!are_integers(base, exponent) || base.low < 1 || exponent.low < 0) return unknown;
  const double low = std::pow(base.low, exponent.low), high = std::pow(base.high, exponent.high);
  return number(std::floor(low * (1 - function_error)), std::ceil(high * (1 + function_error)), true);
}

/// Returns the number that has as many bits as `value`, all set to 1.
double all_bits(double value) { return static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(value) + 1)) - 1; }

Range bits(Operation operation, const Range& a, const Range& b) {
  if (!are_integers(a, b)) return unknown;
  if (a.low < 0 || b.low < 0) return any_scalar;
  if (operation == Operation::bit_and) return number(0, std::min(a.high, b.high), true);
  const double high = all_bits(std::max(a.high, b.high));
  return number(operation == Operation::bit_or ? std::max(a.low, b.low) : 0, high, true);
}

Range shift(bool left, const Range& a, const Range& b) {
  if (!are_integers(a, b) || b.low < 0 || b.high > 62) return unknown;
  return corners(a, b, true, [&](double x, double by) {
    return left ? std::ldexp(x, static_cast<int>(by)) : std::floor(std::ldexp(x, -static_cast<int>(by)));
  });
}

Range equals(const Range& a, const Range& b) {
  if (!a.is_number() || !b.is_number()) return either;
  if (a.high < b.low || b.high < a.low) return truth(false);
  return is_point(a) && is_point(b) ? truth(true) : either;
}
Range opposite(const Range& a) {
  if (is_true(a)) return truth(false);
  return is_false(a) ? truth(true) : either;
}
Range is_less(const Range& a, const Range& b) {
  if (a.high < b.low) return truth(true);
  return a.low >= b.high ? truth(false) : either;
}
Range is_at_most(const Range& a, const Range& b) { return opposite(is_less(b, a)); }

Range is_in(std::span<const Range> all) {
  bool never = true;
  for (const Range& element : all.subspan(1)) {
    const Range same = equals(all[0], element);
    if (is_true(same)) return same;
    never = never && is_false(same);
  }
  return never ? truth(false) : either;
}

template <class Pick>
Range extreme(std::span<const Range> all, Pick pick) {
  Range result = all[0];
  for (const Range& one : all.subspan(1))
    result = number(pick(result.low, one.low), pick(result.high, one.high), are_integers(result, one));
  return result;
}

Range absolute(const Range& a) {
  if (a.low >= 0) return a;
  return number(a.high <= 0 ? -a.high : 0, std::max(-a.low, a.high), a.is_integer);
}

Range rounded(const Range& a, double (*function)(double)) {
  return a.is_integer ? a : number(function(a.low), function(a.high), true);
}

Range logarithm(const Range& a) {
  if (a.low <= 0) return any_scalar;
  const double low = std::log2(a.low), high = std::log2(a.high);
  return number(low - std::abs(low) * function_error, high + std::abs(high) * function_error, false);
}

/// The operations on numbers.
Range arithmetic(Operation operation, std::span<const Range> all) {
  const Range &a = all[0], &b = all[all.size() > 1 ? 1 : 0];
  switch (operation) {
    case Operation::add:
      return number(a.low + b.low, a.high + b.high, are_integers(a, b));
    case Operation::subtract:
      return number(a.low - b.high, a.high - b.low, are_integers(a, b));
    case Operation::multiply:
      return corners(a, b, are_integers(a, b), [](double x, double y) { return x * y; });
    case Operation::divide:
      return has_zero(b) ? unknown : corners(a, b, false, [](double x, double y) { return x / y; });
    case Operation::floor_divide:
      return floor_divide(a, b);
    case Operation::remainder:
      return remainder(a, b);
    case Operation::power:
      return power(a, b);
    case Operation::negate:
      return number(-a.high, -a.low, a.is_integer);
    case Operation::complement:
      return a.is_integer ? number(-a.high - 1, -a.low - 1, true) : unknown;
    case Operation::bit_and:
    case Operation::bit_or:
    case Operation::bit_xor:
      return bits(operation, a, b);
    case Operation::shift_left:
    case Operation::shift_right:
      return shift(operation == Operation::shift_left, a, b);
    case Operation::less:
      return is_less(a, b);
    case Operation::less_equal:
      return is_at_most(a, b);
    case Operation::greater:
      return is_less(b, a);
    case Operation::greater_equal:
      return is_at_most(b, a);
    case Operation::min:
      return extreme(all, [](double x, double y) { return std::min(x, y); });
    case Operation::max:
      return extreme(all, [](double x, double y) { return std::max(x, y); });
    case Operation::abs:
      return absolute(a);
    case Operation::to_float:
      return number(a.low, a.high, false);
    case Operation::truncate:
      return rounded(a, std::trunc);
    case Operation::round:
      return rounded(a, std::nearbyint);
    case Operation::ceil:
      return rounded(a, std::ceil);
    case Operation::floor:
      return rounded(a, std::floor);
    case Operation::sqrt:
      return a.low < 0 ? any_scalar : number(std::sqrt(a.low), std::sqrt(a.high), false);
    case Operation::log2:
      return logarithm(a);
    default:
      return unknown;
  }
}

}  // namespace
}  // namespace ranges

Range range_of(const Operand& value) {
  const auto* scalar = std::get_if<Scalar>(&value);
  if (scalar == nullptr) return ranges::unknown;
  double number = 0;
  if (const auto* integer = std::get_if<std::int64_t>(scalar))
    number = static_cast<double>(*integer);
  else if (const auto* real = std::get_if<double>(scalar))
    number = *real;
  else
    return ranges::any_scalar;
  const Range range = ranges::number(number, number, std::holds_alternative<std::int64_t>(*scalar));
  return range.is_number() ? range : ranges::any_scalar;
}

Range join(const Range& a, const Range& b) {
  if (!a.is_scalar() || !b.is_scalar()) return ranges::unknown;
  if (!a.is_number() || !b.is_number()) return ranges::any_scalar;
  return {Range::Kind::number, ranges::are_integers(a, b), std::min(a.low, b.low), std::max(a.high, b.high)};
}

Range range_of(Operation operation, std::span<const Range> all) {
  if (all.empty() || !std::ranges::all_of(all, &Range::is_scalar)) return ranges::unknown;
  switch (operation) {
    case Operation::keep:
      return all[0];
    case Operation::invert:
      return ranges::opposite(all[0]);
    case Operation::equal:
      return ranges::equals(all[0], all[1]);
    case Operation::differ:
      return ranges::opposite(ranges::equals(all[0], all[1]));
    case Operation::in:
      return ranges::is_in(all);
    case Operation::not_in:
      return ranges::opposite(ranges::is_in(all));
    default:
      return std::ranges::all_of(all, &Range::is_number) ? ranges::arithmetic(operation, all) : ranges::unknown;
  }
}

Range choose(const Range& condition, const Range& yes, const Range& no) {
  if (!condition.is_scalar()) return ranges::unknown;
  if (ranges::is_true(condition)) return yes;
  return is_false(condition) ? no : join(yes, no);
}

Range range_of_both(const Range& first, const Range& second) {
  return choose(first, second, first.is_number() ? ranges::truth(false) : first);
}

Range range_of_either(const Range& first, const Range& second) {
  Range yes = first;  // if it is true
  if (first.is_integer && first.low == 0) yes.low = 1;
  return choose(first, yes, second);
}

bool is_false(const Range& range) { return range.is_number() && range.low == 0 && range.high == 0; }

}  // namespace deplo::engine::foreign
