#include "rules/raise/elements.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "core/error.h"
#include "ir/tensor/tensor.h"
#include "rules/fusion/loop_op.h"
#include "rules/raise/proofs.h"

namespace deplo::rules::raising {

using fusion::Value;

namespace {

/// Replaces the loaded values that index expressions name by g1, g2, …, and returns these values, as the arguments of a
/// table entry.
std::vector<ValueId> name_arguments(Index& index) {
  const std::vector<std::string> names = ir::variables(index);
  std::vector<ValueId> args;
  ir::Substitution renamed;
  for (const std::string& name : names)
    if (const ValueId id = loaded(name); id != ValueId::none && std::ranges::find(args, id) == args.end()) {
      args.push_back(id);
      renamed.emplace_back(name, ir::var("g" + std::to_string(args.size())));
    }
  for (ir::Expr& e : index) e = ir::substitute(e, renamed);
  return args;
}

bool is_free_axis(const fusion::Live& live, const std::string& name) {
  for (std::size_t d = 0; d < 18; ++d)
    if ((live.free >> d & 1) != 0 && ir::tensor::coordinate(d).name() == name) return true;
  return false;
}

/// Collects the numbers c of the conditions `variable < c` in an expression.
void collect_ends(const ir::Expr& e, const std::string& variable, std::set<std::int64_t>& ends) {
  if (e.kind() != ir::Expr::Kind::binary) return;
  const bool bounds = e.op() == ir::ExprOp::lt && e.lhs().kind() == ir::Expr::Kind::variable &&
                      e.lhs().name() == variable && e.rhs().kind() == ir::Expr::Kind::constant;
  if (bounds) ends.insert(e.rhs().value());
  collect_ends(e.lhs(), variable, ends);
  collect_ends(e.rhs(), variable, ends);
}

}  // namespace

std::string loaded_name(ValueId id) { return "t" + std::to_string(static_cast<int>(id)); }

ValueId loaded(const std::string& name) {
  int id = static_cast<int>(ValueId::none);
  if (name.size() > 1 && name[0] == 't') std::from_chars(name.data() + 1, name.data() + name.size(), id);
  return static_cast<ValueId>(id);
}

bool names_loaded(const ir::Expr& e) {
  const std::vector<std::string> names = ir::variables(e);
  return std::ranges::any_of(names, [](const std::string& name) { return loaded(name) != ValueId::none; });
}

namespace {

/// The index expression for a constant or an integer value.
ir::Expr index_of(const fusion::Values& values, ValueId id) {
  const Value& value = values[id];
  if (value.kind == Value::Kind::constant) return static_cast<std::int64_t>(value.constant);
  return ir::var(loaded_name(id));
}

/// Returns true if the value cannot be -0. A sum is -0 only if all its terms are -0, and a reduction begins with 0.
bool is_never_minus_zero(const fusion::Values& values, ValueId id) {
  const Value& value = values[id];
  if (value.dtype != ir::DType::f32) return true;
  if (value.kind == Value::Kind::constant) return value.constant != 0 || !std::signbit(value.constant);
  if (value.kind == Value::Kind::reduce) return value.op == ir::Op::add;
  if (value.kind != Value::Kind::assign) return false;
  switch (value.op) {
    case ir::Op::exp:
    case ir::Op::exp2:
    case ir::Op::absolute:
      return true;
    case ir::Op::add:
      return is_never_minus_zero(values, value.args[0]) || is_never_minus_zero(values, value.args[1]);
    case ir::Op::select:
      return is_never_minus_zero(values, value.args[1]) && is_never_minus_zero(values, value.args[2]);
    case ir::Op::round_f16:
    case ir::Op::round_bf16:
      return is_never_minus_zero(values, value.args[0]);
    default:
      return false;
  }
}

int divisions(const fusion::Values& values, ValueId root) {
  int count = 0;
  for (const ValueId id : fusion::reachable(values, root))
    for (const ir::Expr& e : values[id].index) count += ir::count_divisions(e);
  return count;
}

}  // namespace

bool contains(const fusion::Values& values, ValueId value, ValueId part) {
  return std::ranges::count(fusion::reachable(values, value), part) > 0;
}

Index named_index(const fusion::Values& values, const Value& value) {
  ir::Substitution arguments;
  for (std::size_t i = 0; i < value.args.size(); ++i)
    arguments.emplace_back("g" + std::to_string(i + 1), index_of(values, value.args[i]));
  Index index = value.index;
  for (ir::Expr& e : index) e = ir::substitute(e, arguments);
  return index;
}

ir::Ranges Elements::ranges(const ir::Expr& e) const {
  ir::Ranges result = values.ranges(e, shape);
  for (const std::string& name : ir::variables(e))
    if (const auto known = ranges_.find(name); known != ranges_.end() && known->second)
      result.emplace_back(name, *known->second);
  return result;
}

ir::Expr Elements::simplify(const ir::Expr& e) const {
  return e.kind() == ir::Expr::Kind::constant ? e : ir::simplify(e, ranges(e));
}

ValueId Elements::constant(double value) { return values.add({.constant = value}); }

ValueId Elements::load(int tensor, ir::DType dtype, const Index& index) {
  Value value{.kind = Value::Kind::load, .dtype = dtype, .tensor = tensor, .index = index};
  for (ir::Expr& e : value.index) e = simplify(e);
  value.args = name_arguments(value.index);
  return values.add(std::move(value));
}

ValueId Elements::index(const ir::Expr& expression, ir::DType dtype) {
  ir::Expr e = simplify(expression);
  if (dtype == ir::DType::boolean) e = simplify(without_quotients(e));
  if (e.kind() == ir::Expr::Kind::constant) return constant(static_cast<double>(e.value()));
  if (e.kind() == ir::Expr::Kind::variable && dtype == ir::DType::i32)
    if (const ValueId id = loaded(e.name()); id != ValueId::none) return id;
  Value value{.kind = Value::Kind::index, .dtype = dtype, .index = {e}};
  value.args = name_arguments(value.index);
  return values.add(std::move(value));
}

bool Elements::is_constant(ValueId id, double number) const {
  return values[id].kind == Value::Kind::constant && values[id].constant == number;
}

ValueId Elements::assign(ir::Op op, std::vector<ValueId> args, ir::DType dtype) {
  const auto known = [&](ValueId id) { return values[id].kind == Value::Kind::constant; };
  if (op == ir::Op::select && known(args[0])) return values[args[0]].constant != 0 ? args[1] : args[2];
  if (op == ir::Op::select && args[1] == args[2]) return args[1];
  if (std::ranges::all_of(args, known)) {
    std::vector<double> numbers;
    for (const ValueId arg : args) numbers.push_back(values[arg].constant);
    const double result = ir::apply(op, numbers);
    return constant(dtype == ir::DType::f32 ? static_cast<double>(static_cast<float>(result)) : result);
  }
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    if (op == ir::Op::multiply && is_constant(args[i], 1)) return args[1 - i];
    // Adding 0 to -0 gives 0, not -0.
    if (op == ir::Op::add && is_constant(args[i], 0) &&
        (std::signbit(values[args[i]].constant) || is_never_minus_zero(values, args[1 - i])))
      return args[1 - i];
  }
  if (op == ir::Op::power && is_constant(args[1], 2)) return assign(ir::Op::multiply, {args[0], args[0]});
  return values.add({.kind = Value::Kind::assign, .dtype = dtype, .op = op, .args = std::move(args)});
}

ValueId Elements::scatter(const Index& at, const ir::Expr& condition, ValueId value) {
  Value root{.kind = Value::Kind::scatter, .dtype = values[value].dtype, .index = at};
  root.index.push_back(condition);
  root.args = name_arguments(root.index);
  root.args.push_back(value);
  return values.add(std::move(root));
}

std::string Elements::unexplained(ValueId root) const {
  for (const ValueId id : fusion::reachable(values, root))
    for (const ir::Expr& e : values[id].index) {
      for (const std::string& name : ir::variables(e))
        if (ranges_.contains(name)) return name;
    }
  return "";
}

ValueId Elements::rewrite(ValueId root, const ir::Substitution& given) {
  ir::Substitution sigma = given;
  std::map<ValueId, ValueId> memo;
  const auto changes = [&](ValueId id) {
    const fusion::Live& live = values.live(id);
    return std::ranges::any_of(sigma, [&](const auto& one) {
      const auto is_one = [&](int axis) { return values.axis(axis).name() == one.first; };
      return is_free_axis(live, one.first) || std::ranges::any_of(live.reduces, is_one);
    });
  };
  const std::function<ValueId(ValueId)> run = [&](ValueId id) -> ValueId {
    if (const auto known = memo.find(id); known != memo.end()) return known->second;
    if (!changes(id)) return id;
    Value value = values[id];
    const auto inner = [&] {
      for (ValueId& arg : value.args) arg = run(arg);
    };
    const auto rewritten_index = [&] {
      Value moved = value;
      for (ir::Expr& e : moved.index) e = ir::substitute(e, sigma);
      Index index = named_index(values, moved);
      for (ir::Expr& e : index) e = simplify(e);
      return index;
    };
    switch (value.kind) {
      case Value::Kind::constant:
        return id;
      case Value::Kind::index:
        inner();
        return memo[id] = index(rewritten_index()[0], value.dtype);
      case Value::Kind::load:
        inner();
        return memo[id] = load(value.tensor, value.dtype, rewritten_index());
      case Value::Kind::assign:
        inner();
        return memo[id] = assign(value.op, value.args, value.dtype);
      case Value::Kind::reduce: {
        const int fresh = values.new_axis(values.extent(value.axis));
        sigma.emplace_back(values.axis(value.axis).name(), values.axis(fresh));
        inner();
        value.axis = fresh;
        return memo[id] = close(value.op, fresh, value.dtype, value.args[0]);
      }
      case Value::Kind::softmax:
      case Value::Kind::scan:
      case Value::Kind::part:
      case Value::Kind::scatter:
        break;
    }
    CHECK(false);  // such values are created only when a kernel is complete
    return id;
  };
  return run(root);
}

std::optional<ValueId> Elements::join(ir::Op op, int axis, ir::DType dtype, ValueId id) {
  const Value inner = values[id];
  if (inner.kind != Value::Kind::reduce || inner.op != op) return std::nullopt;
  const std::int64_t outside = values.extent(axis), inside = values.extent(inner.axis);
  const int before = divisions(values, inner.args[0]);
  // The position on the faster axis varies within each step of the slower axis.
  for (const bool inner_is_faster : {true, false}) {
    const int both = values.new_axis(outside * inside);
    const std::int64_t fast = inner_is_faster ? inside : outside;
    const ir::Expr slow_at = values.axis(both) / fast, fast_at = values.axis(both) % fast;
    const ValueId joined =
        rewrite(inner.args[0], {{values.axis(axis).name(), inner_is_faster ? slow_at : fast_at},
                                {values.axis(inner.axis).name(), inner_is_faster ? fast_at : slow_at}});
    if (divisions(values, joined) <= before) return close(op, both, dtype, joined);
  }
  return std::nullopt;
}

// The position at which the axis may end, because a neutral padding begins there. Candidates are the bounds in
// conditions on the axis.
std::int64_t Elements::end(ir::Op op, int axis, ValueId id) {
  const std::int64_t extent = values.extent(axis);
  const std::string variable = values.axis(axis).name();
  std::set<std::int64_t> ends;
  for (const ValueId part : fusion::reachable(values, id))
    for (const ir::Expr& e : values[part].index) collect_ends(e, variable, ends);
  for (const std::int64_t at : ends) {
    if (at <= 0 || at >= extent) continue;
    if (is_padding(op, axis, at, id)) return at;
  }
  return extent;
}

/// Returns true if the value is neutral from position `at` on. This also holds for e^(s - M) if s is -inf there and M
/// is the maximum of s before `at`: if M is -inf as well, s - M is NaN at every position.
bool Elements::is_padding(ir::Op op, int axis, std::int64_t at, ValueId id) {
  const std::string variable = values.axis(axis).name();
  const int rest = values.new_axis(values.extent(axis) - at), first = values.new_axis(at);
  const auto in_rest = [&](ValueId value) { return rewrite(value, {{variable, values.axis(rest) + at}}); };
  const auto is_greatest = [&](ValueId greatest, ValueId score) {
    if (at == 1) return rewrite(score, {{variable, 0}}) == greatest;
    const Value maximum = values[greatest];
    if (maximum.kind != Value::Kind::reduce || maximum.op != ir::Op::maximum || values.extent(maximum.axis) != at)
      return false;
    const ValueId before = rewrite(score, {{variable, values.axis(first)}});
    return rewrite(before, {{values.axis(first).name(), values.axis(maximum.axis)}}) == maximum.args[0];
  };
  const ValueId lowest = constant(-std::numeric_limits<double>::infinity());
  const ValueId tail = values.replace(id, [&](const Value& value) -> std::optional<ValueId> {
    if (value.kind != Value::Kind::assign) return {};
    const bool difference = value.op == ir::Op::subtract && in_rest(value.args[0]) == lowest;
    if (difference && is_greatest(value.args[1], value.args[0])) return lowest;
    return assign(value.op, value.args, value.dtype);
  });
  return is_constant(in_rest(tail), *ir::neutral(op));
}

/// Finds an equal reduction over another axis, because several outputs may share one value.
std::optional<ValueId> Elements::find_equal(ir::Op op, int axis, ir::DType dtype, ValueId id) {
  for (const ValueId other : reductions_) {
    const Value& value = values[other];
    if (value.op != op || value.dtype != dtype || values.extent(value.axis) != values.extent(axis)) continue;
    if (values.equivalent(id, value.args[0], {{values.axis(axis).name(), values.axis(value.axis)}})) return other;
  }
  return std::nullopt;
}

ValueId Elements::close(ir::Op op, int axis, ir::DType dtype, ValueId id) {
  if (is_constant(id, *ir::neutral(op))) return id;
  if (values.extent(axis) == 1) return rewrite(id, {{values.axis(axis).name(), 0}});
  if (const auto joined = join(op, axis, dtype, id)) return *joined;
  if (const std::int64_t at = end(op, axis, id); at < values.extent(axis)) {
    const int shorter = values.new_axis(at);
    return close(op, shorter, dtype, rewrite(id, {{values.axis(axis).name(), values.axis(shorter)}}));
  }
  if (const auto equal = find_equal(op, axis, dtype, id)) return *equal;
  reductions_.push_back(
      values.add({.kind = Value::Kind::reduce, .dtype = dtype, .op = op, .axis = axis, .args = {id}}));
  return reductions_.back();
}

ValueId Elements::reduce(ir::Op op, std::int64_t extent, ir::DType dtype,
                         const std::function<ValueId(const ir::Expr&)>& body) {
  const int axis = values.new_axis(extent);
  return close(op, axis, dtype, body(values.axis(axis)));
}

ValueId Elements::rebuilt(ValueId reduction, const std::function<ValueId(ValueId)>& body) {
  const Value value = values[reduction];
  const int axis = values.new_axis(values.extent(value.axis));
  const ValueId same = rewrite(value.args[0], {{values.axis(value.axis).name(), values.axis(axis)}});
  return close(value.op, axis, value.dtype, body(same));
}

ir::Ranges loaded_ranges(const Elements& elements, const ir::Expr& condition) {
  ir::Ranges all = elements.ranges(condition);
  for (const std::string& name : ir::variables(condition))
    if (loaded(name) != ValueId::none) all.emplace_back(name, ir::Interval{INT32_MIN, INT32_MAX});
  ir::Ranges result = ir::narrowed(std::move(all), condition);
  std::erase_if(result, [](const auto& one) { return loaded(std::string(one.first)) == ValueId::none; });
  return result;
}

ValueId where(Elements& elements, ValueId root, const ir::Expr& condition) {
  const ir::Ranges known = loaded_ranges(elements, condition);
  fusion::Values& values = elements.values;
  return values.replace(root, [&](const Value& value) -> std::optional<ValueId> {
    if (value.kind != Value::Kind::assign || value.op != ir::Op::select) return std::nullopt;
    const Value asked = values[value.args[0]];
    if (asked.kind != Value::Kind::index) return std::nullopt;
    const ir::Expr e = named_index(values, asked)[0];
    ir::Ranges all = elements.ranges(e);
    all.insert(all.end(), known.begin(), known.end());
    const ir::Expr answer = ir::simplify(e, all);
    if (answer.kind() != ir::Expr::Kind::constant) return std::nullopt;
    return value.args[answer.value() != 0 ? 1 : 2];
  });
}

}  // namespace deplo::rules::raising
