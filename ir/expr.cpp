// The expression class and the functions that need no simplification. simplify.cpp and bounds.cpp hold the rest.
#include "ir/expr.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/error.h"
#include "ir/simplify/simplify_impl.h"

namespace deplo::ir {
namespace {

constexpr std::int64_t small_low = -64, small_high = 1024;

// Small constants are static and their handles are not reference-counted, so most constants need no allocation and no
// atomic operation.
const Expr::Node* small_constant(std::int64_t value) {
  static const auto* const table = [] {
    auto* nodes = new std::array<Expr::Node, small_high - small_low + 1>;
    for (std::int64_t v = small_low; v <= small_high; ++v) (*nodes)[static_cast<std::size_t>(v - small_low)].value = v;
    return nodes;
  }();
  return &(*table)[static_cast<std::size_t>(value - small_low)];
}

}  // namespace

Expr::Expr(std::int64_t value) {
  if (value >= small_low && value <= small_high)
    node_ = std::shared_ptr<const Node>(std::shared_ptr<const Node>(), small_constant(value));
  else
    node_ = std::make_shared<const Node>(Node{value});
}
Expr::Expr(std::string name) : node_(std::make_shared<const Node>(Node{std::move(name)})) {}
Expr::Expr(ExprOp op, Expr lhs, Expr rhs)
    : node_(std::make_shared<const Node>(Node{Node::Binary{op, std::move(lhs), std::move(rhs)}})) {}

bool Expr::operator==(const Expr& other) const {
  if (node_ == other.node_) return true;
  if (kind() != other.kind()) return false;
  switch (kind()) {
    case Kind::constant:
      return value() == other.value();
    case Kind::variable:
      return name() == other.name();
    case Kind::binary:
      return op() == other.op() && lhs() == other.lhs() && rhs() == other.rhs();
  }
  return false;
}

Expr substitute(const Expr& e, const Substitution& values) {
  if (e.kind() == Expr::Kind::constant) return e;
  if (e.kind() == Expr::Kind::variable) {
    for (const auto& [name, value] : values)
      if (name == e.name()) return value;
    return e;
  }
  Expr lhs = substitute(e.lhs(), values), rhs = substitute(e.rhs(), values);
  return rebuild(e, std::move(lhs), std::move(rhs));
}

bool depends_on(const Expr& e, const std::string& variable) {
  if (e.kind() == Expr::Kind::variable) return e.name() == variable;
  return e.kind() == Expr::Kind::binary && (depends_on(e.lhs(), variable) || depends_on(e.rhs(), variable));
}

bool depends_on(const std::vector<Expr>& list, const std::string& variable) {
  return std::ranges::any_of(list, [&](const Expr& e) { return depends_on(e, variable); });
}

int count_divisions(const Expr& e) {
  if (e.kind() != Expr::Kind::binary) return 0;
  const bool divides = e.op() == ExprOp::div || e.op() == ExprOp::mod;
  return (divides ? 1 : 0) + count_divisions(e.lhs()) + count_divisions(e.rhs());
}

std::vector<std::string> variables(const std::vector<Expr>& list) {
  std::vector<std::string> names;
  for (const Expr& e : list) collect_variables(e, names);
  return names;
}

std::vector<std::string> variables(const Expr& e) { return variables(std::vector{e}); }

void collect_variables(const Expr& e, std::vector<std::string>& names) {
  if (e.kind() == Expr::Kind::variable) {
    for (const std::string& name : names)
      if (name == e.name()) return;
    names.push_back(e.name());
  } else if (e.kind() == Expr::Kind::binary) {
    collect_variables(e.lhs(), names);
    collect_variables(e.rhs(), names);
  }
}

namespace {

std::optional<std::int64_t> scaled(std::optional<std::int64_t> coefficient, const Expr& factor) {
  std::int64_t product = 0;
  if (!coefficient || *coefficient == 0) return coefficient;
  if (factor.kind() != Expr::Kind::constant) return std::nullopt;
  if (__builtin_mul_overflow(*coefficient, factor.value(), &product)) return std::nullopt;
  return product;
}

}  // namespace

std::optional<std::int64_t> coefficient(const Expr& e, const std::string& variable) {
  if (e.kind() == Expr::Kind::constant) return 0;
  if (e.kind() == Expr::Kind::variable) return e.name() == variable ? 1 : 0;
  const std::optional<std::int64_t> l = coefficient(e.lhs(), variable), r = coefficient(e.rhs(), variable);
  if (!l || !r) return std::nullopt;
  std::int64_t result = 0;
  switch (e.op()) {
    case ExprOp::add:
      if (__builtin_add_overflow(*l, *r, &result)) return std::nullopt;
      return result;
    case ExprOp::sub:
      if (__builtin_sub_overflow(*l, *r, &result)) return std::nullopt;
      return result;
    case ExprOp::mul:
      if (!depends_on(e, variable)) return 0;
      if (depends_on(e.lhs(), variable) && depends_on(e.rhs(), variable)) return std::nullopt;
      return *l != 0 ? scaled(l, e.rhs()) : scaled(r, e.lhs());
    default:
      return depends_on(e, variable) ? std::nullopt : std::optional<std::int64_t>(0);
  }
}

std::int64_t known_divisor(const Expr& e) {
  if (e.kind() == Expr::Kind::constant) return e.value() == INT64_MIN ? 1 : std::abs(e.value());
  if (e.kind() == Expr::Kind::variable) return 1;
  const ExprOp op = e.op();
  if (op == ExprOp::lt || op == ExprOp::eq || op == ExprOp::land) return 1;
  const std::int64_t l = known_divisor(e.lhs()), r = known_divisor(e.rhs());
  std::int64_t product = 0;
  if (op == ExprOp::mul) return __builtin_mul_overflow(l, r, &product) ? l : product;
  if (op == ExprOp::div) return l == 0 ? 0 : r > 0 && l % r == 0 ? l / r : 1;
  const std::int64_t both = std::gcd(l, r);         // x % c is x minus a multiple of c
  return op == ExprOp::bxor ? both & -both : both;  // the low bits that are 0 on both sides stay 0
}

std::int64_t evaluate(const Expr& e, const std::vector<std::pair<std::string, std::int64_t>>& values) {
  if (e.kind() == Expr::Kind::constant) return e.value();
  if (e.kind() == Expr::Kind::variable) {
    for (auto it = values.rbegin(); it != values.rend(); ++it)
      if (it->first == e.name()) return it->second;
    check_failed("evaluate(): every variable is bound", __FILE__, __LINE__);
  }
  return fold(e.op(), evaluate(e.lhs(), values), evaluate(e.rhs(), values));
}

namespace {

void print_to(const Expr& e, std::string& out) {
  if (e.kind() == Expr::Kind::constant) {
    out += std::to_string(e.value());
  } else if (e.kind() == Expr::Kind::variable) {
    out += e.name();
  } else {
    // In the order of ExprOp; min and max are written as calls.
    static constexpr std::array symbols{" + ", " - ", " * ", " / ", " % ", ", ", ", ", " < ", " == ", " && ", " ^ "};
    out += e.op() == ExprOp::min ? "min(" : e.op() == ExprOp::max ? "max(" : "(";
    print_to(e.lhs(), out);
    out += symbols[static_cast<std::size_t>(e.op())];
    print_to(e.rhs(), out);
    out += ')';
  }
}

}  // namespace

std::string print(const Expr& e) {
  std::string out;
  print_to(e, out);
  return out;
}

}  // namespace deplo::ir
