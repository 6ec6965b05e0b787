// Integer helpers, half-infinite bounds and the affine form that the simplifier works on. Private to ir/.
#pragma once
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <optional>
#include <vector>

#include "ir/expr.h"

namespace deplo::ir {

// Floor and ceiling division, and the remainder of floor division, by a positive divisor.
inline std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
inline std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return a % b + (a % b < 0 ? b : 0); }
inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

/// Are two names equal? Axis names mostly differ in the last character, so comparing it first saves a memcmp call.
inline bool same_name(const std::string& a, const std::string& b) {
  return a.size() == b.size() && (a.empty() || (a.back() == b.back() && a == b));
}

/// The smallest 2^n - 1 that is at least v >= 0.
std::int64_t all_ones(std::int64_t v);
/// Computes `lhs op rhs`; add, sub and mul wrap.
std::int64_t fold(ExprOp op, std::int64_t lhs, std::int64_t rhs);
/// `e` with other operands. Returns the same handle if both operands are the same handles.
Expr rebuild(const Expr& e, Expr lhs, Expr rhs);

// Intervals whose ends may be infinite.
inline constexpr std::int64_t minus_infinity = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t plus_infinity = std::numeric_limits<std::int64_t>::max();
inline constexpr Interval everything{minus_infinity, plus_infinity};
inline bool finite(const Interval& i) { return i.low != minus_infinity && i.high != plus_infinity; }
inline bool within(const Interval& i, std::int64_t low, std::int64_t high) { return i.low >= low && i.high <= high; }

Interval operator+(const Interval& a, const Interval& b);
Interval operator*(const Interval& a, std::int64_t factor);
/// Like bounds(), but returns a half-infinite interval if only one end is known.
Interval range_of(const Expr& e, const Ranges& ranges);

/// coefficient * atom. An atom is any expression that is not a constant, a sum, a difference or a constant multiple.
struct Term {
  Expr atom;
  std::int64_t coefficient;
};

/// The sum of the terms plus the constant. The atoms are distinct, in order of first appearance, with nonzero
/// coefficients.
struct Affine {
  explicit Affine(std::pmr::memory_resource* arena) : terms(arena) {}
  std::pmr::vector<Term> terms;
  std::int64_t constant = 0;
  bool overflow = false;  // a coefficient or the constant overflowed, so the values are meaningless

  void add_constant(std::int64_t value, std::int64_t factor = 1);
  void add_term(const Expr& atom, std::int64_t coefficient);
  void add(const Affine& other, std::int64_t factor);
  /// Adds factor * e, looking through sums, differences and constant multiples.
  void add(const Expr& e, std::int64_t factor);
  bool is_constant() const { return terms.empty(); }
};

Interval range_of(const Affine& a, const Ranges& ranges);
/// Converts the affine form to an expression. Returns `hint` itself if it is the same expression.
Expr to_expr(const Affine& a, const Expr& hint);

/// One bottom-up pass of the rules. They are listed at their functions, in simplify.cpp, divide.cpp and compare.cpp.
/// The functions are in one class, because each rule simplifies its parts by the other rules.
class Simplifier {
 public:
  Simplifier(const Ranges& ranges, std::pmr::memory_resource* arena) : ranges_(ranges), arena_(arena) {}
  Expr rewrite(const Expr& e);

 private:
  Expr sum(const Expr& e);
  Expr divide(const Expr& e);
  Expr remainder(const Expr& e);
  Expr extremum(const Expr& e);
  Expr compare(const Expr& e);
  Expr conjunction(const Expr& e);
  Expr exclusive(const Expr& e);
  Expr operands(const Expr& e) { return rebuild(e, rewrite(e.lhs()), rewrite(e.rhs())); }

  Affine affine(const Expr& e);  // affine form of the simplified expression
  void gather(const Expr& e, std::int64_t factor, Affine& out);
  void recombine(Affine& a);
  std::optional<Expr> whole(const Expr& quotient, const Expr& remainder) const;
  std::optional<Expr> wrapped(const Expr& high, const Expr& remainder);
  std::optional<Affine> dividend(const Expr& e, const Expr& divisor);
  bool add_exact_quotient(const Term& t, std::int64_t divisor, Affine& whole);
  Expr narrow_quotient(const Expr& e, const Affine& rest, std::int64_t divisor);
  Affine reduced(const Affine& x, std::int64_t divisor) const;
  std::int64_t small_rest(const Affine& x, std::int64_t divisor) const;
  std::optional<Expr> absorb(const Expr& inner, ExprOp op, const Expr& other);
  std::int64_t comparison_divisor(const Affine& d, ExprOp op) const;

  const Ranges& ranges_;
  std::pmr::memory_resource* arena_;
};

}  // namespace deplo::ir
