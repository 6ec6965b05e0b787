// Index expressions: what they may be for all values of the axes, under the conditions around them.
#include <fmt/format.h>

#include "ir/verify/verifier.h"

namespace deplo::ir {

// An axis, or in a gather an i32, of which nothing is known.
bool Verifier::variable(const std::string& text, Value& out) {
  int number = names_.find(text);
  const Kind kind = number == NameTable::none ? Kind::buffer : names_[number].kind;
  if (kind == Kind::value && gathers_) {
    if (!use(text, number)) return false;
    if (names_[number].type != Type{DType::i32, 1}) return fail(fmt::format("`{}` is not an i32", text));
    out = {{INT32_MIN, INT32_MAX, 1}, true};
    return true;
  }
  if (kind != Kind::axis || !names_[number].active) return fail(fmt::format("`{}` is not an axis in scope", text));
  NameEntry& entry = names_[number];
  entry.stamp = stamp_;
  out = {entry.range, entry.varies};
  return true;
}

bool Verifier::evaluate(const Expr& e, Value& out) {
  if (e.kind() == Expr::Kind::constant) {
    out = {{e.value(), e.value(), 0}, false};
    return (e.value() <= kMaxIndex && e.value() >= -kMaxIndex) ||
           fail(fmt::format("the index {} is too large", e.value()));
  }
  if (e.kind() == Expr::Kind::variable) {
    return variable(e.name(), out);
  }
  Value l, r;
  if (!evaluate(e.lhs(), l) || !evaluate(e.rhs(), r)) return false;
  const std::optional<Strided> range = combine(e.op(), l.range, r.range);
  if (!range) {
    const bool divides = e.op() == ExprOp::div || e.op() == ExprOp::mod;
    const char* what = divides                  ? "does not divide by a positive constant"
                       : e.op() == ExprOp::bxor ? "may have a negative side"
                                                : "may overflow";
    return fail(fmt::format("`{}` {}", print(e), what));
  }
  out = {*range, (l.varies || r.varies) && !range->single()};
  if (!facts_.empty()) apply_facts(e, out.range);
  return true;
}

// A condition about this very expression bounds it: `if (((a0 * 256) + a1) < 777)`.
void Verifier::apply_facts(const Expr& e, Strided& range) {
  const std::size_t known = facts_.size();
  std::vector<Fact> held;
  held.swap(facts_);  // the sides of a condition are evaluated without conditions
  Value side;
  for (std::size_t i = 0; i < known; ++i) {
    std::optional<Strided> inside = range;
    if (e == *held[i].less && evaluate(*held[i].more, side))
      inside = clamp(range, range.low, side.range.high - held[i].slack);
    else if (e == *held[i].more && evaluate(*held[i].less, side))
      inside = clamp(range, side.range.low + held[i].slack, range.high);
    if (inside) range = *inside;
  }
  held.swap(facts_);
}

bool Verifier::in_range(const Expr& e, std::int64_t extent, int n, std::size_t dim) {
  Value v;
  if (!evaluate(e, v)) return false;
  if (unreachable_ > 0 || (v.range.low >= 0 && v.range.high <= extent - n)) return true;
  if (provable(e, 0, extent - n)) return true;
  const std::string lanes_note = n > 1 ? fmt::format(" and {} lanes", n) : "";
  return fail(fmt::format("index {} `{}` is in {}..{}{}, not proven in 0..{}", dim, print(e), v.range.low, v.range.high,
                          lanes_note, extent - 1));
}

// An i32 holds it. `lane` is an axis of the vector's lanes.
bool Verifier::index_value(const Index& i) {
  Value v;
  ++stamp_;
  if (i.type.lanes > 1) {
    const int lane = names_.find(lane_variable) != NameTable::none ? names_.find(lane_variable)
                                                                   : names_.add(lane_variable, Kind::axis);
    names_[lane].range = {0, i.type.lanes - 1, 1};
    names_[lane].active = true;
    const bool good = evaluate(i.value, v);
    names_[lane].active = false;
    if (!good) return false;
  } else if (!evaluate(i.value, v)) {
    return false;
  }
  const bool fits = i.type.dtype == DType::boolean || (v.range.low >= INT32_MIN && v.range.high <= INT32_MAX);
  return fits ||
         fail(fmt::format("`{}` is in {}..{}, more than 32 bits hold", print(i.value), v.range.low, v.range.high));
}

// The slow way, for indices that correlate with themselves or with a condition: `less + slack <= more` gives
// e <= max(e - less + more) - slack and e >= min(e - more + less) + slack.
bool Verifier::provable(const Expr& e, std::int64_t low, std::int64_t high) {
  Ranges ranges;
  for (const int a : axes_) ranges.emplace_back(names_[a].name, Interval{names_[a].range.low, names_[a].range.high});
  bool above = false, below = false;
  const auto learn = [&](const Expr& shifted, std::int64_t lower, std::int64_t upper) {
    const std::optional<Interval> b = bounds(simplify(shifted, ranges), ranges);
    if (!b) return;
    if (lower != INT64_MIN && b->low >= low - lower) above = true;
    if (upper != INT64_MIN && b->high <= high + upper) below = true;
  };
  learn(e, 0, 0);
  for (const Fact& f : facts_) {
    learn(e - *f.less + *f.more, INT64_MIN, f.slack);
    learn(e - *f.more + *f.less, f.slack, INT64_MIN);
  }
  return above && below;
}

// The condition has been evaluated: its axes exist. What it says is used, what is not understood is ignored.
bool Verifier::assume(const Expr& condition) {
  Value v;
  if (!evaluate(condition, v)) return false;
  if (v.range.always_zero()) ++unreachable_;
  if (condition.kind() != Expr::Kind::binary) return true;
  switch (condition.op()) {
    case ExprOp::land:
      return assume(condition.lhs()) && assume(condition.rhs());
    case ExprOp::lt:
      return assume_less(condition.lhs(), condition.rhs(), 1);
    case ExprOp::eq:
      return assume_less(condition.lhs(), condition.rhs(), 0) && assume_less(condition.rhs(), condition.lhs(), 0);
    default:
      return true;
  }
}

bool Verifier::assume_less(const Expr& less, const Expr& more, std::int64_t slack) {
  Value l, m;
  if (!evaluate(less, l) || !evaluate(more, m)) return false;
  restrict(less, -kMaxIndex, m.range.high - slack);
  restrict(more, l.range.low + slack, kMaxIndex);
  facts_.push_back({&less, &more, slack});
  return true;
}

void Verifier::restrict(const Expr& variable, std::int64_t low, std::int64_t high) {
  if (variable.kind() != Expr::Kind::variable) return;
  const int number = names_.find(variable.name());
  const std::optional<Strided> inside = clamp(names_[number].range, low, high);
  saved_.emplace_back(number, names_[number].range);
  if (inside)
    names_[number].range = *inside;
  else
    ++unreachable_;
}

}  // namespace deplo::ir
