// Proves by contradiction: the conditions and the goal's negation, as inequalities of integer sums, have no solution.
// Variables are eliminated one by one (Fourier and Motzkin). A constant is rounded down to the nearest value that an
// integer sum can reach. A quotient is a variable bounded by two inequalities. For min and max, both cases are tried.
#include "rules/raise/proofs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace deplo::rules::raising {
namespace {

constexpr std::size_t max_inequalities = 1000;
constexpr std::int64_t max_coefficient = std::int64_t{1} << 30, max_constant = 2 * max_coefficient;

/// constant + sum of coefficient * variable. `coefficients` has the number of each variable as its key.
struct Sum {
  std::map<int, std::int64_t> coefficients;
  std::int64_t constant = 0;

  void add(const Sum& other, std::int64_t factor) {
    constant += factor * other.constant;
    for (const auto& [variable, c] : other.coefficients)
      if ((coefficients[variable] += factor * c) == 0) coefficients.erase(variable);
  }
};

Sum difference(Sum a, const Sum& b) {
  a.add(b, -1);
  return a;
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// Sums that are at least 0. Of several sums with the same variables, the tightest is kept.
class Inequalities {
 public:
  /// Returns false if there is no solution.
  bool add(Sum sum) {
    std::int64_t divisor = 0;
    for (const auto& [variable, c] : sum.coefficients) divisor = std::gcd(divisor, c);
    if (divisor == 0) return sum.constant >= 0;
    sum.constant = floor_divide(sum.constant, divisor);
    // Products of two numbers must not overflow when they are summed. Leaving out an inequality cannot make a proof
    // wrong.
    if (sum.constant > max_constant || sum.constant < -max_constant) return true;
    for (auto& [variable, c] : sum.coefficients) {
      c /= divisor;
      if (c > max_coefficient || c < -max_coefficient) return true;
    }
    const auto [known, fresh] = sums_.try_emplace(std::move(sum.coefficients), sum.constant);
    if (!fresh) known->second = std::min(known->second, sum.constant);
    return true;
  }

  bool has_solution() const {
    if (sums_.empty() || sums_.size() > max_inequalities) return true;
    std::map<int, Uses> uses;
    for (const auto& [coefficients, constant] : sums_)
      for (const auto& [variable, c] : coefficients) {
        ++(c > 0 ? uses[variable].above : uses[variable].below);
        uses[variable].greatest = std::max(uses[variable].greatest, std::abs(c));
      }
    // Eliminating a variable with coefficients of ±1 loses nothing, so such variables come first. Among them, the
    // variable that leads to the fewest new inequalities comes first.
    const auto price = [](const auto& of) {
      return std::pair(of.second.greatest > 1, of.second.above * of.second.below);
    };
    const int variable = std::ranges::min_element(uses, {}, price)->first;
    Inequalities rest;
    std::vector<Sum> above, below;
    for (const auto& [coefficients, constant] : sums_) {
      const auto found = coefficients.find(variable);
      if (found == coefficients.end())
        rest.sums_.emplace(coefficients, constant);
      else
        (found->second > 0 ? above : below).push_back({coefficients, constant});
    }
    for (const Sum& a : above)
      for (const Sum& b : below) {
        Sum both;
        both.add(a, -b.coefficients.at(variable));
        both.add(b, a.coefficients.at(variable));
        if (!rest.add(std::move(both))) return false;
      }
    return rest.has_solution();
  }

 private:
  struct Uses {
    std::size_t above = 0, below = 0;  // number of sums with a coefficient above and below 0
    std::int64_t greatest = 0;         // largest absolute coefficient
  };
  std::map<std::map<int, std::int64_t>, std::int64_t> sums_;
};

class Proof {
 public:
  explicit Proof(const ir::Ranges& ranges) : ranges_(ranges) {}

  void assume(const ir::Expr& condition) {
    if (condition.is_constant(0)) impossible_ = true;
    if (condition.kind() != ir::Expr::Kind::binary) return;
    const ir::Expr &a = condition.lhs(), &b = condition.rhs();
    if (condition.op() == ir::ExprOp::land) {
      assume(a);
      assume(b);
    } else if (condition.op() == ir::ExprOp::lt) {
      at_least(difference(sum(b), sum(a)), 1);
    } else if (condition.op() == ir::ExprOp::eq) {
      at_least(difference(sum(a), sum(b)), 0);
      at_least(difference(sum(b), sum(a)), 0);
    }
  }

  bool is_contradiction() { return impossible_ || !has_solution(inequalities_, 0); }

 private:
  using Choice = std::pair<Sum, Sum>;  // at least one of the two is at least 0

  void at_least(Sum sum, std::int64_t bound) {
    sum.constant -= bound;
    if (!inequalities_.add(std::move(sum))) impossible_ = true;
  }

  bool has_solution(const Inequalities& known, std::size_t choice) const {
    if (!known.has_solution()) return false;
    if (choice == choices_.size()) return true;
    for (const Sum& taken : {choices_[choice].first, choices_[choice].second}) {
      Inequalities with = known;
      if (with.add(taken) && has_solution(with, choice + 1)) return true;
    }
    return false;
  }

  Sum sum(const ir::Expr& e) {
    if (e.kind() == ir::Expr::Kind::constant) return {{}, e.value()};
    if (e.kind() == ir::Expr::Kind::variable) return atom(e);
    const auto constant = [](const ir::Expr& of) { return of.kind() == ir::Expr::Kind::constant; };
    Sum result;
    switch (e.op()) {
      case ir::ExprOp::add:
      case ir::ExprOp::sub:
        result = sum(e.lhs());
        result.add(sum(e.rhs()), e.op() == ir::ExprOp::add ? 1 : -1);
        return result;
      case ir::ExprOp::mul:
        if (!constant(e.lhs()) && !constant(e.rhs())) return atom(e);
        result.add(sum(constant(e.lhs()) ? e.rhs() : e.lhs()), (constant(e.lhs()) ? e.lhs() : e.rhs()).value());
        return result;
      case ir::ExprOp::mod:  // a - a / c * c
        result = sum(e.lhs());
        result.add(atom(e.lhs() / e.rhs()), -e.rhs().value());
        return result;
      default:
        return atom(e);
    }
  }

  /// The variable of the proof that stands for an expression. A new variable is described by inequalities.
  Sum atom(const ir::Expr& e) {
    const auto known = std::ranges::find(atoms_, e);
    const Sum result{{{static_cast<int>(known - atoms_.begin()), 1}}, 0};
    if (known == atoms_.end()) {
      atoms_.push_back(e);
      describe(e, result);
    }
    return result;
  }

  void describe(const ir::Expr& e, const Sum& named) {
    if (const auto range = ir::bounds(e, ranges_)) {
      at_least(named, range->low);
      at_least(difference({{}, range->high}, named), 0);
    }
    if (e.kind() != ir::Expr::Kind::binary) return;
    if (e.op() == ir::ExprOp::div) {
      Sum rest = sum(e.lhs());
      rest.add(named, -e.rhs().value());
      at_least(rest, 0);
      at_least(difference({{}, e.rhs().value() - 1}, rest), 0);
    } else if (e.op() == ir::ExprOp::min || e.op() == ir::ExprOp::max) {
      const bool is_least = e.op() == ir::ExprOp::min;
      const auto beyond = [&](const ir::Expr& of) {
        return is_least ? difference(sum(of), named) : difference(named, sum(of));
      };
      Sum first = beyond(e.lhs()), second = beyond(e.rhs());
      at_least(first, 0);
      at_least(second, 0);
      choices_.emplace_back(difference({}, first), difference({}, second));
    }
  }

  const ir::Ranges& ranges_;
  Inequalities inequalities_;
  std::vector<Choice> choices_;
  std::vector<ir::Expr> atoms_;
  bool impossible_ = false;
};

/// A quotient whose dividend depends on reduce axes; nullopt if there is none.
std::optional<ir::Expr> find_quotient(const ir::Expr& e) {
  if (e.kind() != ir::Expr::Kind::binary) return std::nullopt;
  std::vector<std::string> names;
  if (e.op() == ir::ExprOp::div) ir::collect_variables(e.lhs(), names);
  if (std::ranges::any_of(names, [](const std::string& name) { return name.size() > 1 && name[0] == 'r'; })) return e;
  const auto left = find_quotient(e.lhs());
  return left ? left : find_quotient(e.rhs());
}

ir::Expr replaced(const ir::Expr& e, const ir::Expr& part, const ir::Expr& by) {
  if (e == part) return by;
  if (e.kind() != ir::Expr::Kind::binary) return e;
  return {e.op(), replaced(e.lhs(), part, by), replaced(e.rhs(), part, by)};
}

}  // namespace

ir::Expr without_quotients(const ir::Expr& e) {
  if (e.kind() != ir::Expr::Kind::binary) return e;
  if (e.op() == ir::ExprOp::land) return {e.op(), without_quotients(e.lhs()), without_quotients(e.rhs())};
  const auto quotient = e.op() == ir::ExprOp::lt ? find_quotient(e) : std::nullopt;
  if (!quotient) return e;
  static const std::string name = "quotient";
  const ir::Expr difference = ir::simplify(replaced(e.lhs() - e.rhs(), *quotient, ir::var(name)));
  const auto sign = ir::coefficient(difference, name);
  if (sign != 1 && sign != -1) return e;
  const ir::Expr rest = ir::substitute(difference, {{name, 0}}), divisor = quotient->rhs();
  return sign == 1 ? ir::less(quotient->lhs(), (0 - rest) * divisor)
                   : ir::less(rest * divisor + (divisor - 1), quotient->lhs());
}

std::vector<ir::Expr> conjuncts(const ir::Expr& condition) {
  if (condition.kind() != ir::Expr::Kind::binary || condition.op() != ir::ExprOp::land) return {condition};
  std::vector<ir::Expr> all = conjuncts(condition.lhs());
  for (ir::Expr& e : conjuncts(condition.rhs())) all.push_back(std::move(e));
  return all;
}

std::vector<ir::Expr> negations(const ir::Expr& condition) {
  if (condition.kind() == ir::Expr::Kind::constant) return {condition.value() == 0 ? 1 : 0};
  if (condition.kind() != ir::Expr::Kind::binary) return {};
  const ir::Expr &a = condition.lhs(), &b = condition.rhs();
  if (condition.op() == ir::ExprOp::lt) return {ir::less(b, a + 1)};
  if (condition.op() == ir::ExprOp::eq) return {ir::less(a, b), ir::less(b, a)};
  if (condition.op() != ir::ExprOp::land) return {};
  std::vector<ir::Expr> first = negations(a), second = negations(b);
  if (first.empty() || second.empty()) return {};
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

bool implies(const std::vector<ir::Expr>& conditions, const ir::Expr& goal, const ir::Ranges& ranges) {
  const std::vector<ir::Expr> opposites = negations(goal);
  return !opposites.empty() && std::ranges::all_of(opposites, [&](const ir::Expr& opposite) {
    Proof proof(ranges);
    for (const ir::Expr& condition : conditions) proof.assume(condition);
    proof.assume(opposite);
    return proof.is_contradiction();
  });
}

}  // namespace deplo::rules::raising
