// Simplifier rules for floor division and remainder by positive constants.
#include <numeric>

#include "ir/simplify/simplify_impl.h"

namespace deplo::ir {
namespace {

bool is_binary(const Expr& e, ExprOp op) { return e.kind() == Expr::Kind::binary && e.op() == op; }

std::optional<std::int64_t> positive_constant(const Expr& e) {
  if (e.kind() != Expr::Kind::constant || e.value() <= 0) return std::nullopt;
  return e.value();
}

bool one_block(const Interval& i, std::int64_t divisor) {
  return finite(i) && floor_div(i.low, divisor) == floor_div(i.high, divisor);
}

std::int64_t gcd_of(std::int64_t coefficient, std::int64_t divisor) { return std::gcd(coefficient % divisor, divisor); }

}  // namespace

std::optional<Affine> Simplifier::dividend(const Expr& e, const Expr& divisor) {
  if (!positive_constant(divisor)) return std::nullopt;
  Affine x = affine(e.lhs());
  if (x.overflow) return std::nullopt;
  return x;
}

// Returns the largest known g that divides the divisor and for which x = g * a + s with 0 <= s < g; at least 1.
std::int64_t Simplifier::small_rest(const Affine& x, std::int64_t divisor) const {
  std::int64_t best = 1;
  for (const Term& candidate : x.terms) {
    const std::int64_t g = gcd_of(candidate.coefficient, divisor);
    if (g <= best) continue;
    const std::int64_t constant = floor_mod(x.constant, g);
    Interval rest{constant, constant};
    for (const Term& t : x.terms)
      if (t.coefficient % g != 0) rest = rest + range_of(t.atom, ranges_) * t.coefficient;
    if (within(rest, 0, g - 1)) best = g;
  }
  return best;
}

// min(x * (c * d), c * k) / c -> min(x * d, k), as part of a sum
bool Simplifier::add_exact_quotient(const Term& t, std::int64_t divisor, Affine& whole) {
  if (!is_binary(t.atom, ExprOp::min) && !is_binary(t.atom, ExprOp::max)) return false;
  const std::int64_t shared = gcd_of(t.coefficient, divisor), d = divisor / shared;
  if (known_divisor(t.atom) % d != 0) return false;
  whole.add(rewrite(Expr(t.atom.op(), t.atom.lhs() / d, t.atom.rhs() / d)), t.coefficient / shared);
  return true;
}

// (x * (c * k) + y) / c -> x * k + y / c
// x / c -> k if c * k <= x < c * (k + 1)
Expr Simplifier::divide(const Expr& e) {
  const Expr divisor = rewrite(e.rhs());
  const std::optional<Affine> x = dividend(e, divisor);
  if (!x) return rebuild(e, rewrite(e.lhs()), divisor);
  const std::int64_t c = divisor.value();
  Affine whole(arena_), rest(arena_);
  for (const Term& t : x->terms) {
    if (t.coefficient % c == 0)
      whole.add_term(t.atom, t.coefficient / c);
    else if (!add_exact_quotient(t, c, whole))
      rest.add_term(t.atom, t.coefficient);
  }
  whole.add_constant(floor_div(x->constant, c));
  rest.add_constant(floor_mod(x->constant, c));
  const Interval range = range_of(rest, ranges_);
  if (one_block(range, c)) {
    whole.add_constant(floor_div(range.low, c));
  } else {
    const bool alone = whole.is_constant() && whole.constant == 0;
    Expr inner = narrow_quotient(e, rest, c);
    if (alone) return inner;
    whole.add(inner, 1);
  }
  return whole.overflow ? rebuild(e, rewrite(e.lhs()), divisor) : to_expr(whole, e);
}

// (x * g + s) / (g * c) -> x / c if 0 <= s < g
// (x / d + k) / c -> (x + d * k) / (d * c)
// x % (d * c) / c -> x / c % d
Expr Simplifier::narrow_quotient(const Expr& e, const Affine& rest, std::int64_t divisor) {
  if (const std::int64_t g = small_rest(rest, divisor); g > 1) {
    Affine a(arena_);
    for (const Term& t : rest.terms)
      if (t.coefficient % g == 0) a.add_term(t.atom, t.coefficient / g);
    a.add_constant(floor_div(rest.constant, g));
    return rewrite(to_expr(a, e.lhs()) / (divisor / g));
  }
  if (rest.terms.size() == 1 && rest.terms.front().coefficient == 1) {
    const Expr& atom = rest.terms.front().atom;
    const bool nested = is_binary(atom, ExprOp::div), mod = is_binary(atom, ExprOp::mod);
    const std::optional<std::int64_t> d = nested || mod ? positive_constant(atom.rhs()) : std::nullopt;
    std::int64_t product = 0, constant = 0;
    if (nested && d && !__builtin_mul_overflow(*d, divisor, &product) &&
        !__builtin_mul_overflow(*d, rest.constant, &constant))
      return rewrite((atom.lhs() + constant) / product);
    if (mod && d && *d % divisor == 0 && rest.constant == 0) return rewrite((atom.lhs() / divisor) % (*d / divisor));
  }
  const Expr divisor_expr = e.rhs().is_constant(divisor) ? e.rhs() : Expr(divisor);
  return rebuild(e, to_expr(rest, e.lhs()), divisor_expr);
}

// (x * (c * k) + y) % c -> y % c
// (x % (c * k) + y) % c -> (x + y) % c
Affine Simplifier::reduced(const Affine& x, std::int64_t divisor) const {
  Affine y(arena_);
  for (const Term& t : x.terms) {
    const std::int64_t coefficient = t.coefficient % divisor;
    std::int64_t scaled = 0;
    if (coefficient == 0 || known_divisor(t.atom) % (divisor / gcd_of(coefficient, divisor)) == 0) continue;
    const std::optional<std::int64_t> d =
        is_binary(t.atom, ExprOp::mod) ? positive_constant(t.atom.rhs()) : std::nullopt;
    if (d && !__builtin_mul_overflow(*d, coefficient, &scaled) && scaled % divisor == 0)
      y.add(t.atom.lhs(), coefficient);
    else
      y.add_term(t.atom, coefficient);
  }
  y.add_constant(floor_mod(x.constant, divisor));
  return y;
}

// x % c -> x - c * k if c * k <= x < c * (k + 1)
// (x * g + s) % (g * c) -> x % c * g + s if 0 <= s < g
Expr Simplifier::remainder(const Expr& e) {
  const Expr divisor = rewrite(e.rhs());
  std::optional<Affine> x = dividend(e, divisor);
  if (!x) return rebuild(e, rewrite(e.lhs()), divisor);
  const std::int64_t c = divisor.value();
  Affine y = reduced(*x, c);
  for (Affine* a : {&*x, &y}) {
    const Interval range = range_of(*a, ranges_);
    if (a->overflow || !one_block(range, c)) continue;
    a->add_constant(floor_div(range.low, c), -c);
    if (!a->overflow) return to_expr(*a, e);
  }
  if (y.overflow) return rebuild(e, to_expr(*x, e.lhs()), divisor);
  const std::int64_t g = small_rest(y, c);
  if (g == 1) return rebuild(e, to_expr(y, e.lhs()), divisor);
  Affine a(arena_), sum(arena_);
  for (const Term& t : y.terms)
    t.coefficient % g == 0 ? a.add_term(t.atom, t.coefficient / g) : sum.add_term(t.atom, t.coefficient);
  a.add_constant(floor_div(y.constant, g));
  sum.add_constant(floor_mod(y.constant, g));
  Affine result(arena_);
  result.add(rewrite(to_expr(a, e.lhs()) % (c / g)), g);
  result.add(sum, 1);
  return result.overflow ? rebuild(e, to_expr(y, e.lhs()), divisor) : to_expr(result, e);
}

}  // namespace deplo::ir
