#include "rules/raise/conditions.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "rules/fusion/loop_op.h"
#include "rules/raise/proofs.h"

namespace deplo::rules::raising {

using fusion::Value;

namespace {

bool holds_under(const Elements& elements, const std::vector<ir::Expr>& conditions, const ir::Expr& e) {
  ir::Expr all = e;
  // The sum names all variables, so that ranges() returns the ranges of all of them.
  for (const ir::Expr& condition : conditions) all = all + condition;
  return implies(conditions, e, elements.ranges(all));
}

/// Simplifies `root`, assuming that the conditions hold.
ValueId assuming(Elements& elements, ValueId root, const std::vector<ir::Expr>& conditions) {
  const auto holds = [&](const ir::Expr& e) { return holds_under(elements, conditions, e); };
  const auto fails = [&](const ir::Expr& e) {
    return std::ranges::any_of(conjuncts(e), [&](const ir::Expr& one) {
      const auto opposites = negations(one);
      return opposites.size() == 1 && holds(opposites[0]);
    });
  };
  const std::function<ir::Expr(const ir::Expr&)> without_ends = [&](const ir::Expr& e) -> ir::Expr {
    if (e.kind() != ir::Expr::Kind::binary) return e;
    const ir::Expr a = without_ends(e.lhs()), b = without_ends(e.rhs());
    const bool is_minimum = e.op() == ir::ExprOp::min;
    if (is_minimum || e.op() == ir::ExprOp::max) {
      if (holds(ir::less(a, b + 1))) return is_minimum ? a : b;
      if (holds(ir::less(b, a + 1))) return is_minimum ? b : a;
    }
    return {e.op(), a, b};
  };
  return elements.values.replace(root, [&](const Value& value) -> std::optional<ValueId> {
    if (value.kind == Value::Kind::assign) return elements.assign(value.op, value.args, value.dtype);
    if (value.kind == Value::Kind::load) {
      Value same = value;
      for (ir::Expr& e : same.index) e = elements.simplify(without_ends(e));
      return elements.values.add(std::move(same));
    }
    if (value.kind != Value::Kind::index || value.dtype != ir::DType::boolean || !value.args.empty()) return {};
    if (fails(value.index[0])) return elements.constant(0);
    ir::Expr open = 1;
    for (const ir::Expr& one : conjuncts(value.index[0]))
      if (!holds(one)) open = {ir::ExprOp::land, open, one};
    return elements.index(open, value.dtype);
  });
}

/// Returns true if the value is the neutral element of `op` wherever the conditions hold. e^(s - M) counts as 0 if s is
/// -inf: if the maximum M is -inf as well, s - M is NaN at every position in any case. A product with a factor of 0
/// counts as 0.
bool is_neutral(Elements& elements, ir::Op op, ValueId id, const std::vector<ir::Expr>& conditions) {
  if (holds_under(elements, conditions, 0)) return true;  // the conditions hold nowhere
  const ValueId lowest = elements.constant(-std::numeric_limits<double>::infinity());
  const ValueId found =
      elements.values.replace(assuming(elements, id, conditions), [&](const Value& value) -> std::optional<ValueId> {
        if (value.kind != Value::Kind::assign) return {};
        const auto is_maximum = [&](ValueId of) {
          return elements.values[of].kind == Value::Kind::reduce && elements.values[of].op == ir::Op::maximum;
        };
        if (value.op == ir::Op::subtract && value.args[0] == lowest && is_maximum(value.args[1])) return lowest;
        if (value.op == ir::Op::multiply &&
            (elements.is_constant(value.args[0], 0) || elements.is_constant(value.args[1], 0)))
          return elements.constant(0);
        return elements.assign(value.op, value.args, value.dtype);
      });
  return elements.is_constant(found, *ir::neutral(op));
}

/// The conditions in the value that do not depend on axes bound inside it.
std::vector<ir::Expr> conditions_of(const Elements& elements, ValueId root) {
  std::vector<ir::Expr> all;
  for (const ValueId id : fusion::reachable(elements.values, root)) {
    const Value& value = elements.values[id];
    if (value.kind != Value::Kind::index || value.dtype != ir::DType::boolean || !value.args.empty()) continue;
    if (!std::ranges::includes(elements.values.live(root).reduces, elements.values.live(id).reduces)) continue;
    for (ir::Expr& e : conjuncts(value.index[0])) all.push_back(std::move(e));
  }
  return all;
}

// Appends the second reduction to the first one: positions below n are those of the first, position p from n on is
// position p - n of the second. The second body is used at all positions, so at p < n it must equal the first body.
// Example: the trips of a loop without a mask, followed by trips with a mask.
std::optional<ValueId> append(Elements& elements, ir::Op op, ValueId first, ValueId second) {
  const Value before = elements.values[first], behind = elements.values[second];
  const auto is_reduction = [&](const Value& value) { return value.kind == Value::Kind::reduce && value.op == op; };
  if (!is_reduction(before) || !is_reduction(behind) || before.dtype != behind.dtype) return std::nullopt;
  const std::int64_t n = elements.values.extent(before.axis);
  const int axis = elements.values.new_axis(n + elements.values.extent(behind.axis));
  const ValueId in_first =
      elements.rewrite(before.args[0], {{elements.values.axis(before.axis).name(), elements.values.axis(axis)}});
  const ValueId both = elements.rewrite(
      behind.args[0], {{elements.values.axis(behind.axis).name(), elements.values.axis(axis) - ir::Expr(n)}});
  const std::vector<ir::Expr> at_first = {ir::less(elements.values.axis(axis), n)};
  if (!elements.values.equivalent(assuming(elements, both, at_first), assuming(elements, in_first, at_first)))
    return std::nullopt;
  return elements.close(op, axis, behind.dtype, both);
}

}  // namespace

ValueId guarded(Elements& elements, ir::Op op, ValueId id, const std::vector<ir::Expr>& conditions) {
  if (conditions.empty()) return id;
  if (elements.values[id].kind == Value::Kind::reduce && elements.values[id].op == op)
    return elements.rebuilt(id, [&](ValueId body) { return guarded(elements, op, body, conditions); });
  std::vector<ir::Expr> needed = conditions;
  for (std::size_t i = needed.size(); i-- > 0;) {
    const std::vector<ir::Expr> opposites = negations(needed[i]);
    std::vector<ir::Expr> others = needed;
    const bool neutral = !opposites.empty() && std::ranges::all_of(opposites, [&](const ir::Expr& opposite) {
      others[i] = opposite;
      return is_neutral(elements, op, id, others);
    });
    if (neutral) needed.erase(needed.begin() + static_cast<std::ptrdiff_t>(i));
  }
  ir::Expr all = 1;
  for (const ir::Expr& e : needed) all = {ir::ExprOp::land, all, e};
  return elements.assign(ir::Op::select,
                         {elements.index(all, ir::DType::boolean), id, elements.constant(*ir::neutral(op))},
                         elements.values[id].dtype);
}

// Tries each condition c of the wider reduction. Where c holds, only the wider reduction may have elements that are not
// neutral. Where c fails, only the narrower one may. The wider body simplified under c is the body of both, if it
// equals the narrower body where c fails.
std::optional<ValueId> unite(Elements& elements, ir::Op op, ValueId first, ValueId second) {
  if (const auto both = append(elements, op, first, second)) return both;
  for (const auto& [one, other] : {std::pair(first, second), std::pair(second, first)}) {
    const Value narrow = elements.values[one], wide = elements.values[other];
    const auto is_reduction = [&](const Value& value) { return value.kind == Value::Kind::reduce && value.op == op; };
    if (!is_reduction(narrow) || !is_reduction(wide) || narrow.dtype != wide.dtype) return std::nullopt;
    if (elements.values.extent(narrow.axis) > elements.values.extent(wide.axis)) continue;
    const int axis = elements.values.new_axis(elements.values.extent(wide.axis));
    const auto body = [&](const Value& of) {
      return elements.rewrite(of.args[0], {{elements.values.axis(of.axis).name(), elements.values.axis(axis)}});
    };
    const ValueId in_narrow = body(narrow), in_wide = body(wide);
    const ir::Expr exists = ir::less(elements.values.axis(axis), elements.values.extent(narrow.axis));
    for (const ir::Expr& c : conditions_of(elements, in_wide)) {
      const std::vector<ir::Expr> fails = negations(c);
      if (fails.size() != 1 || !is_neutral(elements, op, in_wide, fails) ||
          !is_neutral(elements, op, in_narrow, {c, exists}))
        continue;
      const ValueId both = assuming(elements, in_wide, {c});
      const std::vector<ir::Expr> elsewhere = {fails[0], exists};
      if (!elements.values.equivalent(assuming(elements, both, elsewhere), assuming(elements, in_narrow, elsewhere)))
        continue;
      if (!is_neutral(elements, op, both, {fails[0], negations(exists)[0]})) continue;
      return elements.close(op, axis, wide.dtype, both);
    }
  }
  return std::nullopt;
}

}  // namespace deplo::rules::raising
