// Values under conditions on the axes: what they are where a condition holds, and reductions that stop where it fails.
#include <algorithm>
#include <limits>

#include "rules/raise/elements.h"
#include "rules/raise/proofs.h"

namespace deplo::rules::raising {

using fusion::Value;

bool Elements::holds_under(const std::vector<ir::Expr>& conditions, const ir::Expr& e) const {
  ir::Expr all = e;
  for (const ir::Expr& condition : conditions) all = all + condition;  // for the ranges of all variables
  return implies(conditions, e, ranges(all));
}

ValueId Elements::assuming(ValueId root, const std::vector<ir::Expr>& conditions) {
  const auto holds = [&](const ir::Expr& e) { return holds_under(conditions, e); };
  const auto fails = [&](const ir::Expr& e) {
    return std::ranges::any_of(conjuncts(e), [&](const ir::Expr& one) {
      const auto opposites = negations(one);
      return opposites.size() == 1 && holds(opposites[0]);
    });
  };
  const std::function<ir::Expr(const ir::Expr&)> without_ends = [&](const ir::Expr& e) -> ir::Expr {
    if (e.kind() != ir::Expr::Kind::binary) return e;
    const ir::Expr a = without_ends(e.lhs()), b = without_ends(e.rhs());
    const bool least = e.op() == ir::ExprOp::min;
    if (least || e.op() == ir::ExprOp::max) {
      if (holds(ir::less(a, b + 1))) return least ? a : b;
      if (holds(ir::less(b, a + 1))) return least ? b : a;
    }
    return {e.op(), a, b};
  };
  return values.replace(root, [&](const Value& value) -> std::optional<ValueId> {
    if (value.kind == Value::Kind::assign) return assign(value.op, value.args, value.dtype);
    if (value.kind == Value::Kind::load) {
      Value same = value;
      for (ir::Expr& e : same.index) e = simplify(without_ends(e));
      return values.add(std::move(same));
    }
    if (value.kind != Value::Kind::index || value.dtype != ir::DType::boolean || !value.args.empty()) return {};
    if (fails(value.index[0])) return constant(0);
    ir::Expr open = 1;
    for (const ir::Expr& one : conjuncts(value.index[0]))
      if (!holds(one)) open = {ir::ExprOp::land, open, one};
    return index(open, value.dtype);
  });
}

/// So is also e^(s - M) of a score of -inf: if M, the greatest of such, is -inf as well, then s - M is no number at any
/// position. And so is what a weight of 0 weighs.
bool Elements::is_neutral(ir::Op op, ValueId id, const std::vector<ir::Expr>& conditions) {
  if (holds_under(conditions, 0)) return true;  // nowhere
  const ValueId lowest = constant(-std::numeric_limits<double>::infinity());
  const ValueId found = values.replace(assuming(id, conditions), [&](const Value& value) -> std::optional<ValueId> {
    if (value.kind != Value::Kind::assign) return {};
    const auto is_maximum = [&](ValueId of) {
      return values[of].kind == Value::Kind::reduce && values[of].op == ir::Op::maximum;
    };
    if (value.op == ir::Op::subtract && value.args[0] == lowest && is_maximum(value.args[1])) return lowest;
    if (value.op == ir::Op::multiply && (is_constant(value.args[0], 0) || is_constant(value.args[1], 0)))
      return constant(0);
    return assign(value.op, value.args, value.dtype);
  });
  return is_constant(found, *ir::neutral(op));
}

ValueId Elements::guarded(ir::Op op, ValueId id, const std::vector<ir::Expr>& conditions) {
  if (conditions.empty()) return id;
  if (values[id].kind == Value::Kind::reduce && values[id].op == op)
    return rebuilt(id, [&](ValueId body) { return guarded(op, body, conditions); });
  std::vector<ir::Expr> needed = conditions;
  for (std::size_t i = needed.size(); i-- > 0;) {
    const std::vector<ir::Expr> opposites = negations(needed[i]);
    std::vector<ir::Expr> others = needed;
    const bool neutral = !opposites.empty() && std::ranges::all_of(opposites, [&](const ir::Expr& opposite) {
      others[i] = opposite;
      return is_neutral(op, id, others);
    });
    if (neutral) needed.erase(needed.begin() + static_cast<std::ptrdiff_t>(i));
  }
  ir::Expr all = 1;
  for (const ir::Expr& e : needed) all = {ir::ExprOp::land, all, e};
  return assign(ir::Op::select, {index(all, ir::DType::boolean), id, constant(*ir::neutral(op))}, values[id].dtype);
}

std::vector<ir::Expr> Elements::conditions_of(ValueId root) const {
  std::vector<ir::Expr> all;
  for (const ValueId id : below(root)) {
    const Value& value = values[id];
    if (value.kind != Value::Kind::index || value.dtype != ir::DType::boolean || !value.args.empty()) continue;
    if (!std::ranges::includes(values.live(root).reduces, values.live(id).reduces)) continue;
    for (ir::Expr& e : conjuncts(value.index[0])) all.push_back(std::move(e));
  }
  return all;
}

// Position p of both is p of the first one, or p - n of the second one behind it: that is both where it is the first
// one, too, at positions below 0. So are the trips of a loop without a mask and those behind it, with one.
std::optional<ValueId> Elements::append(ir::Op op, ValueId first, ValueId second) {
  const Value before = values[first], behind = values[second];
  const auto is_reduction = [&](const Value& value) { return value.kind == Value::Kind::reduce && value.op == op; };
  if (!is_reduction(before) || !is_reduction(behind) || before.dtype != behind.dtype) return std::nullopt;
  const std::int64_t n = values.extent(before.axis);
  const int axis = values.new_axis(n + values.extent(behind.axis));
  const ValueId in_first = rewrite(before.args[0], {{values.axis(before.axis).name(), values.axis(axis)}});
  const ValueId both = rewrite(behind.args[0], {{values.axis(behind.axis).name(), values.axis(axis) - ir::Expr(n)}});
  const std::vector<ir::Expr> at_first = {ir::less(values.axis(axis), n)};
  if (!values.equivalent(assuming(both, at_first), assuming(in_first, at_first))) return std::nullopt;
  return close(op, axis, behind.dtype, both);
}

// Where c holds the wider one has all that is not neutral, elsewhere the narrower one. T, the wider one as it is where
// c holds, is both, if where c fails it is the narrower one.
std::optional<ValueId> Elements::unite(ir::Op op, ValueId first, ValueId second) {
  if (const auto both = append(op, first, second)) return both;
  for (const auto& [one, other] : {std::pair(first, second), std::pair(second, first)}) {
    const Value narrow = values[one], wide = values[other];
    const auto is_reduction = [&](const Value& value) { return value.kind == Value::Kind::reduce && value.op == op; };
    if (!is_reduction(narrow) || !is_reduction(wide) || narrow.dtype != wide.dtype) return std::nullopt;
    if (values.extent(narrow.axis) > values.extent(wide.axis)) continue;
    const int axis = values.new_axis(values.extent(wide.axis));
    const auto body = [&](const Value& of) {
      return rewrite(of.args[0], {{values.axis(of.axis).name(), values.axis(axis)}});
    };
    const ValueId in_narrow = body(narrow), in_wide = body(wide);
    const ir::Expr exists = ir::less(values.axis(axis), values.extent(narrow.axis));
    for (const ir::Expr& c : conditions_of(in_wide)) {
      const std::vector<ir::Expr> fails = negations(c);
      if (fails.size() != 1 || !is_neutral(op, in_wide, fails) || !is_neutral(op, in_narrow, {c, exists})) continue;
      const ValueId both = assuming(in_wide, {c});
      const std::vector<ir::Expr> elsewhere = {fails[0], exists};
      if (!values.equivalent(assuming(both, elsewhere), assuming(in_narrow, elsewhere))) continue;
      if (!is_neutral(op, both, {fails[0], negations(exists)[0]})) continue;
      return close(op, axis, wide.dtype, both);
    }
  }
  return std::nullopt;
}

}  // namespace deplo::rules::raising
