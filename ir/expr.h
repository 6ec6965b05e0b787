// Integer index expressions: immutable shared handles over constants, axis variables and binary operations.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/error.h"

namespace deplo::ir {

/// div and mod round towards minus infinity; their divisors are positive constants. lt, eq and land give 0 or 1. The
/// operands of bxor are not negative.
enum class ExprOp : std::uint8_t { add, sub, mul, div, mod, min, max, lt, eq, land, bxor };

/// Value semantics: copying shares the node. Equality is structural. Thread-safe to read.
class Expr {
 public:
  enum class Kind : std::uint8_t { constant, variable, binary };
  struct Node;

  Expr(std::int64_t value = 0);     // NOLINT(google-explicit-constructor): literals are expressions
  explicit Expr(std::string name);  // variable
  Expr(ExprOp op, Expr lhs, Expr rhs);

  Kind kind() const;
  std::int64_t value() const;       // constant only
  const std::string& name() const;  // variable only
  ExprOp op() const;                // binary only, like lhs and rhs
  const Expr& lhs() const;
  const Expr& rhs() const;
  // whether the handles are the same, which implies ==
  bool same(const Expr& other) const { return node_ == other.node_; }
  bool is_constant(std::int64_t v) const { return kind() == Kind::constant && value() == v; }
  bool operator==(const Expr& other) const;

 private:
  template <class T>
  const T& get() const;
  std::shared_ptr<const Node> node_;
};

struct Expr::Node {
  struct Binary {
    ExprOp op;
    Expr lhs, rhs;
  };
  std::variant<std::int64_t, std::string, Binary> value;  // in the order of Kind
};
template <class T>
const T& Expr::get() const {
  const T* p = std::get_if<T>(&node_->value);
  CHECK(p != nullptr);
  return *p;
}
inline Expr::Kind Expr::kind() const { return static_cast<Kind>(node_->value.index()); }
inline std::int64_t Expr::value() const { return get<std::int64_t>(); }
inline const std::string& Expr::name() const { return get<std::string>(); }
inline ExprOp Expr::op() const { return get<Node::Binary>().op; }
inline const Expr& Expr::lhs() const { return get<Node::Binary>().lhs; }
inline const Expr& Expr::rhs() const { return get<Node::Binary>().rhs; }

inline Expr var(std::string name) { return Expr(std::move(name)); }
inline Expr operator+(Expr a, Expr b) { return {ExprOp::add, std::move(a), std::move(b)}; }
inline Expr operator-(Expr a, Expr b) { return {ExprOp::sub, std::move(a), std::move(b)}; }
inline Expr operator*(Expr a, Expr b) { return {ExprOp::mul, std::move(a), std::move(b)}; }
inline Expr operator/(Expr a, Expr b) { return {ExprOp::div, std::move(a), std::move(b)}; }
inline Expr operator%(Expr a, Expr b) { return {ExprOp::mod, std::move(a), std::move(b)}; }
inline Expr min(Expr a, Expr b) { return {ExprOp::min, std::move(a), std::move(b)}; }
inline Expr less(Expr a, Expr b) { return {ExprOp::lt, std::move(a), std::move(b)}; }
inline Expr equal(Expr a, Expr b) { return {ExprOp::eq, std::move(a), std::move(b)}; }

/// Inclusive bounds.
struct Interval {
  std::int64_t low = 0, high = 0;
  bool operator==(const Interval&) const = default;
};
/// The range of each variable in scope. Look-ups start at the back, so that an inner scope shadows an outer one.
using Ranges = std::vector<std::pair<std::string, Interval>>;
using Substitution = std::vector<std::pair<std::string, Expr>>;

/// Simplest equal expression under the ranges: affine normal form, with floordiv/mod/min/max/lt resolved if the ranges
/// decide them. Idempotent. Returns the same handle if nothing changes. Variables without a range are unbounded.
Expr simplify(const Expr&, const Ranges& = {});
/// Bounds under the ranges; nullopt if a variable has no range.
std::optional<Interval> bounds(const Expr&, const Ranges&);
/// Narrows the ranges to the values for which the condition can hold: a comparison such as `((a5 + 1) < 128)` bounds
/// its variable.
Ranges narrowed(Ranges, const Expr& condition);
Expr substitute(const Expr&, const Substitution&);
bool depends_on(const Expr&, const std::string& variable);
/// Whether one of the expressions depends on the variable.
bool depends_on(const std::vector<Expr>&, const std::string& variable);
/// The variables, each once, in order of appearance. `collect_variables` appends those that `names` lacks.
std::vector<std::string> variables(const Expr&);
std::vector<std::string> variables(const std::vector<Expr>&);
void collect_variables(const Expr&, std::vector<std::string>& names);
/// The number of quotients and remainders in the expression.
int count_divisions(const Expr&);
/// c if the expression is c * variable + (something without variable); nullopt if it does not have this form.
std::optional<std::int64_t> coefficient(const Expr&, const std::string& variable);
/// Largest d known to divide every value of the expression (0 for the constant 0).
std::int64_t known_divisor(const Expr&);
/// Exact value. CHECKs that every variable has a value.
std::int64_t evaluate(const Expr&, const std::vector<std::pair<std::string, std::int64_t>>& values);

/// Prints with all parentheses: `((a1 * 256) + a2)`, `min(…, 5)`, `(a5 % 2)`, `(a0 == 0)`, `(p && q)`.
std::string print(const Expr&);

}  // namespace deplo::ir
