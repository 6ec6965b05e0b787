#include "rules/blocks/lowering.h"

#include <fmt/format.h>

#include <cctype>

#include "core/error.h"
#include "ir/emit/elements/elements.h"
#include "ir/emit/emit.h"
#include "rules/blocks/rows.h"

namespace deplo::rules::blocks {
namespace {

/// The tiles in memory that all threads share, although no operation reads elements of other threads: results of
/// products by matrix instructions, because the instruction determines which thread writes a sum, and tiles that do not
/// fit in the memory of a thread. Other tiles use the same memory before and after them.
std::set<ValueId> in_shared_memory(const tp::Entry& entry, const ThreadCode& code, const BlockSchedule& schedule,
                                   const Target& target) {
  std::set<ValueId> tiles;
  for (const auto& [id, product] : schedule.products)
    if (product.matrix) tiles.insert(id);
  for (ValueId id = 0; id < entry.values.size(); ++id) {
    const Type& t = *entry.values[id].type;
    if (t.is_tile() && !fits_in_thread(target, code.threads, code.slots(tp::element_count(t)))) tiles.insert(id);
  }
  return tiles;
}

std::string identifier(std::string_view name) {
  std::string out;
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return out;
}

}  // namespace

Lowering::Lowering(const tp::Program& of, const tp::Entry& which, const tp::Launch& how,
                   std::span<const tp::Array> arrays, const BlockSchedule& chosen, const Target& on)
    : ThreadCode(chosen.threads, on.cpu),
      program(of),
      entry(which),
      launch(how),
      target(on),
      schedule(chosen),
      plan(which, chosen.kept, in_shared_memory(which, *this, chosen, on)),
      buffers(of, arrays, *this),
      resources(which.values.size(), arrays.size()),
      block_id{ir::var("bx"), ir::var("by"), ir::var("bz")},
      memory_(on) {
  for (std::size_t d = 0; d < 3; ++d) add_axis(block_id[d].name(), launch.grid[d]);
  tp::for_each_operation(entry.body, [&](const Operation& op) {
    for (const ValueId id : op.results) definitions_[id] = &op;
  });
  for (const auto& [id, op] : definitions_)
    if (op->form->name == "alloca")
      buffers.add_alloca(id, op->number("num_elem") * ir::bytes(type(id).element), op->number("alignment"));
}

const Operation* Lowering::definition(ValueId id) const {
  const auto found = definitions_.find(id);
  return found == definitions_.end() ? nullptr : found->second;
}

void Lowering::refuse(const Operation& op, const std::string& message) const {
  throw Error(fmt::format("{}: {}: {}", tp::place(program, op.location), op.form->name, message));
}

// --- Values ----------------------------------------------------------------------------------------------------------

Name Lowering::element(ValueId id, const At& at) {
  if (const auto value = names_.find(id); value != names_.end()) return value->second;
  const auto stored = stored_.find(id);
  if (stored != stored_.end() && is_scalar(id)) return read(stored->second, only);
  if (stored != stored_.end() && stored->second.space == ir::Space::thread) return read(stored->second, at);
  const std::string key = fmt::format("element {} {}", id, print(simplified(at.i)));
  return known(key, [&] {
    return stored != stored_.end() ? read(stored->second, at)
                                   : row(*definitions_.at(id)->form).element(*this, *definitions_.at(id), at);
  });
}

Name Lowering::element_at(ValueId id, const Expr& i) {
  const std::int64_t last = tp::element_count(type(id)) - 1;
  return element(id, {ir::min(Expr(ir::ExprOp::max, i, 0), last), std::nullopt});
}

/// Follows views of views, and assumptions about views, to the tensor view.
const View& Lowering::view(ValueId id) const {
  while (!views_.contains(id)) id = definitions_.at(id)->operands[0];
  return views_.at(id);
}

void Lowering::declare(ValueId id) {
  if (!type(id).is_tile()) return;
  if (!is_scalar(id)) {
    stored_[id] = allocate(dtype(id), tp::element_count(type(id)), plan.crosses(id));
    return;
  }
  stored_[id] = {fresh("v"), dtype(id), ir::Space::thread};
  add(ir::Local{stored_[id].array, dtype(id), 1});
}

void Lowering::share(ValueId result, ValueId with) {
  if (!type(result).is_tile()) return;
  stored_[result] = stored_.at(with);
  shared_with_[result] = with;
}

void Lowering::set(ValueId id, const At& at, const Name& value) {
  write(stored_.at(id), is_scalar(id) ? only : at, value);
}

Name Lowering::table(const Operation& constant) {
  const ValueId id = constant.results[0];
  const Name name = fmt::format("table_{}", id);
  if (tabled_.insert(id).second)
    tables_.push_back(ir::Table{name, dtype(id), *std::get<tp::Dense>(constant.attributes[0])});
  return name;
}

// --- Operations ------------------------------------------------------------------------------------------------------

Name Lowering::compute(const Operation& op, DType result, std::vector<Name> args) {
  ir::Compute made{"", result, op.form, {}, std::move(args)};
  for (const tp::AttributeForm& form : op.form->attributes) made.numbers.push_back(op.number(form.name));
  if (const std::string why = ir::elements::unsupported(made, target.dialect); !why.empty()) refuse(op, why);
  return compute(std::move(made));
}

void Lowering::operation(const Operation& op) {
  const Row& how = row(*op.form);
  if (how.element == nullptr) return how.statement(*this, op);
  const ValueId id = op.results[0];
  if (is_scalar(id)) {
    order(op);
    bind(id, how.element(*this, op, only));
  } else if (plan.keeps(id)) {
    order(op);
    declare(id);
    each(type(id).shape, [&](const At& at) { set(id, at, how.element(*this, op, at)); });
  }
}

void Lowering::region(const Region& of) {
  const TileMemory::Used before = memory_.used();
  for (const Operation& op : of.operations) operation(op);
  const bool leaves =
      !of.operations.empty() && of.operations.back().form->terminator && of.operations.back().form->name != "yield";
  if (memory_.used() != before && !leaves) waits.barrier();
  memory_.free_to(before);
}

void Lowering::order(const Operation& op, const Resources& memory_reads, const Resources& memory_writes) {
  written_memory_.insert(memory_writes.begin(), memory_writes.end());
  Resources reads = memory_reads, writes = memory_writes;
  for (const ValueId id : op.operands) collect(id, reads);
  for (const ValueId id : op.results)
    if (plan.keeps(id) && plan.crosses(id)) writes.insert(id);
  waits.order(reads, writes);
}

void Lowering::collect(ValueId from, Resources& into) const {
  std::set<ValueId> seen;
  std::vector<ValueId> open = {from};
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (!type(id).is_tile() || is_scalar(id) || !seen.insert(id).second) continue;
    if (stored_.contains(id)) {
      const auto shared = shared_with_.find(id);  // a write to one of them is a write to the other
      if (plan.crosses(id)) into.insert(shared == shared_with_.end() ? id : shared->second);
      continue;
    }
    const Operation* const operation = definition(id);
    CHECK(operation != nullptr);
    open.insert(open.end(), operation->operands.begin(), operation->operands.end());
  }
}

// --- The kernel ------------------------------------------------------------------------------------------------------

void Lowering::bind_parameters() {
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    const ValueId id = entry.parameters[i];
    const tp::Argument& argument = launch.arguments[i];
    if (const auto* array = std::get_if<tp::ArrayArgument>(&argument)) {
      bind(id, buffers.array_address(*this, array->array));
      continue;
    }
    const DType e = type(id).element;
    const auto* number = std::get_if<std::int64_t>(&argument);
    if (ir::is_integral(e))
      bind(id, whole(e, *number));
    else
      bind(id, constant(e, ir::encode_float(
                               number != nullptr ? static_cast<double>(*number) : std::get<double>(argument), e)));
  }
}

BlockKernel Lowering::run() {
  Body statements = within([&] {
    bind_parameters();
    region(entry.body);
  });
  return finish(std::move(statements));
}

/// Puts the launch around the statements.
BlockKernel Lowering::finish(Body statements) {
  BlockKernel made;
  ir::Program& kernel = made.kernel;
  kernel.level = ir::Level::kernel;
  kernel.name = identifier(entry.name);
  kernel.allow_tf32 = allow_tf32;
  const std::int64_t blocks = launch.grid[0] * launch.grid[1] * launch.grid[2];
  const std::int64_t scratch = std::max(aligned(memory_.max_scratch(), 64), schedule.scratch);
  if (const std::int64_t bytes = scratch + buffers.alloca_bytes(); bytes > 0 && bytes > launch.memory / blocks)
    throw Error(fmt::format(
        "{}: entry {}: expected at most {} bytes of tiles that do not fit in shared memory, found {} blocks of {}",
        program.where, entry.name, launch.memory, blocks, bytes));
  std::vector<bool> written;
  for (Resource r = resources.array(0); r < resources.globals(); ++r) written.push_back(written_memory_.contains(r));
  buffers.give_to(made, blocks, scratch, std::move(written));
  ir::Tile tile;
  for (std::size_t d = 3; d-- > 0;) tile.axes.push_back({block_id[d].name(), launch.grid[d], ir::Bind::block});
  if (threads > 1) tile.axes.push_back({thread().name(), threads, ir::Bind::thread});
  tile.body = std::move(tables_);
  tile.body.insert(tile.body.end(), std::make_move_iterator(statements.begin()),
                   std::make_move_iterator(statements.end()));
  if (tile.body.empty()) tile.body.push_back(ir::Jump{ir::Jump::To::end});
  kernel.body.push_back(std::move(tile));
  if (const std::string fault = verify(kernel); !fault.empty()) check_failed(fault.c_str(), __FILE__, __LINE__);
  made.source = emit(kernel, target);
  made.source.dry_run = false;  // the kernel may print, or wait for values in its arrays
  return made;
}

}  // namespace deplo::rules::blocks
