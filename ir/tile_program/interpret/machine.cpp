#include "ir/tile_program/interpret/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "ir/tile_program/interpret/evaluators.h"

namespace deplo::ir::tile_program::exec {
namespace {

bool is(const Operation* op, std::string_view name) { return op != nullptr && op->form->name == name; }

TileValue argument_value(const Type& type, const Argument& argument) {
  if (const auto* array = std::get_if<ArrayArgument>(&argument)) return of_bits({Memory::address(array->array)});
  const auto* whole = std::get_if<std::int64_t>(&argument);
  if (is_integral(type.element)) return of_bits({wrap(static_cast<std::uint64_t>(*whole), width(type.element))});
  return of_reals(
      {round_to(whole != nullptr ? static_cast<double>(*whole) : std::get<double>(argument), type.element)});
}

}  // namespace

// --- Evaluation ------------------------------------------------------------------------------------------------------

const Type& Evaluation::type(ValueId id) const { return *machine.entry.values[id].type; }

PastPtr Evaluation::past() const {
  PastPtr all;
  for (const ValueId id : op.operands) all = join(all, block_.values[id].past);
  return all;
}

void Evaluation::set(TileValue value, std::size_t result) {
  if (value.past == nullptr) value.past = past();
  machine.put(block_, op.results[result], std::move(value));
  machine.hold(*this, 0);
}

void Evaluation::set_argument(ValueId id, TileValue value) { machine.put(block_, id, std::move(value)); }

void Evaluation::fail(const std::string& message) const { machine.fail(block_, op, message); }

// --- Machine ---------------------------------------------------------------------------------------------------------

Machine::Machine(const Program& of, const Entry& which, const Launch& how, std::vector<Array>& arrays)
    : program(of), entry(which), launch(how), memory(arrays), rng_(how.seed) {
  for (const Global& global : program.globals) {
    constexpr std::int64_t max_element_bytes = 24;  // including the element's access history
    held_ += max_element_bytes * element_count(*global.type);
    if (held_ > launch.memory)
      throw Error(fmt::format("{}: expected globals of at most {} bytes, found more", program.where, launch.memory));
    globals.push_back(memory.add(initial_array(global)));
  }
  for (std::size_t i = 0; i < entry.parameters.size(); ++i)
    arguments_.push_back(argument_value(*entry.values[entry.parameters[i]].type, launch.arguments[i]));
  waiting_.resize(static_cast<std::size_t>(launch.grid[0] * launch.grid[1] * launch.grid[2]));
  std::iota(waiting_.rbegin(), waiting_.rend(), std::int64_t{0});
  if (launch.seed == 0) return;  // blocks start in order
  for (std::size_t i = waiting_.size(); i > 1; --i) std::swap(waiting_[i - 1], waiting_[rng_.below(i)]);
}

void Machine::fail(const Block& block, const Operation& op, const std::string& message) const {
  throw Error(fmt::format("{}: {}: {} (block {}, {}, {})", place(program, op.location), op.form->name, message,
                          block.id[0], block.id[1], block.id[2]));
}

std::string Machine::describe(const Event& event) const {
  const std::int64_t x = event.block % launch.grid[0], rest = event.block / launch.grid[0];
  return fmt::format("{} of block {}, {}, {} at {}", event.operation->form->name, x, rest % launch.grid[1],
                     rest / launch.grid[1], place(program, event.operation->location));
}

void Machine::start(std::int64_t number) {
  Block& block = running_.emplace_back();
  block.number = number;
  block.id = {number % launch.grid[0], number / launch.grid[0] % launch.grid[1],
              number / launch.grid[0] / launch.grid[1]};
  block.values.resize(entry.values.size());
  for (std::size_t i = 0; i < arguments_.size(); ++i) put(block, entry.parameters[i], arguments_[i]);
  block.frames.push_back({&entry.body, 0, nullptr});
}

void Machine::start_next() {
  start(waiting_.back());
  waiting_.pop_back();
}

LaunchResult Machine::run() {
  while (!running_.empty() || !waiting_.empty()) {
    while (!waiting_.empty() && static_cast<int>(running_.size()) < launch.resident) start_next();
    const auto at = static_cast<std::ptrdiff_t>(rng_.below(running_.size()));
    turn(running_[static_cast<std::size_t>(at)]);
    if (running_[static_cast<std::size_t>(at)].frames.empty()) {
      for (ValueId id = 0; id < entry.values.size(); ++id) put(running_[static_cast<std::size_t>(at)], id, {});
      running_.erase(running_.begin() + at);
      idle_since_ = operations_;
    }
  }
  return {printed, operations_};
}

void Machine::turn(Block& block) {
  const std::size_t printed_before = printed.size();
  while (!block.frames.empty())
    if (step(block)) break;
  if (memory.changes() != changes_seen_ || printed.size() != printed_before) {
    changes_seen_ = memory.changes();
    idle_since_ = operations_;
  }
}

void Machine::hold(const Evaluation& now, std::int64_t bytes) {
  held_ += bytes;
  if (held_ > launch.memory)
    now.fail(fmt::format("expected at most {} bytes of tiles and memory at a time, found more", launch.memory));
}

void Machine::put(Block& block, ValueId id, TileValue value) {
  TileValue& place = block.values[id];
  const auto bytes = [](const TileValue& v) { return static_cast<std::int64_t>(sizeof(double) * v.size()); };
  held_ += bytes(value) - bytes(place);
  place = std::move(value);
}

namespace {

/// Returns the work of an operation: 1, plus 1 for each 64 elements of its operands and results or products that it
/// adds.
std::int64_t work(const Operation& op, const Entry& entry) {
  constexpr std::int64_t elements_per_unit = 64;
  std::int64_t elements = 0;
  for (const auto* list : {&op.operands, &op.results})
    for (const ValueId id : *list)
      if (entry.values[id].type->is_tile()) elements += element_count(*entry.values[id].type);
  if (op.form->name.starts_with("mma"))
    elements += element_count(*entry.values[op.results[0]].type) * entry.values[op.operands[0]].type->shape.back();
  return 1 + elements / elements_per_unit;
}

}  // namespace

void Machine::count_operation(const Block& block, const Operation& op) {
  ++operations_;
  if (launch.steps != 0 && (work_ += work(op, entry)) > launch.steps)
    fail(block, op, fmt::format("expected at most {} operations of all blocks, found more", launch.steps));
  if (operations_ - idle_since_ <= launch.idle) return;
  const auto in_loop = [](const Frame& frame) { return is(frame.owner, "loop"); };
  // Without a `loop` around it, the block ends by itself.
  if (std::none_of(block.frames.begin(), block.frames.end(), in_loop)) return;
  if (!waiting_.empty()) {  // the running blocks may wait for a block that has not started
    start_next();
    idle_since_ = operations_;
    return;
  }
  fail(block, op,
       fmt::format(
           "expected the enclosing loop to end, found {} operations in which no block changed memory: a deadlock, "
           "or blocks that wait for each other",
           launch.idle));
}

bool Machine::step(Block& block) {
  Frame& frame = block.frames.back();
  const Operation& op = frame.region->operations[frame.next++];
  count_operation(block, op);
  if (execute_control(block, op)) return false;
  execute(block, op);
  return find_evaluator(*op.form)->touches_memory;
}

void Machine::execute(Block& block, const Operation& op) {
  Evaluation evaluation(*this, block, op);
  find_evaluator(*op.form)->function(evaluation);
}

std::vector<TileValue> Machine::gather(const Block& block, const std::vector<ValueId>& ids) const {
  std::vector<TileValue> values;
  for (const ValueId id : ids) values.push_back(block.values[id]);
  return values;
}

void Machine::assign(Block& block, const std::vector<ValueId>& ids, std::vector<TileValue> values) {
  for (std::size_t i = 0; i < ids.size(); ++i) put(block, ids[i], std::move(values[i]));
}

void Machine::enter(Block& block, const Operation& owner, const Region& region,
                    const std::vector<TileValue>& arguments) {
  assign(block, region.arguments, arguments);
  block.frames.push_back({&region, 0, &owner});
}

// --- Control flow ----------------------------------------------------------------------------------------------------

bool Machine::execute_control(Block& block, const Operation& op) {
  if (is(&op, "for")) {
    begin_for(block, op);
  } else if (is(&op, "loop")) {
    enter(block, op, op.regions[0], gather(block, op.operands));
  } else if (is(&op, "if")) {
    const Region& region = op.regions[block.values[op.operands[0]].bit(0) != 0 ? 0 : 1];
    if (!region.operations.empty()) enter(block, op, region, {});
  } else if (is(&op, "yield")) {
    const Operation* owner = block.frames.back().owner;
    assign(block, owner->results, gather(block, op.operands));
    block.frames.pop_back();
  } else if (is(&op, "continue") || is(&op, "break")) {
    leave_loop(block, op);
  } else if (is(&op, "return")) {
    block.frames.clear();
  } else {
    return false;
  }
  return true;
}

namespace {

/// True if the loop variable of a `for` is still below its end.
bool is_below(const Operation& op, const Type& type, std::uint64_t value, std::uint64_t end) {
  const int bits = width(type.element);
  return op.number("unsigned") != 0 ? value < end : as_signed(value, bits) < as_signed(end, bits);
}

}  // namespace

void Machine::begin_for(Block& block, const Operation& op) {
  const Type& type = *entry.values[op.operand("lower")].type;
  const std::uint64_t lower = block.values[op.operand("lower")].bit(0),
                      upper = block.values[op.operand("upper")].bit(0);
  const std::int64_t step = as_signed(block.values[op.operand("step")].bit(0), width(type.element));
  if (step <= 0 && op.number("unsigned") == 0) fail(block, op, fmt::format("expected a step above 0, found {}", step));
  if (step == 0) fail(block, op, "expected a step above 0, found 0");
  std::vector<TileValue> carried = gather(block, op.operand_list("init"));
  if (!is_below(op, type, lower, upper)) return assign(block, op.results, std::move(carried));
  carried.insert(carried.begin(), block.values[op.operand("lower")]);
  enter(block, op, op.regions[0], carried);
}

void Machine::leave_loop(Block& block, const Operation& jump) {
  std::vector<TileValue> values = gather(block, jump.operands);
  while (is(block.frames.back().owner, "if")) block.frames.pop_back();
  const Operation& owner = *block.frames.back().owner;
  if (is(&jump, "continue")) return next_iteration(block, owner, std::move(values));
  assign(block, owner.results, std::move(values));
  block.frames.pop_back();
}

void Machine::next_iteration(Block& block, const Operation& owner, std::vector<TileValue> carried) {
  const Region& region = owner.regions[0];
  block.frames.back().next = 0;
  if (is(&owner, "loop")) return assign(block, region.arguments, std::move(carried));
  const Type& type = *entry.values[region.arguments[0]].type;
  const int bits = width(type.element);
  const std::uint64_t now = block.values[region.arguments[0]].bit(0), step = block.values[owner.operand("step")].bit(0);
  const std::uint64_t next = wrap(now + step, bits);
  // A variable that wraps around is past every end.
  const bool wraps = owner.number("unsigned") != 0 ? next < now : as_signed(next, bits) < as_signed(now, bits);
  if (!wraps && is_below(owner, type, next, block.values[owner.operand("upper")].bit(0))) {
    carried.insert(carried.begin(), of_bits({next}));
    carried[0].past = block.values[region.arguments[0]].past;
    return assign(block, region.arguments, std::move(carried));
  }
  assign(block, owner.results, std::move(carried));
  block.frames.pop_back();
}

std::vector<TileValue> Machine::run_pure(Block& block, const Region& region) {
  for (const Operation& op : region.operations) {
    count_operation(block, op);
    if (is(&op, "yield")) return gather(block, op.operands);
    if (is(&op, "if")) {
      const Region& taken = op.regions[block.values[op.operands[0]].bit(0) != 0 ? 0 : 1];
      if (!taken.operations.empty()) assign(block, op.results, run_pure(block, taken));
      continue;
    }
    const Evaluator* evaluator = find_evaluator(*op.form);
    if (evaluator == nullptr || evaluator->touches_memory)
      fail(block, op, "a reduce or scan body may not contain loops or memory operations");
    execute(block, op);
  }
  return {};
}

}  // namespace deplo::ir::tile_program::exec
