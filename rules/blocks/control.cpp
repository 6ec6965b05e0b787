// Loops, branches and jumps. All threads of a block take the same path: a condition has one element, whose value all
// threads know.
#include "rules/blocks/lowering.h"
#include "rules/blocks/rows.h"

namespace deplo::rules::blocks {
namespace {

/// An endless loop. If threads communicate in its body, a barrier precedes each trip.
void repeat(Lowering& l, const Operation& op, const std::function<void()>& head, std::function<void()> next) {
  const bool waits = l.plan.communicates(op.regions[0]);
  l.owners.push_back(&op);
  l.next.push_back(std::move(next));
  l.add(ir::Forever{l.within([&] {
    head();
    if (waits) l.barrier();
    l.region(op.regions[0]);
  })});
  l.next.pop_back();
  l.owners.pop_back();
  if (waits) l.barrier();
}

/// Counts the trips before the loop starts, because the counter may wrap at the end of its range.
void for_loop(Lowering& l, const Operation& op) {
  const std::vector<ValueId>& arguments = op.regions[0].arguments;
  const std::vector<ValueId> carried(arguments.begin() + 1, arguments.end());
  for (const ValueId id : carried) l.declare(id);
  l.assign(carried, op.operand_list("init"));
  for (std::size_t i = 0; i < carried.size(); ++i) l.share(op.results[i], carried[i]);

  const DType number = l.dtype(arguments[0]);
  const std::int64_t is_signed = op.number("unsigned") == 0 ? 1 : 0;
  const auto compare = [&](const Name& a, const Name& b, std::int64_t with_sign) {
    const auto less = static_cast<std::int64_t>(tp::Comparison::less);
    return l.compute("cmpi", DType::boolean, {a, b}, {{"comparison_predicate", less}, {"signedness", with_sign}});
  };
  const Name lower = l.scalar(op.operand("lower")), upper = l.scalar(op.operand("upper")),
             step = l.scalar(op.operand("step")), one = l.whole(number, 1), zero = l.whole(number, 0);
  const Name span = l.compute("subi", number, {l.compute("subi", number, {upper, lower}), one});
  const Name trips = l.select(compare(lower, upper, is_signed), number,
                              l.compute("addi", number, {l.compute("divi", number, {span, step}), one}), zero);
  const Stored trip{l.fresh("v"), number}, counter{l.fresh("v"), number};
  for (const Stored* variable : {&trip, &counter}) l.add(ir::Local{variable->array, number, 1});
  l.write(trip, only, zero);
  l.write(counter, only, lower);
  const auto head = [&] {
    l.branch(compare(l.read(trip, only), trips, 0), true, [&] { l.add(ir::Jump{ir::Jump::To::after}); });
    l.bind(arguments[0], l.read(counter, only));
  };
  repeat(l, op, head, [&l, trip, counter, number, one, step] {
    l.write(trip, only, l.compute("addi", number, {l.read(trip, only), one}));
    l.write(counter, only, l.compute("addi", number, {l.read(counter, only), step}));
  });
}

void loop(Lowering& l, const Operation& op) {
  for (const ValueId id : op.regions[0].arguments) l.declare(id);
  l.assign(op.regions[0].arguments, op.operand_list("init"));
  for (const ValueId id : op.results) l.declare(id);
  repeat(
      l, op, [] {}, [] {});
}

void if_else(Lowering& l, const Operation& op) {
  for (const ValueId id : op.results) l.declare(id);
  const Name condition = l.scalar(op.operands[0]);
  l.owners.push_back(&op);
  l.fork(condition, op.regions[0], op.regions[1]);
  l.owners.pop_back();
}

void yield(Lowering& l, const Operation& op) { l.assign(l.owners.back()->results, op.operands); }

const Operation& loop_around(const Lowering& l) {
  auto at = l.owners.rbegin();
  while ((*at)->form->name == "if") ++at;
  return **at;
}

void next(Lowering& l, const Operation& op) {
  const Operation& around = loop_around(l);
  const std::vector<ValueId>& arguments = around.regions[0].arguments;
  l.assign({arguments.begin() + (around.form->name == "for" ? 1 : 0), arguments.end()}, op.operands);
  l.next.back()();
  l.add(ir::Jump{ir::Jump::To::next});
}

void leave(Lowering& l, const Operation& op) {
  l.assign(loop_around(l).results, op.operands);
  l.add(ir::Jump{ir::Jump::To::after});
}

void end(Lowering& l, const Operation&) { l.add(ir::Jump{ir::Jump::To::end}); }

}  // namespace

std::vector<Row> control_rows() {
  return {{.name = "for", .statement = for_loop},  {.name = "loop", .statement = loop},
          {.name = "if", .statement = if_else},    {.name = "yield", .statement = yield},
          {.name = "continue", .statement = next}, {.name = "break", .statement = leave},
          {.name = "return", .statement = end}};
}

}  // namespace deplo::rules::blocks
