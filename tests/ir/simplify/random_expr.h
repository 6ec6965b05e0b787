// Random expressions, points and a shrinker for property tests of the expression functions.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "ir/expr.h"

namespace deplo::ir::testing {

using Values = std::vector<std::pair<std::string, std::int64_t>>;

inline std::int64_t between(Rng& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low) + 1));
}

/// Returns a constant that is typical of indices: mostly a tile size, or else a number from -20 to 20.
inline std::int64_t random_constant(Rng& rng) {
  static constexpr std::int64_t usual[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 448};
  if (rng.below(3) == 0) return between(rng, -20, 20);
  return usual[rng.below(std::size(usual))];
}

inline Expr random_expr(Rng& rng, int depth);

/// Returns an expression that is never negative, as the operands of `^` must be.
inline Expr random_natural(Rng& rng, int depth) {
  if (rng.below(3) == 0) return Expr(std::abs(random_constant(rng)));
  return random_expr(rng, depth) % Expr(1 + std::abs(random_constant(rng)));
}
inline bool natural(const Expr& e) {
  if (e.kind() == Expr::Kind::constant) return e.value() >= 0;
  return e.kind() == Expr::Kind::binary && (e.op() == ExprOp::mod || e.op() == ExprOp::bxor);
}

inline Expr random_expr(Rng& rng, int depth) {
  if (depth == 0 || rng.below(6) == 0)
    return rng.below(3) == 0 ? Expr(random_constant(rng)) : var("a" + std::to_string(rng.below(4)));
  const auto op = static_cast<ExprOp>(rng.below(11));
  if (op == ExprOp::bxor) {
    Expr bits = random_natural(rng, depth - 1);
    return {op, std::move(bits), random_natural(rng, depth - 1)};
  }
  Expr lhs = random_expr(rng, depth - 1);
  if (op == ExprOp::div || op == ExprOp::mod) return {op, std::move(lhs), Expr(1 + std::abs(random_constant(rng)))};
  if (op == ExprOp::mul && rng.below(4) != 0) return {op, std::move(lhs), Expr(random_constant(rng))};
  return {op, std::move(lhs), random_expr(rng, depth - 1)};
}

/// Returns ranges of a0 to a3: mostly those of loops, [0, n).
inline Ranges random_ranges(Rng& rng) {
  Ranges ranges;
  for (int i = 0; i < 4; ++i) {
    const std::int64_t low = rng.below(3) == 0 ? between(rng, -9, 9) : 0;
    ranges.emplace_back("a" + std::to_string(i), Interval{low, low + between(rng, 0, rng.below(2) == 0 ? 3 : 40)});
  }
  return ranges;
}

inline Values random_point(Rng& rng, const Ranges& ranges) {
  Values values;
  for (const auto& [name, range] : ranges) values.emplace_back(name, between(rng, range.low, range.high));
  return values;
}

/// Returns all expressions that are smaller in one place: a node is replaced by an operand or by a smaller constant.
inline std::vector<Expr> smaller(const Expr& e) {
  if (e.kind() == Expr::Kind::variable) return {Expr(0), Expr(1)};
  if (e.kind() == Expr::Kind::constant)
    return e.value() > 1 ? std::vector<Expr>{Expr(e.value() / 2), Expr(e.value() - 1)} : std::vector<Expr>{};
  std::vector<Expr> result{e.lhs(), e.rhs()};
  const bool bits = e.op() == ExprOp::bxor;
  for (const Expr& l : smaller(e.lhs()))
    if (!bits || natural(l)) result.emplace_back(e.op(), l, e.rhs());
  for (const Expr& r : smaller(e.rhs())) {
    const bool divides = e.op() == ExprOp::div || e.op() == ExprOp::mod;
    const bool fits = divides ? r.kind() == Expr::Kind::constant && r.value() > 0 : !bits || natural(r);
    if (fits) result.emplace_back(e.op(), e.lhs(), r);
  }
  return result;
}

/// Returns the smallest expression that still fails and can be reached by such steps.
inline Expr shrink(Expr e, const std::function<bool(const Expr&)>& fails) {
  for (bool progress = true; progress;) {
    progress = false;
    for (const Expr& candidate : smaller(e)) {
      if (!fails(candidate)) continue;
      e = candidate;
      progress = true;
      break;
    }
  }
  return e;
}

}  // namespace deplo::ir::testing
