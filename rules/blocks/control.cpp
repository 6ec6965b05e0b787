// Loops, branches and jumps. All threads of a block take the same path: a condition has one element, whose value all
// threads know.
#include "rules/blocks/control.h"

#include <map>
#include <utility>

#include "rules/blocks/rows.h"

namespace deplo::rules::blocks {
namespace {

/// Throws Error if the region does more than compute one-element values.
void check_pure(const Lowering& l, const Region& of) {
  tp::for_each_operation(of, [&](const Operation& op) {
    const bool is_pure = row(*op.form).element != nullptr && l.is_scalar(op.results[0]);
    if (!is_pure && op.form->name != "if" && op.form->name != "yield")
      l.refuse(op, "a reduce or scan body may not contain loops or memory operations");
  });
}

/// Copies values to the variables of a loop or an if in parallel: every value is read before any variable is written.
void assign(Lowering& l, const std::vector<ValueId>& to, const std::vector<ValueId>& from) {
  std::vector<std::pair<ValueId, Name>> scalars;
  std::map<std::int64_t, std::vector<std::size_t>> by_count;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (!l.type(to[i]).is_tile()) continue;
    if (l.is_scalar(to[i]))
      scalars.emplace_back(to[i], l.scalar(from[i]));
    else
      by_count[tp::element_count(l.type(to[i]))].push_back(i);
  }
  for (const auto& [id, now] : scalars) l.set(id, only, now);
  for (const auto& [count, which] : by_count) {
    Resources reads, writes;
    for (const std::size_t i : which) {
      l.collect(from[i], reads);
      if (l.plan.crosses(to[i])) writes.insert(to[i]);
    }
    l.waits.order(reads, writes);
    l.each(count, [&, &which = which](const At& at) {  // clang 14 does not capture structured bindings implicitly
      std::vector<Name> now;
      for (const std::size_t i : which) now.push_back(l.element(from[i], at));
      for (std::size_t n = 0; n < which.size(); ++n) l.set(to[which[n]], at, now[n]);
    });
  }
}

/// Adds two branches. Threads after them may have to wait for the accesses of either branch.
void fork(Lowering& l, const Name& condition, const Region& yes, const Region& no) {
  const Waits::Accesses before = l.waits.since;
  l.branch(condition, false, [&] { l.region(yes); });
  const Waits::Accesses then = std::exchange(l.waits.since, before);
  if (!no.operations.empty()) l.branch(condition, true, [&] { l.region(no); });
  l.waits.since.join(then);
}

/// Adds an endless loop. If threads communicate in its body, a barrier precedes each iteration.
void repeat(Lowering& l, const Operation& op, const std::function<void()>& head, std::function<void()> next) {
  const bool waits = l.plan.communicates(op.regions[0]);
  const Waits::Accesses before = l.waits.since;
  l.owners.push_back(&op);
  l.next.push_back(std::move(next));
  l.add(ir::Forever{l.within([&] {
    head();
    if (waits) l.waits.barrier();
    l.region(op.regions[0]);
  })});
  l.next.pop_back();
  l.owners.pop_back();
  l.waits.since.join(before);  // without an iteration, no barrier of the body is executed
  if (waits) l.waits.barrier();
}

/// Counts the iterations before the loop starts, because the counter may wrap at the end of its range.
void for_loop(Lowering& l, const Operation& op) {
  const std::vector<ValueId>& arguments = op.regions[0].arguments;
  const std::vector<ValueId> carried(arguments.begin() + 1, arguments.end());
  for (const ValueId id : carried) l.declare(id);
  assign(l, carried, op.operand_list("init"));
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
  assign(l, op.regions[0].arguments, op.operand_list("init"));
  for (const ValueId id : op.results) l.declare(id);
  repeat(
      l, op, [] {}, [] {});
}

void if_else(Lowering& l, const Operation& op) {
  for (const ValueId id : op.results) l.declare(id);
  const Name condition = l.scalar(op.operands[0]);
  l.owners.push_back(&op);
  fork(l, condition, op.regions[0], op.regions[1]);
  l.owners.pop_back();
}

void yield(Lowering& l, const Operation& op) { assign(l, l.owners.back()->results, op.operands); }

const Operation& loop_around(const Lowering& l) {
  auto at = l.owners.rbegin();
  while ((*at)->form->name == "if") ++at;
  return **at;
}

void next(Lowering& l, const Operation& op) {
  const Operation& around = loop_around(l);
  const std::vector<ValueId>& arguments = around.regions[0].arguments;
  assign(l, {arguments.begin() + (around.form->name == "for" ? 1 : 0), arguments.end()}, op.operands);
  l.next.back()();
  l.add(ir::Jump{ir::Jump::To::next});
}

void leave(Lowering& l, const Operation& op) {
  assign(l, loop_around(l).results, op.operands);
  l.add(ir::Jump{ir::Jump::To::after});
}

void end(Lowering& l, const Operation&) { l.add(ir::Jump{ir::Jump::To::end}); }

}  // namespace

std::vector<Name> add_body(Lowering& l, const Operation& owner, const std::vector<Name>& arguments) {
  const Region& of = owner.regions[0];
  check_pure(l, of);
  for (std::size_t i = 0; i < arguments.size(); ++i) l.bind(of.arguments[i], arguments[i]);
  std::vector<Name> yielded;
  for (const Operation& op : of.operations) {
    if (op.form->name != "yield")
      l.operation(op);
    else
      for (const ValueId id : op.operands) yielded.push_back(l.scalar(id));
  }
  return yielded;
}

void for_elements(Lowering& l, ValueId id, const std::function<void(const At&)>& body) {
  if (l.is_scalar(id))
    l.by_first_thread([&] { body(only); });
  else
    l.each(l.type(id).shape, body);
}

void once(Lowering& l, ValueId result, const std::function<void()>& body) {
  if (l.threads == 1) return body();
  if (!l.plan.is_used(result)) return l.by_first_thread(body);
  const Stored cell = l.allocate(l.dtype(result), 1, true);
  l.by_first_thread([&] {
    body();
    l.write(cell, only, l.scalar(result));
  });
  l.waits.barrier();
  l.set(result, only, l.read(cell, only));
  l.waits.order({l.resources.make()}, {});  // a later write must wait until all threads have read it
}

std::vector<Row> control_rows() {
  return {{.name = "for", .statement = for_loop},  {.name = "loop", .statement = loop},
          {.name = "if", .statement = if_else},    {.name = "yield", .statement = yield},
          {.name = "continue", .statement = next}, {.name = "break", .statement = leave},
          {.name = "return", .statement = end}};
}

}  // namespace deplo::rules::blocks
