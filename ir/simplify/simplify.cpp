// The simplifier. This file has the rules for sums (to affine normal form), min, max and bxor; the other rules are in
// divide.cpp and compare.cpp. Each rule is one line, before -> after. The letters c, d, g, k are constants, and x, y,
// p, q are expressions.
#include <array>
#include <cstddef>

#include "ir/simplify/simplify_impl.h"

namespace deplo::ir {

Expr Simplifier::rewrite(const Expr& e) {
  if (e.kind() == Expr::Kind::constant) return e;
  if (e.kind() == Expr::Kind::variable) {
    const Interval range = range_of(e, ranges_);  // x -> c if x is in [c, c]
    return range.low == range.high ? Expr(range.low) : e;
  }
  switch (e.op()) {
    case ExprOp::add:
    case ExprOp::sub:
    case ExprOp::mul:
      return sum(e);
    case ExprOp::div:
      return divide(e);
    case ExprOp::mod:
      return remainder(e);
    case ExprOp::min:
    case ExprOp::max:
      return extremum(e);
    case ExprOp::lt:
    case ExprOp::eq:
      return compare(e);
    case ExprOp::land:
      return conjunction(e);
    case ExprOp::bxor:
      return exclusive(e);
  }
  return e;
}

Affine Simplifier::affine(const Expr& e) {
  Affine a(arena_);
  gather(e, 1, a);
  recombine(a);
  return a;
}

// (x + c) * d -> x * d + c * d, x + y + x -> x * 2 + y, and so on: Affine merges what gather finds.
void Simplifier::gather(const Expr& e, std::int64_t factor, Affine& out) {
  if (e.kind() == Expr::Kind::constant) return out.add_constant(e.value(), factor);
  if (e.kind() == Expr::Kind::variable) {
    const Interval range = range_of(e, ranges_);
    return range.low == range.high ? out.add_constant(range.low, factor) : out.add_term(e, factor);
  }
  const ExprOp op = e.op();
  if (op == ExprOp::add || op == ExprOp::sub) {
    std::int64_t right = factor;
    if (op == ExprOp::sub && __builtin_sub_overflow(0, factor, &right)) out.overflow = true;
    gather(e.lhs(), factor, out);
    return gather(e.rhs(), right, out);
  }
  if (op != ExprOp::mul) return out.add(rewrite(e), factor);
  if (e.rhs().kind() == Expr::Kind::constant) {
    if (__builtin_mul_overflow(factor, e.rhs().value(), &factor)) out.overflow = true;
    return gather(e.lhs(), factor, out);
  }
  out.add(operands(e), factor);
}

// x / c * (c * k) + x % c * k -> x * k
// (x / c + j) % m * (c * k) + x % c * k -> (x + c * j) % (c * m) * k
void Simplifier::recombine(Affine& a) {
  const auto is = [](const Expr& e, ExprOp op) { return e.kind() == Expr::Kind::binary && e.op() == op; };
  for (std::size_t i = 0; i < a.terms.size(); ++i) {
    if (!is(a.terms[i].atom, ExprOp::mod) || a.terms[i].atom.rhs().kind() != Expr::Kind::constant) continue;
    const Term mod = a.terms[i];
    std::int64_t scaled = 0;
    if (__builtin_mul_overflow(mod.coefficient, mod.atom.rhs().value(), &scaled)) continue;
    for (const Term& high : a.terms) {
      if (high.coefficient != scaled) continue;
      const std::optional<Expr> x =
          is(high.atom, ExprOp::div) ? whole(high.atom, mod.atom) : wrapped(high.atom, mod.atom);
      if (!x) continue;
      a.add_term(Expr(high.atom), -scaled);
      a.add_term(mod.atom, -mod.coefficient);
      a.add(*x, mod.coefficient);
      return recombine(a);
    }
  }
}

// Returns x for x / c and x % c. Returns x / d for x / (d * c) and x / d % c, because x / d / c was simplified to x /
// (d * c).
std::optional<Expr> Simplifier::whole(const Expr& quotient, const Expr& remainder) const {
  const Expr& x = remainder.lhs();
  if (quotient.lhs() == x && quotient.rhs() == remainder.rhs()) return x;
  const bool divided = x.kind() == Expr::Kind::binary && x.op() == ExprOp::div && quotient.lhs() == x.lhs();
  std::int64_t product = 0;
  if (!divided || x.rhs().kind() != Expr::Kind::constant || remainder.rhs().kind() != Expr::Kind::constant ||
      __builtin_mul_overflow(x.rhs().value(), remainder.rhs().value(), &product) ||
      !quotient.rhs().is_constant(product))
    return std::nullopt;
  return x;
}

// Returns (x + c * j) % (c * m) for (x / c + j) % m and x % c.
std::optional<Expr> Simplifier::wrapped(const Expr& high, const Expr& remainder) {
  if (high.kind() != Expr::Kind::binary || high.op() != ExprOp::mod || high.rhs().kind() != Expr::Kind::constant)
    return std::nullopt;
  Affine y(arena_);
  y.add(high.lhs(), 1);
  if (y.overflow || y.terms.size() != 1 || y.terms.front().coefficient != 1) return std::nullopt;
  const Expr& quotient = y.terms.front().atom;
  if (quotient.kind() != Expr::Kind::binary || quotient.op() != ExprOp::div) return std::nullopt;
  const std::optional<Expr> x = whole(quotient, remainder);
  std::int64_t shift = 0, period = 0;
  const std::int64_t c = remainder.rhs().value();
  if (!x || __builtin_mul_overflow(c, y.constant, &shift) || __builtin_mul_overflow(c, high.rhs().value(), &period))
    return std::nullopt;
  return rewrite((*x + shift) % period);
}

Expr Simplifier::sum(const Expr& e) {
  const Affine a = affine(e);
  return a.overflow ? operands(e) : to_expr(a, e);
}

namespace {

// Moves the terms that occur on both sides to `common`.
void extract_common(Affine& l, Affine& r, Affine& common) {
  for (std::size_t i = 0; i < l.terms.size();) {
    std::size_t j = 0;
    while (j < r.terms.size() &&
           !(r.terms[j].coefficient == l.terms[i].coefficient && r.terms[j].atom == l.terms[i].atom))
      ++j;
    if (j == r.terms.size()) {
      ++i;
      continue;
    }
    common.terms.push_back(l.terms[i]);
    l.terms.erase(l.terms.begin() + static_cast<std::ptrdiff_t>(i));
    r.terms.erase(r.terms.begin() + static_cast<std::ptrdiff_t>(j));
  }
}

}  // namespace

// min(x, y) -> x if x <= y always, and the three mirror images
// min(x + p, y + p) -> p + min(x, y)
// min(x + c, y + d) -> min(x, y + (d - c)) + c
// min(c, x) -> min(x, c)
Expr Simplifier::extremum(const Expr& e) {
  Affine l = affine(e.lhs()), r = affine(e.rhs());
  Affine difference(arena_);
  difference.add(l, 1);
  difference.add(r, -1);
  if (difference.overflow) return operands(e);
  const Interval range = range_of(difference, ranges_);
  const bool smaller = e.op() == ExprOp::min;
  if (smaller ? range.high <= 0 : range.low >= 0) return to_expr(l, e.lhs());
  if (smaller ? range.low >= 0 : range.high <= 0) return to_expr(r, e.rhs());

  Affine common(arena_);
  extract_common(l, r, common);
  if (l.is_constant()) std::swap(l.terms, r.terms), std::swap(l.constant, r.constant);
  if (__builtin_sub_overflow(r.constant, l.constant, &r.constant)) return operands(e);
  common.constant = l.constant;
  l.constant = 0;
  const Expr lhs = to_expr(l, e.lhs()), rhs = to_expr(r, e.rhs());
  std::optional<Expr> inner = absorb(lhs, e.op(), rhs);
  if (!inner) inner = absorb(rhs, e.op(), lhs);
  if (!inner) inner = rebuild(e, lhs, rhs);
  if (common.is_constant() && common.constant == 0) return *inner;
  common.add(*inner, 1);
  return common.overflow ? operands(e) : to_expr(common, e);
}

// min(min(p, q), x) -> min(p, x) if x <= q always
// min(min(p, q), x) -> min(p, q) if q <= x always
std::optional<Expr> Simplifier::absorb(const Expr& inner, ExprOp op, const Expr& other) {
  if (inner.kind() != Expr::Kind::binary || inner.op() != op) return std::nullopt;
  for (const bool left : {false, true}) {
    Affine difference(arena_);
    difference.add(left ? inner.lhs() : inner.rhs(), 1);
    difference.add(other, -1);
    if (difference.overflow) continue;
    const Interval range = range_of(difference, ranges_);
    if (op == ExprOp::min ? range.high <= 0 : range.low >= 0) return inner;
    if (op == ExprOp::min ? range.low >= 0 : range.high <= 0)
      return rewrite(Expr(op, left ? inner.rhs() : inner.lhs(), other));
  }
  return std::nullopt;
}

// x ^ 0 -> x
// x ^ x -> 0
// c ^ d -> their bits
Expr Simplifier::exclusive(const Expr& e) {
  Expr bits = operands(e);
  const Expr &l = bits.lhs(), &r = bits.rhs();
  if (l == r) return 0;
  if (r.is_constant(0)) return l;
  if (l.is_constant(0)) return r;
  const bool constant = l.kind() == Expr::Kind::constant && r.kind() == Expr::Kind::constant;
  return constant ? Expr(l.value() ^ r.value()) : bits;
}

Expr simplify(const Expr& e, const Ranges& ranges) {
  // A rule may make another rule applicable above it or in a neighbouring operand. A few passes reach the fixed point.
  // The last pass changes nothing, and allocates nothing outside the arena.
  constexpr int max_passes = 16;
  Expr current = e;
  for (int pass = 0; pass < max_passes && current.kind() != Expr::Kind::constant; ++pass) {
    std::array<std::byte, 4096> buffer;
    std::pmr::monotonic_buffer_resource arena(buffer.data(), buffer.size());
    const Expr next = Simplifier(ranges, &arena).rewrite(current);
    if (next.same(current)) break;
    current = next;
  }
  return current;
}

}  // namespace deplo::ir
