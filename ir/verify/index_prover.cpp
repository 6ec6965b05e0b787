#include "ir/verify/index_prover.h"

#include <algorithm>
#include <string>

#include "ir/verify/violation.h"

namespace deplo::ir::verifier {

// An axis or, in a gather, an integer value. Only conditions limit the range of an integer value.
Value IndexProver::variable(const std::string& text) {
  Name* name = names_.find(text);
  if (name != nullptr && name->kind == Name::Kind::value && gathers_) {
    const Type& type = names_.use(text).type;
    const bool whole = type.dtype == DType::i32 || (wide_ && type.dtype == DType::i64);
    if (!whole || type.lanes != 1) fail("`{}` is not an i32", text);
    return {name->range, !name->of_block};
  }
  if (name == nullptr || name->kind != Name::Kind::axis || !name->active) fail("`{}` is not an axis in scope", text);
  name->stamp = stamp_;
  return {name->range, name->varies};
}

Value IndexProver::evaluate(const Expr& e) {
  if (e.kind() == Expr::Kind::constant) {
    if (e.value() > max_index || e.value() < -max_index) fail("the index {} is too large", e.value());
    return {{e.value(), e.value(), 0}, false};
  }
  if (e.kind() == Expr::Kind::variable) return variable(e.name());
  const Value l = evaluate(e.lhs()), r = evaluate(e.rhs());
  const std::optional<Strided> range = combine(e.op(), l.range, r.range);
  if (!range) {
    const bool divides = e.op() == ExprOp::div || e.op() == ExprOp::mod;
    const char* what = divides                  ? "does not divide by a positive constant"
                       : e.op() == ExprOp::bxor ? "may have a negative side"
                                                : "may overflow";
    fail("`{}` {}", print(e), what);
  }
  Value value = {*range, (l.varies || r.varies) && !range->single()};
  if (!facts_.empty()) apply_facts(e, value.range);
  return value;
}

Value IndexProver::evaluate_lanes(const Expr& e, int lanes) {
  Name* lane = names_.find(lane_variable);
  if (lane == nullptr) lane = &names_.add(lane_variable, Name::Kind::axis);
  lane->range = {0, lanes - 1, 1};
  lane->active = true;
  const Value value = evaluate(e);
  lane->active = false;
  return value;
}

// A condition on this same expression limits its range: `if (((a0 * 256) + a1) < 777)`.
void IndexProver::apply_facts(const Expr& e, Strided& range) {
  std::vector<Fact> held;
  held.swap(facts_);  // the sides of a condition are evaluated without conditions
  const auto side = [&](const Expr& other) -> std::optional<Strided> {
    try {
      return evaluate(other).range;
    } catch (const Violation&) {  // without the other conditions, it may overflow
      return std::nullopt;
    }
  };
  for (const Fact& fact : held) {
    std::optional<Strided> bound, inside;
    if (e == *fact.less && (bound = side(*fact.more)))
      inside = clamp(range, range.low, bound->high - fact.slack);
    else if (e == *fact.more && (bound = side(*fact.less)))
      inside = clamp(range, bound->low + fact.slack, range.high);
    if (inside) range = *inside;
  }
  held.swap(facts_);
}

void IndexProver::in_range(const Expr& e, std::int64_t extent, int lanes, std::size_t dim) {
  const Strided range = evaluate(e).range;
  if (!reachable() || (range.low >= 0 && range.high <= extent - lanes)) return;
  if (provable(e, 0, extent - lanes)) return;
  fail("index {} `{}` is in {}..{}{}, not proven in 0..{}", dim, print(e), range.low, range.high,
       lanes > 1 ? fmt::format(" and {} lanes", lanes) : "", extent - 1);
}

namespace {

// How many times the expression contains the side of a condition: 64 if the expression is 64 i + j and the side is i. 1
// if that is unknown.
std::int64_t times(const Expr& e, const Expr& side) {
  const std::vector<std::string> names = variables(side);
  if (names.empty()) return 1;
  const auto in_e = coefficient(e, names.front()), in_side = coefficient(side, names.front());
  if (!in_e || !in_side || *in_side == 0 || *in_e % *in_side != 0) return 1;
  return std::max<std::int64_t>(1, *in_e / *in_side);
}

// A quotient, rounded down: dividend / divisor.
struct Quotient {
  Expr dividend;
  std::int64_t divisor;
};

// Returns the sum as one quotient, if a summand is one: (a / d) + r is (a + (r * d)) / d. A condition on an axis that
// was split limits such a dividend: `if (((a2 * 512) + a3) < 576)` limits ((a2 * 8) + (a3 / 64)).
std::optional<Quotient> as_quotient(const Expr& sum, const Ranges& ranges) {
  const Expr* summand = &sum;
  while (summand->kind() == Expr::Kind::binary && summand->op() == ExprOp::add) {
    const bool ends_with_it = summand->rhs().kind() == Expr::Kind::binary && summand->rhs().op() == ExprOp::div;
    summand = ends_with_it ? &summand->rhs() : &summand->lhs();
  }
  const bool divides = summand->kind() == Expr::Kind::binary && summand->op() == ExprOp::div;
  if (!divides || summand->rhs().kind() != Expr::Kind::constant) return std::nullopt;
  const std::int64_t divisor = summand->rhs().value();
  return Quotient{simplify((sum - *summand) * divisor + summand->lhs(), ranges), divisor};
}

}  // namespace

// A slower proof, for indices whose parts are correlated with each other or with a condition: `less + slack <= more`
// gives e <= max(e - k less + k more) - k slack and e >= min(e - k more + k less) + k slack for every k > 0. A quotient
// is in low..high if its dividend is in low d..high d + d - 1.
bool IndexProver::provable(const Expr& e, std::int64_t low, std::int64_t high) const {
  Ranges ranges;
  for (const Name* a : axes_) ranges.emplace_back(a->text, Interval{a->range.low, a->range.high});
  bool above = false, below = false;
  const auto learn = [&](const Expr& shifted, std::int64_t lower, std::int64_t upper) {
    const std::optional<Interval> b = bounds(simplify(shifted, ranges), ranges);
    if (!b) return;
    if (lower != INT64_MIN && b->low >= low - lower) above = true;
    if (upper != INT64_MIN && b->high <= high + upper) below = true;
  };
  learn(e, 0, 0);
  for (const Fact& f : facts_) {
    const std::int64_t k = times(e, *f.less), l = times(e, *f.more);
    learn(e - *f.less * k + *f.more * k, INT64_MIN, f.slack * k);
    learn(e - *f.more * l + *f.less * l, f.slack * l, INT64_MIN);
  }
  if (above && below) return true;
  const std::optional<Quotient> quotient = as_quotient(e, ranges);
  if (!quotient) return false;
  const std::int64_t d = quotient->divisor;
  std::int64_t least = 0, end = 0;
  if (__builtin_mul_overflow(low, d, &least) || __builtin_mul_overflow(high + 1, d, &end)) return false;
  return provable(quotient->dividend, least, end - 1);
}

// A sibling loop may reuse the name of an axis that has gone out of scope.
void IndexProver::enter(const std::string& name, std::int64_t extent, Bind bind, bool varies,
                        const std::optional<Strided>& values) {
  if (extent < 1) fail("axis `{}` has an extent of {}", name, extent);
  Name* axis = names_.find(name);
  if (axis == nullptr) axis = &names_.define(name, Name::Kind::axis, "an axis");
  if (axis->kind != Name::Kind::axis || axis->active) fail("`{}` is defined twice", name);
  axis->active = true;
  axis->bind = bind;
  axis->varies = varies;
  axis->range = values.value_or(Strided{});
  axes_.push_back(axis);
  if (!values) ++unreachable_;
}

// The condition's axes are in scope, because it has been evaluated. Parts of it that this function does not understand
// are ignored.
void IndexProver::assume(const Expr& condition) {
  if (evaluate(condition).range.always_zero()) ++unreachable_;
  if (condition.kind() != Expr::Kind::binary) return;
  switch (condition.op()) {
    case ExprOp::land:
      assume(condition.lhs());
      return assume(condition.rhs());
    case ExprOp::lt:
      return assume_less(condition.lhs(), condition.rhs(), 1);
    case ExprOp::eq:
      assume_less(condition.lhs(), condition.rhs(), 0);
      return assume_less(condition.rhs(), condition.lhs(), 0);
    default:
      return;
  }
}

void IndexProver::assume_less(const Expr& less, const Expr& more, std::int64_t slack) {
  const Strided l = evaluate(less).range, m = evaluate(more).range;
  restrict(less, -max_index, m.high - slack);
  restrict(more, l.low + slack, max_index);
  facts_.push_back({&less, &more, slack});
}

void IndexProver::restrict(const Expr& variable, std::int64_t low, std::int64_t high) {
  if (variable.kind() != Expr::Kind::variable) return;
  Name* axis = names_.find(variable.name());
  saved_.emplace_back(axis, axis->range);
  if (const std::optional<Strided> inside = clamp(axis->range, low, high))
    axis->range = *inside;
  else
    ++unreachable_;
}

void IndexProver::leave(const Mark& mark) {
  for (; axes_.size() > mark.axes; axes_.pop_back()) axes_.back()->active = false;
  for (; saved_.size() > mark.saved; saved_.pop_back()) saved_.back().first->range = saved_.back().second;
  facts_.resize(mark.facts);
  unreachable_ = mark.unreachable;
}

}  // namespace deplo::ir::verifier
