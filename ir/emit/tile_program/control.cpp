// Loops, branches and jumps. Every thread of a block goes the same way: a condition has one element, which all of them
// know.
#include <fmt/format.h>

#include "ir/emit/tile_program/emitter.h"
#include "ir/emit/tile_program/rows.h"

namespace deplo::ir::tile_program::blocks {
namespace {

/// The region of a loop, which threads begin together if they pass anything on in it.
void repeat(Emitter& e, const Operation& op, const std::string& head) {
  const bool waits = e.plan.communicates(op.regions[0]);
  e.owners.push_back(&op);
  e.within(head, [&] {
    if (waits) e.barrier();
    e.region(op.regions[0]);
  });
  e.owners.pop_back();
  if (waits) e.barrier();
}

void for_loop(Emitter& e, const Operation& op) {
  const std::vector<ValueId>& arguments = op.regions[0].arguments;
  const std::vector<ValueId> carried(arguments.begin() + 1, arguments.end());
  for (const ValueId id : carried) e.declare(id);
  e.assign(carried, op.operand_list("init"));
  for (std::size_t i = 0; i < carried.size(); ++i) e.share(op.results[i], carried[i]);

  // As many trips as fit before the end: a counter that would wrap is past it.
  const int width = ir::width(e.type(arguments[0]).element);
  const std::string number = integer_type(width, false), compared = integer_type(width, op.number("unsigned") == 0);
  const std::string lower = e.scalar(op.operand("lower")), upper = e.scalar(op.operand("upper")),
                    step = e.scalar(op.operand("step"));
  const std::string trips = e.fresh("trips"), trip = e.fresh("trip"), counter = e.fresh("e");
  e.print("const {0} {1} = ({2}){3} < ({2}){4} ? ({0})({4} - {3} - 1u) / {5} + 1u : 0u;", number, trips, compared,
          lower, upper, step);
  e.print("{} {} = {};", number, counter, lower);
  e.bind(arguments[0], counter);
  repeat(e, op, fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1}, {3} += {4})", number, trip, trips, counter, step));
}

void loop(Emitter& e, const Operation& op) {
  for (const ValueId id : op.regions[0].arguments) e.declare(id);
  e.assign(op.regions[0].arguments, op.operand_list("init"));
  for (const ValueId id : op.results) e.declare(id);
  repeat(e, op, "for (;;)");
}

void if_else(Emitter& e, const Operation& op) {
  for (const ValueId id : op.results) e.declare(id);
  const std::string condition = e.scalar(op.operands[0]);
  e.owners.push_back(&op);
  e.branch(condition + " != 0", op.regions[0], op.regions[1]);
  e.owners.pop_back();
}

void yield(Emitter& e, const Operation& op) { e.assign(e.owners.back()->results, op.operands); }

const Operation& loop_around(const Emitter& e) {
  auto at = e.owners.rbegin();
  while ((*at)->form->name == "if") ++at;
  return **at;
}

void next(Emitter& e, const Operation& op) {
  const Operation& around = loop_around(e);
  const std::vector<ValueId>& arguments = around.regions[0].arguments;
  e.assign({arguments.begin() + (around.form->name == "for" ? 1 : 0), arguments.end()}, op.operands);
  e.line("continue;");
}

void leave(Emitter& e, const Operation& op) {
  e.assign(loop_around(e).results, op.operands);
  e.line("break;");
}

void end(Emitter& e, const Operation&) { e.line("return;"); }

}  // namespace

std::vector<Row> control_rows() {
  return {{.name = "for", .statement = for_loop},  {.name = "loop", .statement = loop},
          {.name = "if", .statement = if_else},    {.name = "yield", .statement = yield},
          {.name = "continue", .statement = next}, {.name = "break", .statement = leave},
          {.name = "return", .statement = end}};
}

}  // namespace deplo::ir::tile_program::blocks
