// Simplifier rules for comparisons and conjunction.
#include <algorithm>
#include <numeric>

#include "ir/simplify/simplify_impl.h"

namespace deplo::ir {

// Returns a divisor of the comparison d < 0 or d == 0. It divides all coefficients or, for `<`, only some of them if
// the other terms are too small to matter.
std::int64_t Simplifier::comparison_divisor(const Affine& d, ExprOp op) const {
  std::int64_t best = 0;
  for (const Term& t : d.terms) best = std::gcd(best, t.coefficient);
  if (op == ExprOp::eq) return best;
  for (const Term& candidate : d.terms) {
    const std::int64_t g = std::abs(candidate.coefficient);
    if (g <= best || d.constant % g != 0) continue;
    Interval rest{0, 0};
    for (const Term& t : d.terms)
      if (t.coefficient % g != 0) rest = rest + range_of(t.atom, ranges_) * t.coefficient;
    if (within(rest, 0, g - 1)) best = g;
  }
  return best;
}

// x < y -> 1 if x < y always, 0 if never; x == y likewise
// x * g < c -> x < ceil(c / g)
// x * g + s < g * c -> x < c if 0 <= s < g
// x * g == c -> 0 if g does not divide c, else x == c / g
// p + x - y + c < 0 -> p + x < y - c: added terms to the left, subtracted terms and the constant to the right
Expr Simplifier::compare(const Expr& e) {
  Affine d = affine(e.lhs());
  d.add(affine(e.rhs()), -1);
  const auto extreme = [](const Term& t) { return t.coefficient == INT64_MIN; };
  if (d.overflow || d.constant == INT64_MIN || std::any_of(d.terms.begin(), d.terms.end(), extreme)) return operands(e);
  const Interval range = range_of(d, ranges_);
  const bool less = e.op() == ExprOp::lt;
  if (less ? range.high < 0 : range == Interval{0, 0}) return 1;
  if (less ? range.low >= 0 : range.low > 0 || range.high < 0) return 0;

  const std::int64_t g = comparison_divisor(d, e.op());
  if (!less && d.constant % g != 0) return 0;
  Affine left(arena_), right(arena_);
  for (const Term& t : d.terms)
    if (t.coefficient % g == 0) (t.coefficient > 0 ? left : right).add_term(t.atom, std::abs(t.coefficient / g));
  const std::int64_t bound = ceil_div(-d.constant, g);
  if (left.is_constant())
    left.add_constant(-bound);
  else
    right.add_constant(bound);
  return rebuild(e, to_expr(left, e.lhs()), to_expr(right, e.rhs()));
}

// 0 && x -> 0
// c && x -> x if c is not 0 and x is a truth value
// x && x -> x if x is a truth value
Expr Simplifier::conjunction(const Expr& e) {
  Expr both = operands(e);
  const Interval l = range_of(both.lhs(), ranges_), r = range_of(both.rhs(), ranges_);
  const Interval value = range_of(both, ranges_);
  if (value.low == value.high) return value.low;
  const auto surely = [](const Interval& i) { return i.low > 0 || i.high < 0; };
  if (within(r, 0, 1) && (surely(l) || both.lhs() == both.rhs())) return both.rhs();
  if (within(l, 0, 1) && surely(r)) return both.lhs();
  return both;
}

}  // namespace deplo::ir
