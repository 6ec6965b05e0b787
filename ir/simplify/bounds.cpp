// Interval arithmetic over expressions, with infinite ends. Sound for the mathematical value: an end that does not fit
// into 64 bits becomes infinite.
#include <algorithm>

#include "core/error.h"
#include "ir/simplify/simplify_impl.h"

namespace deplo::ir {

std::int64_t all_ones(std::int64_t v) {
  for (int shift = 1; shift < 64; shift *= 2) v |= v >> shift;
  return v;
}

std::int64_t fold(ExprOp op, std::int64_t l, std::int64_t r) {
  const auto ul = static_cast<std::uint64_t>(l), ur = static_cast<std::uint64_t>(r);
  switch (op) {
    case ExprOp::add:
      return static_cast<std::int64_t>(ul + ur);
    case ExprOp::sub:
      return static_cast<std::int64_t>(ul - ur);
    case ExprOp::mul:
      return static_cast<std::int64_t>(ul * ur);
    case ExprOp::div:
      CHECK(r > 0);
      return floor_div(l, r);
    case ExprOp::mod:
      CHECK(r > 0);
      return floor_mod(l, r);
    case ExprOp::min:
      return std::min(l, r);
    case ExprOp::max:
      return std::max(l, r);
    case ExprOp::lt:
      return l < r ? 1 : 0;
    case ExprOp::eq:
      return l == r ? 1 : 0;
    case ExprOp::land:
      return l != 0 && r != 0 ? 1 : 0;
    case ExprOp::bxor:
      return l ^ r;
  }
  return 0;
}

Expr rebuild(const Expr& e, Expr lhs, Expr rhs) {
  if (lhs.same(e.lhs()) && rhs.same(e.rhs())) return e;
  return {e.op(), std::move(lhs), std::move(rhs)};
}

Interval operator+(const Interval& a, const Interval& b) {
  Interval sum = everything;
  if (a.low != minus_infinity && b.low != minus_infinity && __builtin_add_overflow(a.low, b.low, &sum.low))
    return everything;
  if (a.high != plus_infinity && b.high != plus_infinity && __builtin_add_overflow(a.high, b.high, &sum.high))
    return everything;
  return sum;
}

Interval operator*(const Interval& a, std::int64_t factor) {
  if (factor == 0) return {0, 0};
  Interval product = everything;
  if (a.low != minus_infinity && __builtin_mul_overflow(a.low, factor, factor > 0 ? &product.low : &product.high))
    return everything;
  if (a.high != plus_infinity && __builtin_mul_overflow(a.high, factor, factor > 0 ? &product.high : &product.low))
    return everything;
  return product;
}

namespace {

Interval product(const Interval& a, const Interval& b) {
  if (b.low == b.high) return a * b.low;
  if (a.low == a.high) return b * a.low;
  if (!finite(a) || !finite(b)) return everything;
  const Interval low = a * b.low, high = a * b.high;
  if (!finite(low) || !finite(high)) return everything;
  return {std::min(low.low, high.low), std::max(low.high, high.high)};
}

Interval quotient(const Interval& a, std::int64_t divisor) {
  return {a.low == minus_infinity ? a.low : floor_div(a.low, divisor),
          a.high == plus_infinity ? a.high : floor_div(a.high, divisor)};
}

Interval remainder(const Interval& a, std::int64_t divisor) {
  if (finite(a) && floor_div(a.low, divisor) == floor_div(a.high, divisor))
    return {floor_mod(a.low, divisor), floor_mod(a.high, divisor)};
  return {0, divisor - 1};
}

Interval truth(bool surely, bool never) { return {surely ? 1 : 0, never ? 0 : 1}; }

Interval conjunction(const Interval& a, const Interval& b) {
  const auto never = [](const Interval& i) { return i.low == 0 && i.high == 0; };
  const auto surely = [](const Interval& i) { return i.low > 0 || i.high < 0; };
  return truth(surely(a) && surely(b), never(a) || never(b));
}

}  // namespace

Interval range_of(const Expr& e, const Ranges& ranges) {
  if (e.kind() == Expr::Kind::constant) return {e.value(), e.value()};
  if (e.kind() == Expr::Kind::variable) {
    for (auto it = ranges.rbegin(); it != ranges.rend(); ++it)
      if (same_name(it->first, e.name())) return it->second;
    return everything;
  }
  const Interval l = range_of(e.lhs(), ranges), r = range_of(e.rhs(), ranges);
  switch (e.op()) {
    case ExprOp::add:
      return l + r;
    case ExprOp::sub:
      return l + r * -1;
    case ExprOp::mul:
      return product(l, r);
    case ExprOp::div:
      return r.low == r.high && r.low > 0 ? quotient(l, r.low) : everything;
    case ExprOp::mod:
      return r.low == r.high && r.low > 0 ? remainder(l, r.low) : everything;
    case ExprOp::min:
      return {std::min(l.low, r.low), std::min(l.high, r.high)};
    case ExprOp::max:
      return {std::max(l.low, r.low), std::max(l.high, r.high)};
    case ExprOp::lt:
      return truth(l.high < r.low, l.low >= r.high);
    case ExprOp::eq:
      return truth(l == r && l.low == l.high, l.high < r.low || l.low > r.high);
    case ExprOp::land:
      return conjunction(l, r);
    case ExprOp::bxor:
      if (l.low < 0 || r.low < 0 || !finite(l) || !finite(r)) return everything;
      return l.low == l.high && r.low == r.high ? Interval{l.low ^ r.low, l.low ^ r.low}
                                                : Interval{0, all_ones(l.high | r.high)};
  }
  return everything;
}

Interval range_of(const Affine& a, const Ranges& ranges) {
  Interval sum{a.constant, a.constant};
  for (const Term& t : a.terms) sum = sum + range_of(t.atom, ranges) * t.coefficient;
  return sum;
}

std::optional<Interval> bounds(const Expr& e, const Ranges& ranges) {
  const Interval range = range_of(e, ranges);
  return finite(range) ? std::optional(range) : std::nullopt;
}

Ranges narrowed(Ranges ranges, const Expr& condition) {
  if (condition.kind() != Expr::Kind::binary) return ranges;
  if (condition.op() == ExprOp::land) return narrowed(narrowed(std::move(ranges), condition.lhs()), condition.rhs());
  if (condition.op() != ExprOp::lt) return ranges;
  const Expr above = simplify(condition.rhs() - condition.lhs());  // at least 1
  for (auto& [name, range] : ranges) {
    const auto step = coefficient(above, name);
    if (step != 1 && step != -1) continue;
    const auto others = bounds(simplify(substitute(above, {{name, Expr(0)}})), ranges);
    if (!others) continue;
    if (step == -1) range.high = std::max(range.low, std::min(range.high, others->high - 1));
    if (step == 1) range.low = std::min(range.high, std::max(range.low, 1 - others->high));
  }
  return ranges;
}

}  // namespace deplo::ir
