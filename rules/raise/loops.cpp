// Loops, whose carried counters have closed forms (recurrence.cpp has those of carried floats); reductions of tiles;
// branches.
#include <fmt/format.h>

#include <algorithm>

#include "ir/tile_program/attribute.h"
#include "rules/raise/evaluator.h"

namespace deplo::rules::raising {
namespace {

const tp::Operation& terminator(const tp::Region& region) { return region.operations.back(); }

std::vector<tp::ValueId> carried_arguments(const tp::Operation& loop) {
  const auto& all = loop.regions[0].arguments;
  return {all.begin() + 1, all.end()};
}

Element for_loop(Evaluator& in, const tp::Operation& op, std::size_t result, const Index& index) {
  const tp::Type& type = in.type(op.results[result]);
  if (type.pointer || ir::is_integral(type.element)) return in_trip(in, op, result, trips_of(in, op).taken(), index);
  return {0, after_trips(in, op, result, index)};
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
  if (condition.value == ValueId::none && known.kind() == ir::Expr::Kind::constant)
    return taken(known.value() != 0 ? 0 : 1);
  const tp::Type& type = in.type(op.results[result]);
  if (type.pointer || !type.is_tile()) in.refuse(op, "expected a condition known from the arguments");
  const ValueId c = condition.value != ValueId::none ? condition.value : in.elements.index(known, ir::DType::boolean);
  const ir::DType dtype = computed_in(type.element);
  return element_of(
      dtype, in.elements.assign(ir::Op::select, {c, in.value_of(type, taken(0)), in.value_of(type, taken(1))}, dtype));
}

/// The operation with which the body of a reduction combines two elements.
ir::Op combining(Evaluator& in, const tp::Operation& op) {
  const tp::Region& body = op.regions[0];
  const bool one = body.operations.size() == 2 && op.results.size() == 1;
  const auto word = one ? reducing(body.operations[0].form->name) : std::nullopt;
  if (!word) in.refuse(op, "expected a body of one sum, product, maximum or minimum");
  const auto& args = body.operations[0].operands;
  if (args.size() != 2 || args[0] == args[1] || std::ranges::count(body.arguments, args[0]) == 0 ||
      std::ranges::count(body.arguments, args[1]) == 0 || terminator(body).operands != body.operations[0].results)
    in.refuse(op, "expected a body that combines its two elements");
  check_rounding(in, body.operations[0]);
  return *word;
}

Element reduction(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  const ir::Op word = combining(in, op);
  const auto dim = static_cast<std::size_t>(op.number("dim"));
  const tp::Type& type = in.type(op.operands[0]);
  if (ir::is_integral(type.element) && type.element != ir::DType::i32)
    in.refuse(op, fmt::format("Loop IR reduces f32 and i32, found {}", ir::tile_name(type.element)));
  const bool whole = ir::is_integral(type.element);
  const tp::Operation& combined = op.regions[0].operations[0];
  if (whole && has_attribute(combined, "signedness") && combined.number("signedness") == 0)
    in.refuse(op, "expected signed numbers");
  if (!whole && type.element != ir::DType::f32)
    in.refuse(op, fmt::format("Loop IR sums in f32, found {}", ir::tile_name(type.element)));
  const ir::DType dtype = computed_in(type.element);
  return element_of(dtype, in.elements.reduce(word, type.shape[dim], dtype, [&](const ir::Expr& k) {
    Index at = index;
    at.insert(at.begin() + static_cast<std::ptrdiff_t>(dim), k);
    return in.value(op.operands[0], at);
  }));
}

}  // namespace

std::int64_t step_of(Evaluator& in, const tp::Operation& loop) {
  const std::int64_t step = in.number(loop, loop.operand("step"), "a step");
  if (step <= 0) in.refuse(loop, fmt::format("expected a step above 0, found {}", step));
  if (loop.number("unsigned") == 0) return step;
  for (const std::string_view bound : {"lower", "upper"}) {
    const auto range = in.elements.bounds(in.elements.simplify(in.scalar(loop.operand(bound))));
    if (!range || range->low < 0) in.refuse(loop, "expected bounds of an unsigned counter that are at least 0");
  }
  return step;
}

std::int64_t trips(Evaluator& in, const tp::Operation& loop) {
  const std::int64_t lower = in.number(loop, loop.operand("lower"), "bounds"),
                     upper = in.number(loop, loop.operand("upper"), "bounds"), step = step_of(in, loop);
  return upper > lower ? (upper - lower + step - 1) / step : 0;
}

ir::Expr Trips::number(const ir::Expr& trip) const {
  return lower.kind() == ir::Expr::Kind::constant ? trip : (counter(trip) - lower) / step;
}

ir::Expr Trips::taken() const {
  const bool same = lower.kind() == ir::Expr::Kind::constant && upper.kind() == ir::Expr::Kind::constant;
  return same ? ir::Expr(count) : ir::Expr(ir::ExprOp::max, (upper - lower + (step - 1)) / step, 0);
}

std::vector<ir::Expr> Trips::conditions(const ir::Expr& trip) const {
  std::vector<ir::Expr> all;
  if (lower.kind() != ir::Expr::Kind::constant) all.push_back(ir::less(lower, counter(trip) + 1));
  if (upper.kind() != ir::Expr::Kind::constant) all.push_back(ir::less(counter(trip), upper));
  return all;
}

Trips trips_of(Evaluator& in, const tp::Operation& loop) {
  Trips trips{.lower = in.elements.simplify(in.scalar(loop.operand("lower"))),
              .upper = in.elements.simplify(in.scalar(loop.operand("upper")))};
  const auto first = in.elements.bounds(trips.lower), last = in.elements.bounds(trips.upper);
  if (!first || !last)
    in.refuse(loop, fmt::format("expected bounds that depend only on the arguments and the block, found {}",
                                ir::print(first ? trips.upper : trips.lower)));
  trips.step = step_of(in, loop);
  trips.low = first->low;
  if (ir::known_divisor(in.elements.simplify(trips.lower - trips.low)) % trips.step != 0)
    in.refuse(loop, fmt::format("expected a lower bound at a multiple of the step, found {}", ir::print(trips.lower)));
  trips.count = last->high > trips.low ? (last->high - trips.low + trips.step - 1) / trips.step : 0;
  return trips;
}

Element in_trip(Evaluator& in, const tp::Operation& loop, std::size_t carried, const ir::Expr& trip,
                const Index& index) {
  Element result = in.at(loop.operand_list("init")[carried], index);
  if (trip.is_constant(0)) return result;
  const std::string before = "c" + std::to_string(in.next_marker());
  in.elements.declare(before);
  std::map<tp::ValueId, ElementAt> arguments;
  const std::vector<tp::ValueId> all = carried_arguments(loop);
  for (std::size_t i = 0; i < all.size(); ++i)
    arguments[all[i]] = [&, i](const Index& other) -> Element {
      if (i != carried || other != index)
        in.refuse(loop, fmt::format("carried value {} is not a counter", carried + 1));
      return {ir::var(before), ValueId::none, result.array};
    };
  arguments[loop.regions[0].arguments[0]] = [&](const Index&) -> Element {
    in.refuse(loop, fmt::format("carried value {} does not change by the same amount in each trip", carried + 1));
  };
  in.enter(loop.regions[0], std::move(arguments));
  const Element next = in.at(terminator(loop.regions[0]).operands[carried], index);
  in.leave();
  const ir::Expr step = in.elements.simplify(next.index - ir::var(before));
  if (next.value != ValueId::none || next.array != result.array || ir::depends_on(step, before) ||
      (step.kind() != ir::Expr::Kind::constant && trip.kind() != ir::Expr::Kind::constant))
    in.refuse(loop, fmt::format("carried value {} does not change by the same amount in each trip", carried + 1));
  result.index = in.elements.simplify(
      result.index + (step.kind() == ir::Expr::Kind::constant ? trip * step.value() : step * trip.value()));
  return result;
}

std::vector<NamedRaiser> loop_raisers() { return {{"for", for_loop}, {"if", branch}, {"reduce", reduction}}; }

}  // namespace deplo::rules::raising
