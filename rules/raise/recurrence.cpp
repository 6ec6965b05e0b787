// Floats that a loop carries, as reductions over its trips. There are two kinds:
//   x' = x + f(k)                          x = sum over k of f(k). Products, maxima and minima work in the same way.
//   x' = x e^(m - m') + w(k) e^(s(k) - m')  The online softmax (Milakov and Gimelshein, arXiv 1805.02867). m is carried
//                                          as well, m' is its value after the trip, and M is its value after the last
//                                          trip. x e^m grows by w(k) e^s(k), so x = sum over k of w(k) e^(s(k) - M).
// In both kinds, the initial value is added; in the second kind, its share is x0 e^(m0 - M).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "ir/tile_program/attribute.h"
#include "rules/raise/conditions.h"
#include "rules/raise/evaluator.h"

namespace deplo::rules::raising {
namespace {

using fusion::Value;

ValueId rounded_constant(Elements& elements, double exact) {
  return elements.constant(static_cast<double>(static_cast<float>(exact)));
}

/// Is the factor a normal number? Other factors would lose digits, or turn a 0 into a NaN.
bool is_normal(double factor) { return std::isnormal(static_cast<float>(factor)); }

/// Rewrites a sum s + mask, where the mask is 0 or -inf, as a select of s or -inf. nullopt for other sums.
std::optional<Value> hidden(Elements& elements, const Value& sum) {
  const ValueId lowest = elements.constant(-std::numeric_limits<double>::infinity());
  for (const std::size_t side : {0, 1}) {
    Value mask = elements.values[sum.args[side]];
    if (mask.kind != Value::Kind::assign || mask.op != ir::Op::select) continue;
    for (const std::size_t shown : {1, 2})
      if (elements.is_constant(mask.args[shown], 0) && mask.args[3 - shown] == lowest) {
        mask.args[shown] = sum.args[1 - side];
        return mask;
      }
  }
  return std::nullopt;
}

/// factor * value, for a factor above 0. The factor moves into maxima and selects until it meets another factor, so
/// that the scores and their maximum are scaled in the same way.
ValueId scaled(Elements& elements, ValueId id, double factor) {
  const fusion::Values& values = elements.values;
  const Value value = values[id];
  const auto positive = [&](ValueId of) {
    const Value& c = values[of];
    return c.kind == Value::Kind::constant && c.constant > 0 && std::isfinite(c.constant);
  };
  const auto is_greatest = [](ir::Op op) { return op == ir::Op::maximum || op == ir::Op::minimum; };
  if (value.kind == Value::Kind::constant) return rounded_constant(elements, value.constant * factor);
  if (value.kind == Value::Kind::reduce && is_greatest(value.op))
    return elements.rebuilt(id, [&](ValueId body) { return scaled(elements, body, factor); });
  if (value.kind == Value::Kind::assign) {
    const std::vector<ValueId>& args = value.args;
    if (value.op == ir::Op::multiply)
      for (const std::size_t i : {0, 1})
        if (positive(args[i]) && is_normal(factor * values[args[i]].constant))
          return scaled(elements, args[1 - i], factor * values[args[i]].constant);
    if (value.op == ir::Op::divide && positive(args[1]) && is_normal(factor / values[args[1]].constant))
      return scaled(elements, args[0], factor / values[args[1]].constant);
    if (is_greatest(value.op))
      return elements.assign(value.op, {scaled(elements, args[0], factor), scaled(elements, args[1], factor)});
    const auto masked = value.op == ir::Op::add      ? hidden(elements, value)
                        : value.op == ir::Op::select ? std::optional(value)
                                                     : std::nullopt;
    if (masked)
      return elements.assign(ir::Op::select, {masked->args[0], scaled(elements, masked->args[1], factor),
                                              scaled(elements, masked->args[2], factor)});
  }
  return factor == 1 ? id : elements.assign(ir::Op::multiply, {id, rounded_constant(elements, factor)});
}

ValueId negated(Elements& elements, ValueId id) {
  const Value value = elements.values[id];
  if (value.kind == Value::Kind::constant) return elements.constant(-value.constant);
  if (value.kind == Value::Kind::assign && value.op == ir::Op::negative) return value.args[0];
  if (value.kind == Value::Kind::assign && value.op == ir::Op::subtract)
    return elements.assign(ir::Op::subtract, {value.args[1], value.args[0]});
  return elements.assign(ir::Op::negative, {id});
}

/// A value in the form coefficient * wanted + rest.
struct Isolated {
  double coefficient = 0;
  std::optional<ValueId> rest;
};

/// Brings a value into this form; nullopt if that is not possible.
std::optional<Isolated> isolate(Elements& elements, ValueId id, ValueId wanted) {
  if (id == wanted) return Isolated{1, {}};
  if (!contains(elements.values, id, wanted)) return Isolated{0, id};
  const Value value = elements.values[id];
  if (value.kind != Value::Kind::assign) return std::nullopt;
  const auto part = [&](std::size_t i) { return isolate(elements, value.args[i], wanted); };
  const auto times = [&](const std::optional<Isolated>& of, double factor) -> std::optional<Isolated> {
    if (!of) return std::nullopt;
    Isolated result{of->coefficient * factor, {}};
    if (of->rest && factor > 0) result.rest = scaled(elements, *of->rest, factor);
    if (of->rest && factor < 0) result.rest = scaled(elements, negated(elements, *of->rest), -factor);
    return result;
  };
  const auto constant = [&](std::size_t i) -> std::optional<double> {
    const Value& c = elements.values[value.args[i]];
    return c.kind == Value::Kind::constant ? std::optional(c.constant) : std::nullopt;
  };
  switch (value.op) {
    case ir::Op::negative:
      return times(part(0), -1);
    case ir::Op::multiply:
      if (const auto c = constant(1)) return times(part(0), *c);
      if (const auto c = constant(0)) return times(part(1), *c);
      return std::nullopt;
    case ir::Op::divide:
      if (const auto c = constant(1)) return times(part(0), 1 / *c);
      return std::nullopt;
    case ir::Op::add:
    case ir::Op::subtract: {
      const bool subtracts = value.op == ir::Op::subtract;
      const auto a = part(0), b = part(1);
      if (!a || !b) return std::nullopt;
      Isolated sum{a->coefficient + (subtracts ? -b->coefficient : b->coefficient), a->rest};
      if (b->rest && a->rest)
        sum.rest = elements.assign(value.op, {*a->rest, *b->rest});
      else if (b->rest)
        sum.rest = subtracts ? negated(elements, *b->rest) : *b->rest;
      return sum;
    }
    default:
      return std::nullopt;
  }
}

/// The same for the exponent of an e^x or a 2^x. The exponent is converted to base e.
std::optional<Isolated> isolate_in_exponent(Elements& elements, ValueId id, ValueId wanted) {
  const Value value = elements.values[id];
  if (value.kind != Value::Kind::assign || (value.op != ir::Op::exp && value.op != ir::Op::exp2)) return std::nullopt;
  auto exponent = isolate(elements, value.args[0], wanted);
  if (!exponent) return std::nullopt;
  const double factor = value.op == ir::Op::exp ? 1 : std::numbers::ln2;
  exponent->coefficient *= factor;
  if (exponent->rest) exponent->rest = scaled(elements, *exponent->rest, factor);
  return exponent;
}

/// Rewrites values that are proportional to e^(-c m) by replacing c m by another value.
struct Rebase {
  Elements& elements;
  ValueId from;                           // m
  double coefficient = 1;                 // c
  ValueId to;                             // the value that replaces c m
  std::vector<ir::Expr> conditions = {};  // if one is false, the score is -inf

  /// Returns nullopt if the value is not proportional to e^(-c m). Roundings to 16 bits are removed, because they are
  /// not proportional: with another maximum, a value would be scaled and rounded differently.
  std::optional<ValueId> run(ValueId id) {
    if (elements.is_constant(id, 0)) return id;
    const Value value = elements.values[id];
    if (value.kind == Value::Kind::reduce && value.op == ir::Op::add) return reduced(id);
    if (value.kind != Value::Kind::assign) return std::nullopt;
    std::vector<ValueId> args = value.args;
    const auto with = [&](std::initializer_list<std::size_t> proportional) -> std::optional<ValueId> {
      for (std::size_t i = 0; i < args.size(); ++i) {
        if (std::ranges::find(proportional, i) == proportional.end()) {
          if (contains(elements.values, args[i], from)) return std::nullopt;
        } else if (const auto part = run(args[i])) {
          args[i] = *part;
        } else {
          return std::nullopt;
        }
      }
      return elements.assign(value.op, args, value.dtype);
    };
    switch (value.op) {
      case ir::Op::exp:
      case ir::Op::exp2:
        return exponential(id);
      case ir::Op::round_f16:
      case ir::Op::round_bf16:
        return run(args[0]);
      case ir::Op::negative:
      case ir::Op::divide:
        return with({0});
      case ir::Op::add:
      case ir::Op::subtract:
        return with({0, 1});
      case ir::Op::select:
        return with({1, 2});
      case ir::Op::multiply:
        return contains(elements.values, args[0], from) ? with({0}) : with({1});
      default:
        return std::nullopt;
    }
  }

 private:
  std::optional<ValueId> reduced(ValueId id) {
    bool proportional = true;
    const ValueId result = elements.rebuilt(id, [&](ValueId body) {
      const auto other = run(body);
      proportional = other.has_value();
      return other.value_or(body);
    });
    return proportional ? std::optional(result) : std::nullopt;
  }

  std::optional<ValueId> exponential(ValueId id) {
    const auto exponent = isolate_in_exponent(elements, id, from);
    const auto is = [&](double c) { return std::fabs(exponent->coefficient + c) <= 1e-6 * std::fabs(c); };
    if (!exponent || !exponent->rest || !is(coefficient)) return std::nullopt;
    const ValueId score = guarded(elements, ir::Op::maximum, scaled(elements, *exponent->rest, 1), conditions);
    return elements.assign(ir::Op::exp, {elements.assign(ir::Op::subtract, {score, to})});
  }
};

/// The next carried value in terms of the previous one: (value * decay) op term op term ….
struct Step {
  std::optional<ir::Op> op;
  std::vector<ValueId> terms;
  std::optional<ValueId> decay;
};

class Recurrence {
 public:
  Recurrence(Evaluator& in, const tp::Operation& loop, std::size_t carried, Index index)
      : in_(in), loop_(loop), carried_(carried), index_(std::move(index)), trips_(trips_of(in, loop)) {}

  ValueId run() {
    const ValueId initial = in_.value(loop_.operand_list("init")[carried_], index_);
    if (trips_.count == 0) return initial;
    axis_ = elements().values.new_axis(trips_.count);
    trip_ = trips_.count == 1 ? ir::Expr(0) : elements().values.axis(axis_);
    evaluate_trip();
    if (!read(next_.at(0), next_.at(0)))
      in_.refuse(loop_, fmt::format("carried value {} is not a sum, product, maximum or minimum over the trips",
                                    carried_ + 1));
    return step_.decay ? decaying(initial) : accumulated(initial);
  }

 private:
  /// An element of a loop-carried float. `before` is a load without an array that stands for the value after the
  /// previous trip.
  struct Carried {
    std::size_t number;
    Index index;
    ValueId before;
  };
  Elements& elements() { return in_.elements; }

  /// Evaluates the element, and the carried elements on which it depends, at the end of a trip.
  void evaluate_trip() {
    const std::vector<tp::ValueId> all(loop_.regions[0].arguments.begin() + 1, loop_.regions[0].arguments.end());
    std::map<tp::ValueId, ElementAt> arguments;
    for (std::size_t i = 0; i < all.size(); ++i)
      arguments[all[i]] = [this, i, id = all[i]](const Index& at) -> Element {
        const tp::Type& type = in_.type(id);
        if (ir::is_integral(type.element) || type.pointer) return in_trip(in_, loop_, i, trips_.number(trip_), at);
        return {0, before(i, at)};
      };
    arguments[loop_.regions[0].arguments[0]] = [this](const Index&) -> Element {
      return {elements().simplify(trips_.counter(trip_))};
    };
    before(carried_, index_);
    in_.enter(loop_.regions[0], std::move(arguments));
    for (std::size_t i = 0; i < carried_elements_.size(); ++i) {  // the vector grows inside the loop
      const Carried one = carried_elements_[i];
      next_.push_back(in_.value(loop_.regions[0].operations.back().operands[one.number], one.index));
    }
    in_.leave();
  }

  ValueId before(std::size_t number, const Index& index) {
    for (const Carried& one : carried_elements_)
      if (one.number == number && one.index == index) return one.before;
    if (!carried_elements_.empty() && number == carried_)
      in_.refuse(loop_, "a trip reads the elements of the previous trip at different indices");
    const int marker = -2 - static_cast<int>(in_.next_marker());
    const ValueId load = elements().values.add({.kind = Value::Kind::load, .tensor = marker, .index = index});
    carried_elements_.push_back({number, index, load});
    return load;
  }

  /// Another carried element on which the value depends; nullptr if there is none.
  const Carried* other_in(ValueId id) {
    for (std::size_t i = 1; i < carried_elements_.size(); ++i)
      if (contains(elements().values, id, carried_elements_[i].before)) return &carried_elements_[i];
    return nullptr;
  }

  bool read(ValueId id, ValueId whole) {
    const ValueId marker = carried_elements_[0].before;
    if (id == marker) return true;
    const Value value = elements().values[id];
    if (step_.decay || value.kind != Value::Kind::assign || value.args.size() != 2) return false;
    const bool on_left = contains(elements().values, value.args[0], marker), subtracts = value.op == ir::Op::subtract;
    const ValueId term = value.args[on_left ? 1 : 0], rest = value.args[on_left ? 0 : 1];
    if (on_left == contains(elements().values, value.args[1], marker) || (subtracts && !on_left)) return false;
    const bool sums = !step_.op || *step_.op == ir::Op::add;
    if (value.op == ir::Op::multiply && sums && other_in(term) != nullptr) {
      step_.decay = term;
      return read(rest, whole);
    }
    const ir::Op op = subtracts ? ir::Op::add : value.op;
    if (!ir::neutral(op) || (step_.op && *step_.op != op)) return false;
    step_.op = op;
    step_.terms.push_back(subtracts ? elements().assign(ir::Op::negative, {term}) : term);
    return read(rest, whole);
  }

  ValueId accumulated(ValueId initial) {
    ValueId result = initial;
    for (auto term = step_.terms.rbegin(); term != step_.terms.rend(); ++term) {
      if (const Carried* other = other_in(*term))
        in_.refuse(loop_, fmt::format("carried value {} depends on carried value {}", carried_ + 1, other->number + 1));
      // Maxima are scaled like exponents, so that the scores and their maximum are recognised as equal.
      const ValueId part = *step_.op == ir::Op::maximum ? scaled(elements(), *term, 1) : *term;
      result = combined(*step_.op, result, over_trips(*step_.op, guarded(elements(), *step_.op, part, conditions())));
    }
    return result;
  }

  ValueId decaying(ValueId initial) {
    const Carried maximum = *other_in(*step_.decay);
    const auto left = std::ranges::find(carried_elements_, maximum.before, &Carried::before);
    const ValueId next = next_.at(static_cast<std::size_t>(left - carried_elements_.begin()));
    const auto fail = [&] {
      in_.refuse(
          loop_,
          fmt::format(
              "carried value {} depends on carried value {}, but not as in a softmax: x e^(m - m') + w e^(s - m')",
              carried_ + 1, maximum.number + 1));
    };
    const double c = decay_rate(maximum.before, next);
    if (c <= 0) fail();
    const ValueId last = scaled(elements(), in_.value(loop_.results[maximum.number], maximum.index), c);
    ValueId result = begun(initial, maximum, c, last);
    Rebase rebase{elements(), next, c, last, conditions()};
    for (auto term = step_.terms.rbegin(); term != step_.terms.rend(); ++term) {
      const auto part = rebase.run(*term);
      if (!part || other_in(*part) != nullptr) fail();
      result = combined(ir::Op::add, result, over_trips(ir::Op::add, *part));
    }
    return result;
  }

  /// c of a decay e^(c (m - m')); 0 if the decay has another form.
  double decay_rate(ValueId before, ValueId next) {
    const auto minus_next = isolate_in_exponent(elements(), *step_.decay, next);
    if (!minus_next || !minus_next->rest) return 0;
    const auto plus_before = isolate(elements(), *minus_next->rest, before);
    const double c = -minus_next->coefficient;
    if (!plus_before || plus_before->rest || std::fabs(plus_before->coefficient - c) > 1e-6 * std::fabs(c)) return 0;
    return c;
  }

  /// The initial value's share of the result: x0 e^(m0 - M).
  ValueId begun(ValueId initial, const Carried& maximum, double c, ValueId last) {
    if (elements().is_constant(initial, 0)) return initial;
    const ValueId first = scaled(elements(), in_.value(loop_.operand_list("init")[maximum.number], maximum.index), c);
    Rebase rebase{elements(), first, 1, last};
    if (const auto rebased = rebase.run(initial)) return *rebased;
    const ValueId change = elements().assign(ir::Op::subtract, {first, last});
    return elements().assign(ir::Op::multiply, {initial, elements().assign(ir::Op::exp, {change})});
  }

  std::vector<ir::Expr> conditions() { return trips_.conditions(trip_); }

  ValueId over_trips(ir::Op op, ValueId term) {
    return trips_.count == 1 ? term : elements().close(op, axis_, ir::DType::f32, term);
  }

  ValueId combined(ir::Op op, ValueId initial, ValueId trips) {
    if (elements().is_constant(initial, *ir::neutral(op))) return trips;
    if (elements().is_constant(trips, *ir::neutral(op))) return initial;
    const auto both = unite(elements(), op, initial, trips);
    return both ? *both : elements().assign(op, {initial, trips});
  }

  Evaluator& in_;
  const tp::Operation& loop_;
  std::size_t carried_;
  Index index_;
  Trips trips_;
  int axis_ = -1;
  ir::Expr trip_;
  std::vector<Carried> carried_elements_;  // begins with the element of this recurrence
  std::vector<ValueId> next_;              // value of each of them after the trip
  Step step_;
};

}  // namespace

ValueId after_trips(Evaluator& in, const tp::Operation& loop, std::size_t carried, const Index& index) {
  return Recurrence(in, loop, carried, index).run();
}

}  // namespace deplo::rules::raising
