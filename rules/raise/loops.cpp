// Loops, whose carried sums become reductions and whose carried counters closed forms; reductions of tiles; branches.
#include <fmt/format.h>

#include <algorithm>

#include "ir/tile_program/attribute.h"
#include "rules/raise/evaluator.h"

namespace deplo::rules::raising {
namespace {

using fusion::Value;

/// Tells the values that a loop carries from all others: a load of no array.
ValueId make_marker(Evaluator& in, const Index& index) {
  const int number = -2 - static_cast<int>(in.next_marker());
  return in.elements.values.add({.kind = Value::Kind::load, .tensor = number, .index = index});
}

const tp::Operation& terminator(const tp::Region& region) { return region.operations.back(); }

std::vector<tp::ValueId> carried_arguments(const tp::Operation& loop) {
  const auto& all = loop.regions[0].arguments;
  return {all.begin() + 1, all.end()};
}

/// What is combined with what a trip finds, trip by trip: of `marker + f + g`, add and f, g.
struct Accumulation {
  std::optional<ir::Op> op;
  std::vector<ValueId> terms;
  bool found = false;  // the marker
};

bool contains(Evaluator& in, ValueId root, ValueId marker) {
  return std::ranges::count(in.elements.below(root), marker) > 0;
}

/// False where it is no such chain.
bool read_accumulation(Evaluator& in, ValueId id, ValueId marker, Accumulation& result) {
  if (id == marker) return result.found = true;
  const Value value = in.elements.values[id];
  if (value.kind != Value::Kind::assign || value.args.size() != 2) return false;
  const bool on_left = contains(in, value.args[0], marker), subtracts = value.op == ir::Op::subtract;
  if (on_left == contains(in, value.args[1], marker) || (subtracts && !on_left)) return false;
  const ir::Op op = subtracts ? ir::Op::add : value.op;
  if (!ir::neutral(op) || (result.op && *result.op != op)) return false;
  result.op = op;
  const ValueId term = value.args[on_left ? 1 : 0];
  result.terms.push_back(subtracts ? in.elements.assign(ir::Op::negative, {term}) : term);
  return read_accumulation(in, value.args[on_left ? 0 : 1], marker, result);
}

/// A float that the loop carries, behind its last trip.
Element accumulated(Evaluator& in, const tp::Operation& loop, std::size_t carried, const Index& index) {
  const tp::ValueId initial = loop.operand_list("init")[carried];
  const std::int64_t trips = in.trips(loop);
  if (trips == 0) return in.at(initial, index);
  const ValueId marker = make_marker(in, index);
  const int axis = in.elements.values.new_axis(trips);
  const ir::Expr trip = trips == 1 ? ir::Expr(0) : in.elements.values.axis(axis);
  std::map<tp::ValueId, ElementAt> arguments;
  const std::vector<tp::ValueId> all = carried_arguments(loop);
  for (std::size_t i = 0; i < all.size(); ++i)
    arguments[all[i]] = [&, i](const Index& at) -> Element {
      const tp::Type& type = in.type(all[i]);
      if (tp::is_integer(type.element) || type.pointer) return in.in_trip(loop, i, trip, at);
      if (i == carried && at == index) return {0, marker};
      in.refuse(loop, i == carried ? "a trip reads other elements of what the trip before it left"
                                   : fmt::format("carried value {} depends on carried value {}", carried + 1, i + 1));
    };
  const ir::Expr start = in.number(loop, loop.operand("lower"), "bounds");
  const ir::Expr step = in.number(loop, loop.operand("step"), "a step");
  arguments[loop.regions[0].arguments[0]] = [&](const Index&) -> Element {
    return {in.elements.simplify(start + trip * step)};
  };
  in.enter(loop.regions[0], std::move(arguments));
  const ValueId next = in.value(terminator(loop.regions[0]).operands[carried], index);
  in.leave();
  Accumulation sum;
  if (!read_accumulation(in, next, marker, sum))
    in.refuse(loop, fmt::format("carried value {} is no sum, product, maximum or minimum over the trips", carried + 1));
  ValueId result = in.value(initial, index);
  for (auto term = sum.terms.rbegin(); term != sum.terms.rend(); ++term) {
    const ValueId all_trips = trips == 1 ? *term : in.elements.close(*sum.op, axis, ir::DType::f32, *term);
    const bool neutral = in.elements.is_constant(result, *ir::neutral(*sum.op));
    result = neutral ? all_trips : in.elements.assign(*sum.op, {result, all_trips});
  }
  return {0, result};
}

Element for_loop(Evaluator& in, const tp::Operation& op, std::size_t result, const Index& index) {
  const tp::Type& type = in.type(op.results[result]);
  if (type.pointer || tp::is_integer(type.element)) return in.in_trip(op, result, in.trips(op), index);
  return accumulated(in, op, result, index);
}

Element branch(Evaluator& in, const tp::Operation& op, std::size_t result, const Index& index) {
  const Element condition = in.at(op.operand("condition"), {});
  const auto taken = [&](std::size_t region) {
    in.enter(op.regions[region], {});
    const Element element = in.at(terminator(op.regions[region]).operands[result], index);
    in.leave();
    return element;
  };
  const ir::Expr known = in.elements.simplify(condition.index);
  if (condition.value < 0 && known.kind() == ir::Expr::Kind::constant) return taken(known.value() != 0 ? 0 : 1);
  const tp::Type& type = in.type(op.results[result]);
  if (type.pointer || !type.is_tile()) in.refuse(op, "expected a condition that the arguments decide");
  const ValueId c = condition.value >= 0 ? condition.value : in.elements.index(known, ir::DType::boolean);
  const ir::DType dtype = type.element == tp::Element::i1 ? ir::DType::boolean
                          : tp::is_integer(type.element)  ? ir::DType::i32
                                                          : ir::DType::f32;
  const ValueId value =
      in.elements.assign(ir::Op::select, {c, in.value_of(type, taken(0)), in.value_of(type, taken(1))}, dtype);
  if (dtype == ir::DType::i32) return {ir::var(loaded_name(value))};
  return {0, value};
}

/// The operation by which a body combines two elements.
ir::Op combining(Evaluator& in, const tp::Operation& op) {
  const tp::Region& body = op.regions[0];
  const bool one = body.operations.size() == 2 && op.results.size() == 1;
  const auto word = one ? reducing(body.operations[0].form->name) : std::nullopt;
  if (!word) in.refuse(op, "expected a body of one sum, product, maximum or minimum");
  const auto& args = body.operations[0].operands;
  if (args.size() != 2 || args[0] == args[1] || std::ranges::count(body.arguments, args[0]) == 0 ||
      std::ranges::count(body.arguments, args[1]) == 0)
    in.refuse(op, "expected a body that combines its two elements");
  return *word;
}

Element reduction(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  const ir::Op word = combining(in, op);
  const auto dim = static_cast<std::size_t>(op.number("dim"));
  const tp::Type& type = in.type(op.operands[0]);
  if (tp::is_integer(type.element) && type.element != tp::Element::i32)
    in.refuse(op, fmt::format("Loop IR reduces f32 and i32, found {}", tp::name(type.element)));
  const bool whole = tp::is_integer(type.element);
  const tp::Operation& combined = op.regions[0].operations[0];
  if (whole && has_attribute(combined, "signedness") && combined.number("signedness") == 0)
    in.refuse(op, "expected numbers with a sign");
  if (!whole && type.element != tp::Element::f32)
    in.refuse(op, fmt::format("Loop IR sums in f32, found {}", tp::name(type.element)));
  const ValueId value =
      in.elements.reduce(word, type.shape[dim], whole ? ir::DType::i32 : ir::DType::f32, [&](const ir::Expr& k) {
        Index at = index;
        at.insert(at.begin() + static_cast<std::ptrdiff_t>(dim), k);
        return in.value(op.operands[0], at);
      });
  if (whole) return {ir::var(loaded_name(value))};
  return {0, value};
}

}  // namespace

std::int64_t Evaluator::trips(const tp::Operation& loop) {
  const std::int64_t lower = number(loop, loop.operand("lower"), "bounds"),
                     upper = number(loop, loop.operand("upper"), "bounds"),
                     step = number(loop, loop.operand("step"), "a step");
  if (step <= 0) refuse(loop, fmt::format("expected a step above 0, found {}", step));
  return upper > lower ? (upper - lower + step - 1) / step : 0;
}

/// Of an integer or a pointer that each trip moves by the same.
Element Evaluator::in_trip(const tp::Operation& loop, std::size_t carried, const ir::Expr& trip, const Index& index) {
  Element result = at(loop.operand_list("init")[carried], index);
  if (trip.is_constant(0)) return result;
  const std::string before = "c" + std::to_string(next_marker());
  elements.declare(before);
  std::map<tp::ValueId, ElementAt> arguments;
  const std::vector<tp::ValueId> all = carried_arguments(loop);
  for (std::size_t i = 0; i < all.size(); ++i)
    arguments[all[i]] = [&, i](const Index& other) -> Element {
      if (i != carried || other != index) refuse(loop, fmt::format("carried value {} is no counter", carried + 1));
      return {ir::var(before), -1, result.array};
    };
  arguments[loop.regions[0].arguments[0]] = [&](const Index&) -> Element {
    refuse(loop, fmt::format("carried value {} does not move by the same in each trip", carried + 1));
  };
  enter(loop.regions[0], std::move(arguments));
  const Element next = at(terminator(loop.regions[0]).operands[carried], index);
  leave();
  const ir::Expr step = elements.simplify(next.index - ir::var(before));
  if (next.value >= 0 || next.array != result.array || ir::depends_on(step, before) ||
      (step.kind() != ir::Expr::Kind::constant && trip.kind() != ir::Expr::Kind::constant))
    refuse(loop, fmt::format("carried value {} does not move by the same in each trip", carried + 1));
  result.index = elements.simplify(
      result.index + (step.kind() == ir::Expr::Kind::constant ? trip * step.value() : step * trip.value()));
  return result;
}

std::vector<NamedRaiser> loop_raisers() { return {{"for", for_loop}, {"if", branch}, {"reduce", reduction}}; }

}  // namespace deplo::rules::raising
