#include "ir/simplify/strided.h"

#include <algorithm>
#include <numeric>

#include "ir/simplify/simplify_impl.h"

namespace deplo::ir {
namespace {

std::optional<Strided> make(std::int64_t low, std::int64_t high, std::int64_t step) {
  if (low < -max_index || high > max_index) return {};
  return Strided{low, high, low == high ? 0 : step};
}

// Operands are within ±2^60, so sums fit into 64 bits, but products may not.
std::optional<Strided> multiply(const Strided& l, const Strided& r) {
  if (l.single() && !r.single()) return multiply(r, l);
  std::int64_t a = 0, b = 0, c = 0, d = 0;
  if (__builtin_mul_overflow(l.low, r.low, &a) || __builtin_mul_overflow(l.high, r.low, &b)) return {};
  if (r.single()) {
    const std::optional<Strided> product = make(std::min(a, b), std::max(a, b), 1);
    if (!product || product->single()) return product;
    return Strided{product->low, product->high, std::abs(r.low) * l.step};  // at most high - low, so it fits
  }
  if (__builtin_mul_overflow(l.low, r.high, &c) || __builtin_mul_overflow(l.high, r.high, &d)) return {};
  return make(std::min({a, b, c, d}), std::max({a, b, c, d}), 1);
}

Strided divide(const Strided& s, std::int64_t by) {
  const std::int64_t low = floor_div(s.low, by), high = floor_div(s.high, by);
  return {low, high, low == high ? 0 : s.step % by == 0 ? s.step / by : 1};
}

Strided modulo(const Strided& s, std::int64_t by) {
  const std::int64_t block = floor_div(s.low, by);
  if (block == floor_div(s.high, by)) return {s.low - block * by, s.high - block * by, s.step};
  const std::int64_t g = std::gcd(s.step, by), r = floor_mod(s.low, g);
  return {r, by - g + r, g == by ? 0 : g};
}

// Low bits that are 0 in all values of both operands are 0 in the result.
std::optional<Strided> exclusive(const Strided& l, const Strided& r) {
  if (l.single() && r.single()) return make(l.low ^ r.low, l.low ^ r.low, 0);
  const std::int64_t both = std::gcd(std::gcd(l.step, l.low), std::gcd(r.step, r.low)), step = both & -both;
  return make(0, all_ones(l.high | r.high) / step * step, step);
}

Strided strided_truth(bool always, bool never) { return {always ? 1 : 0, never ? 0 : 1, always || never ? 0 : 1}; }

}  // namespace

std::optional<Strided> combine(ExprOp op, const Strided& l, const Strided& r) {
  const bool divides = op == ExprOp::div || op == ExprOp::mod;
  if (divides && (!r.single() || r.low <= 0)) return {};
  // All values of both operands are congruent modulo either().
  const auto either = [&] { return std::gcd(std::gcd(l.step, r.step), l.low - r.low); };
  switch (op) {
    case ExprOp::add:
      return make(l.low + r.low, l.high + r.high, std::gcd(l.step, r.step));
    case ExprOp::sub:
      return make(l.low - r.high, l.high - r.low, std::gcd(l.step, r.step));
    case ExprOp::mul:
      return multiply(l, r);
    case ExprOp::div:
      return divide(l, r.low);
    case ExprOp::mod:
      return modulo(l, r.low);
    case ExprOp::min:
      return make(std::min(l.low, r.low), std::min(l.high, r.high), either());
    case ExprOp::max:
      return make(std::max(l.low, r.low), std::max(l.high, r.high), either());
    case ExprOp::lt:
      return strided_truth(l.high < r.low, l.low >= r.high);
    case ExprOp::eq:
      return strided_truth(l.single() && r.single() && l.low == r.low, l.high < r.low || r.high < l.low);
    case ExprOp::land:
      return strided_truth(l.never_zero() && r.never_zero(), l.always_zero() || r.always_zero());
    case ExprOp::bxor:
      if (l.low < 0 || r.low < 0) return {};
      return exclusive(l, r);
  }
  return {};
}

std::optional<Strided> clamp(const Strided& s, std::int64_t low, std::int64_t high) {
  if (s.high < low || s.low > high) return {};
  if (s.single()) return s;
  const std::int64_t first = s.low >= low ? s.low : s.low + ceil_div(low - s.low, s.step) * s.step;
  const std::int64_t last = s.high <= high ? s.high : s.low + floor_div(high - s.low, s.step) * s.step;
  if (first > last) return {};
  return Strided{first, last, first == last ? 0 : s.step};
}

std::optional<Strided> loop_values(const Strided& start, std::int64_t step, std::int64_t extent) {
  if (start.low >= extent) return {};
  const std::int64_t g = std::gcd(start.step, step);
  const std::int64_t last = start.low + floor_div(extent - 1 - start.low, g) * g;
  return Strided{start.low, last, last == start.low ? 0 : g};
}

}  // namespace deplo::ir
