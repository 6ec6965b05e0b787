#include "rules/blocks/lowering.h"

#include <fmt/format.h>

#include <array>
#include <cctype>

#include "core/error.h"
#include "ir/emit/elements/elements.h"
#include "ir/emit/emit.h"
#include "ir/emit/reserved.h"
#include "ir/hardware/gpu.h"
#include "ir/text/words.h"
#include "rules/blocks/rows.h"

namespace deplo::rules::blocks {
namespace {

constexpr const char* globals_buffer = "globals";
constexpr const char* allocas_buffer = "allocas";
constexpr const char* assertion_buffer = "assertion";

std::int64_t aligned(std::int64_t bytes, std::int64_t to) { return (bytes + to - 1) / to * to; }

std::int64_t words_of(std::size_t bytes) { return static_cast<std::int64_t>((bytes + 3) / 4); }

/// Elements in a buffer: those of a type that Loop IR lacks are in words.
std::pair<DType, std::int64_t> in_buffer(const tp::Array& array) {
  if (!ir::is_kernel_type(array.element) || array.element == DType::i64 || ir::is_integer8(array.element))
    return {DType::i32, words_of(array.bytes.size())};
  return {array.element, array.elements()};
}

/// Products by matrix instructions leave each sum to the thread that the instruction says.
std::set<ValueId> by_matrix(const BlockSchedule& schedule) {
  std::set<ValueId> results;
  for (const auto& [id, product] : schedule.products)
    if (product.matrix) results.insert(id);
  return results;
}

void find_definitions(const Region& region, std::map<ValueId, const Operation*>& into) {
  for (const Operation& op : region.operations) {
    for (const ValueId id : op.results) into[id] = &op;
    for (const Region& inner : op.regions) find_definitions(inner, into);
  }
}

}  // namespace

Lowering::Lowering(const tp::Program& of, const tp::Entry& which, const tp::Launch& how,
                   std::span<const tp::Array> arrays, const BlockSchedule& chosen, const Target& on)
    : program(of),
      entry(which),
      launch(how),
      target(on),
      schedule(chosen),
      threads(chosen.threads),
      plan(which, chosen.kept, by_matrix(chosen)),
      block_id{ir::var("bx"), ir::var("by"), ir::var("bz")},
      arrays_(arrays) {
  find_definitions(entry.body, definitions_);
  place_allocas();
  next_resource_ = memory_resource(arrays.size() + 2);  // after the arrays: globals, and what allocas make
  for (std::size_t d = 0; d < 3; ++d) ranges_.emplace_back(block_id[d].name(), ir::Interval{0, launch.grid[d] - 1});
  if (threads == 1) return;
  thread_ = ir::var("tx");
  ranges_.emplace_back("tx", ir::Interval{0, threads - 1});
}

void Lowering::refuse(const Operation& op, const std::string& message) const {
  throw Error(fmt::format("{}: {}: {}", tp::place(program, op.location), op.form->name, message));
}

// --- Statements ------------------------------------------------------------------------------------------------------

void Lowering::add(ir::Stmt stmt) { out_->push_back(std::move(stmt)); }

std::string Lowering::fresh(std::string_view prefix) {
  std::string name;
  do name = fmt::format("{}{}", prefix, next_name_++);
  while (taken_.contains(name));
  return name;
}

Name Lowering::known(const std::string& key, const std::function<ir::Stmt(const Name&)>& make) {
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  Name name = fresh("e");
  add(make(name));
  known_[key] = name;
  return name;
}

Name Lowering::constant(DType dtype, std::uint64_t bits) {
  const Name name = known(fmt::format("{}:{}", bits, ir::name(dtype)), [&](const Name& fresh) {
    return ir::Constant{fresh, dtype, bits};
  });
  if (ir::is_integral(dtype)) constants_[name] = ir::as_signed(bits, ir::width(dtype));
  return name;
}

Expr Lowering::term(ValueId id) {
  const Name value = scalar(id);
  if (const auto known = constants_.find(value); known != constants_.end()) return known->second;
  return ir::var(converted(value, dtype(id), DType::i32, true));
}

Name Lowering::whole(DType dtype, std::int64_t number) {
  return constant(dtype, ir::wrap(static_cast<std::uint64_t>(number), ir::width(dtype)));
}

Name Lowering::index(const Expr& e) {
  const Expr simple = simplified(e);
  if (simple.kind() == Expr::Kind::constant) return whole(DType::i32, simple.value());
  return known("index " + print(simple), [&](const Name& name) { return ir::Index{name, {DType::i32, 1}, simple}; });
}

Name Lowering::condition(const Expr& e) {
  const Expr simple = simplified(e);
  return known("condition " + print(simple), [&](const Name& name) {
    return ir::Index{name, {DType::boolean, 1}, simple};
  });
}

Name Lowering::compute(std::string_view operation, DType result, std::vector<Name> args, std::vector<Number> numbers) {
  ir::Compute made{"", result, tp::find_operation(operation), {}, std::move(args)};
  for (const tp::AttributeForm& form : made.op->attributes) {
    const auto given = std::ranges::find(numbers, form.name, &Number::attribute);
    made.numbers.push_back(given != numbers.end() ? given->value : form.otherwise.value_or(0));
  }
  return known(print(Body{made}), [&](const Name& name) {
    made.dst = name;
    return made;
  });
}

Name Lowering::compute(const Operation& op, DType result, std::vector<Name> args) {
  ir::Compute made{"", result, op.form, {}, std::move(args)};
  for (const tp::AttributeForm& form : op.form->attributes) made.numbers.push_back(op.number(form.name));
  if (const std::string why = ir::elements::unsupported(made, target.dialect); !why.empty()) refuse(op, why);
  return known(print(Body{made}), [&](const Name& name) {
    made.dst = name;
    return made;
  });
}

Name Lowering::converted(const Name& value, DType from, DType to, bool with_sign) {
  if (ir::width(from) == ir::width(to)) return value;
  if (ir::width(from) > ir::width(to)) return compute("trunci", to, {value});
  return compute("exti", to, {value}, {{"signedness", with_sign ? 1 : 0}});
}

Name Lowering::select(const Name& condition, DType dtype, const Name& yes, const Name& no) {
  return compute("select", dtype, {condition, yes, no});
}

// --- Values ----------------------------------------------------------------------------------------------------------

Name Lowering::element(ValueId id, const At& at) {
  if (const auto value = names_.find(id); value != names_.end()) return value->second;
  const auto stored = stored_.find(id);
  if (stored != stored_.end() && is_scalar(id)) return read(stored->second, only);
  if (stored != stored_.end() && stored->second.space == ir::Space::thread) return read(stored->second, at);
  const std::string key = fmt::format("element {} {}", id, print(simplified(at.i)));
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  Name value = stored != stored_.end() ? read(stored->second, at)
                                       : row(*definitions_.at(id)->form).element(*this, *definitions_.at(id), at);
  known_[key] = value;
  return value;
}

Name Lowering::element_at(ValueId id, const Expr& i) {
  const std::int64_t last = tp::element_count(type(id)) - 1;
  return element(id, {ir::min(Expr(ir::ExprOp::max, i, 0), last), std::nullopt});
}

/// Views of a view, and what is assumed of one, are that view.
const View& Lowering::view(ValueId id) const {
  while (!views_.contains(id)) id = definitions_.at(id)->operands[0];
  return views_.at(id);
}

namespace {

Expr place(const Stored& s, const At& at, bool alone) {
  if (s.space != ir::Space::thread) return at.i;
  CHECK(alone || at.slot);  // Plan::crosses
  return at.slot ? *at.slot : at.i;
}

}  // namespace

Name Lowering::read(const Stored& s, const At& at) {
  Name name = fresh("e");
  add(ir::Get{name, s.dtype, s.array, simplified(place(s, at, threads == 1))});
  return name;
}

void Lowering::write(const Stored& s, const At& at, const Name& value) {
  add(ir::Put{s.array, simplified(place(s, at, threads == 1)), value});
}

Stored Lowering::allocate(DType dtype, std::int64_t count, bool crosses) {
  constexpr std::int64_t max_registers = 64, max_stack = 1 << 14;  // of a GPU's thread; bytes of a CPU's block
  Stored s{fresh("v"), dtype, ir::Space::thread};
  const std::int64_t own = slots(count), bytes = aligned(count * ir::local_bytes(dtype), ir::local_alignment);
  const bool fits = target.cpu ? own * threads * 8 <= max_stack : own <= max_registers;
  if ((!crosses || threads == 1) && fits) {
    add(ir::Local{s.array, dtype, own});
    return s;
  }
  const bool in_shared = shared_ + bytes <= target.shared_bytes;
  s.space = in_shared ? ir::Space::shared : ir::Space::scratch;
  std::int64_t& used = in_shared ? shared_ : scratch_;
  add(ir::Local{s.array, dtype, count, s.space, used});
  used += bytes;
  max_scratch_ = std::max(max_scratch_, scratch_);
  return s;
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

// --- Threads ---------------------------------------------------------------------------------------------------------

Body Lowering::within(const std::function<void()>& inner) {
  Body body;
  Body* const outer = std::exchange(out_, &body);
  const std::map<std::string, Name> known = known_;
  inner();
  known_ = known;
  out_ = outer;
  return body;
}

void Lowering::scoped(const std::function<void()>& inner) {
  for (ir::Stmt& stmt : within(inner)) add(std::move(stmt));
}

bool Lowering::unrolls(std::int64_t trips) const {
  constexpr std::int64_t max_copies = 64;
  return !target.cpu && trips <= max_copies;
}

void Lowering::loop(std::int64_t extent, bool unrolled, const std::function<void(const Expr&)>& inner) {
  if (extent == 1) return inner(0);
  ir::Loop made;
  made.axis = {fresh("n"), extent, ir::Bind::free};
  made.unroll = unrolled ? 0 : 1;
  ranges_.emplace_back(made.axis.name, ir::Interval{0, extent - 1});
  made.body = within([&] { inner(ir::var(made.axis.name)); });
  ranges_.pop_back();
  if (!made.body.empty()) add(std::move(made));
}

void Lowering::guarded(const Expr& condition, const std::function<void()>& inner) {
  ir::If made{condition, within(inner)};
  if (!made.then.empty()) add(std::move(made));
}

void Lowering::branch(const Name& condition, bool otherwise, const std::function<void()>& inner) {
  ir::Branch made{condition, otherwise, within(inner)};
  if (!made.body.empty()) add(std::move(made));
}

void Lowering::each(std::int64_t count, const std::function<void(const At&)>& body) {
  if (count < threads) return guarded(ir::less(thread_, count), [&] { body({thread_, Expr(0)}); });
  loop(slots(count), threads > 1 && unrolls(slots(count)), [&](const Expr& slot) {
    body({simplified(slot * threads + thread_), slot});
  });
}

void Lowering::each(const tp::Extents& shape, const std::function<void(const At&)>& body) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  if (threads > 1) return each(count, body);
  const std::function<void(std::size_t, const Expr&)> nest = [&](std::size_t d, const Expr& i) {
    if (d == shape.size()) return body({simplified(i), simplified(i)});
    loop(shape[d], false, [&](const Expr& along) { nest(d + 1, i * shape[d] + along); });
  };
  nest(0, 0);
}

void Lowering::by_first_thread(const std::function<void()>& body) {
  if (threads == 1) return body();
  guarded(ir::equal(thread_, 0), body);
}

void Lowering::for_elements(ValueId id, const std::function<void(const At&)>& body) {
  if (is_scalar(id))
    by_first_thread([&] { body(only); });
  else
    each(type(id).shape, body);
}

void Lowering::once(ValueId result, const std::function<void()>& body) {
  if (threads == 1) return body();
  if (!plan.is_used(result)) return by_first_thread(body);
  const Stored cell = allocate(dtype(result), 1, true);
  by_first_thread([&] {
    body();
    write(cell, only, scalar(result));
  });
  barrier();
  set(result, only, read(cell, only));
  order({new_resource()}, {});  // it may be written again when all have read it
}

void Lowering::barrier() {
  read_.clear();
  written_.clear();
  if (threads > 1) add(ir::Sync{});
}

void Lowering::order(const Resources& reads, const Resources& writes) {
  const auto meet = [](const Resources& a, const Resources& b) {
    return std::any_of(a.begin(), a.end(), [&](Resource r) { return b.contains(r); });
  };
  if (meet(reads, written_) || meet(writes, read_) || meet(writes, written_)) barrier();
  read_.insert(reads.begin(), reads.end());
  written_.insert(writes.begin(), writes.end());
}

void Lowering::order(const Operation& op, const Resources& memory_reads, const Resources& memory_writes) {
  written_memory_.insert(memory_writes.begin(), memory_writes.end());
  Resources reads = memory_reads, writes = memory_writes;
  for (const ValueId id : op.operands) collect(id, reads);
  for (const ValueId id : op.results)
    if (plan.keeps(id) && plan.crosses(id)) writes.insert(id);
  order(reads, writes);
}

void Lowering::collect(ValueId id, Resources& into) const {
  if (!type(id).is_tile() || is_scalar(id)) return;
  if (stored_.contains(id)) {
    const auto shared = shared_with_.find(id);  // who writes the one writes the other
    if (plan.crosses(id)) into.insert(shared == shared_with_.end() ? id : shared->second);
    return;
  }
  const auto definition = definitions_.find(id);
  CHECK(definition != definitions_.end());
  for (const ValueId operand : definition->second->operands) collect(operand, into);
}

Resources Lowering::all_memory() const {
  Resources all;
  for (std::size_t i = 0; i < arrays_.size() + 2; ++i) all.insert(memory_resource(i));
  return all;
}

Resources Lowering::arrays_behind(ValueId id) const {
  for (std::size_t i = 0; i < entry.parameters.size(); ++i)
    if (entry.parameters[i] == id) {
      const auto* array = std::get_if<tp::ArrayArgument>(&launch.arguments[i]);
      return array == nullptr ? all_memory() : Resources{memory_resource(array->array)};
    }
  const auto definition = definitions_.find(id);
  if (definition == definitions_.end()) return all_memory();  // carried by a loop
  const Operation& op = *definition->second;
  if (op.form->name == "get_global") return {memory_resource(arrays_.size())};
  if (op.form->name == "alloca") return {memory_resource(arrays_.size() + 1)};
  // Operations that move pointers, or make views of them: the first operand leads there, or all of them do.
  static constexpr std::array<std::string_view, 14> leading = {"offset",
                                                               "broadcast",
                                                               "reshape",
                                                               "permute",
                                                               "extract",
                                                               "assume",
                                                               "ptr_to_ptr",
                                                               "make_tensor_view",
                                                               "make_partition_view",
                                                               "make_strided_view",
                                                               "make_gather_scatter_view",
                                                               "cat",
                                                               "insert",
                                                               "select"};
  if (std::find(leading.begin(), leading.end(), op.form->name) == leading.end()) return all_memory();
  const bool two = op.form->name == "cat" || op.form->name == "insert" || op.form->name == "select";
  if (!two) return arrays_behind(op.operands[0]);
  const std::size_t first = op.form->name == "select" ? 1 : 0;
  Resources both = arrays_behind(op.operands[first]);
  both.merge(arrays_behind(op.operands[first + 1]));
  return both;
}

// --- Control ---------------------------------------------------------------------------------------------------------

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
  const std::int64_t shared = shared_, scratch = scratch_;
  for (const Operation& op : of.operations) operation(op);
  const bool leaves =
      !of.operations.empty() && of.operations.back().form->terminator && of.operations.back().form->name != "yield";
  if ((shared != shared_ || scratch != scratch_) && !leaves && !(read_.empty() && written_.empty())) barrier();
  shared_ = shared;
  scratch_ = scratch;
}

void Lowering::fork(const Name& condition, const Region& yes, const Region& no) {
  const Resources read = read_, written = written_;
  branch(condition, false, [&] { region(yes); });
  const Resources read_then = std::exchange(read_, read), written_then = std::exchange(written_, written);
  if (!no.operations.empty()) branch(condition, true, [&] { region(no); });
  read_.insert(read_then.begin(), read_then.end());
  written_.insert(written_then.begin(), written_then.end());
}

void Lowering::check_pure(const Region& of) const {
  for (const Operation& op : of.operations) {
    const bool is_pure = row(*op.form).element != nullptr && is_scalar(op.results[0]);
    if (!is_pure && op.form->name != "if" && op.form->name != "yield")
      refuse(op, "a reduce or scan body may not contain loops or memory operations");
    for (const Region& inner : op.regions) check_pure(inner);
  }
}

std::vector<Name> Lowering::body(const Operation& owner, const std::vector<Name>& arguments) {
  const Region& of = owner.regions[0];
  check_pure(of);
  for (std::size_t i = 0; i < arguments.size(); ++i) bind(of.arguments[i], arguments[i]);
  std::vector<Name> yielded;
  for (const Operation& op : of.operations) {
    if (op.form->name != "yield")
      operation(op);
    else
      for (const ValueId id : op.operands) yielded.push_back(scalar(id));
  }
  return yielded;
}

void Lowering::assign(const std::vector<ValueId>& to, const std::vector<ValueId>& from) {
  std::vector<std::pair<ValueId, Name>> scalars;
  std::map<std::int64_t, std::vector<std::size_t>> by_count;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (!type(to[i]).is_tile()) continue;
    if (is_scalar(to[i]))
      scalars.emplace_back(to[i], scalar(from[i]));
    else
      by_count[tp::element_count(type(to[i]))].push_back(i);
  }
  for (const auto& [id, now] : scalars) set(id, only, now);
  for (const auto& [count, which] : by_count) {
    Resources reads, writes;
    for (const std::size_t i : which) {
      collect(from[i], reads);
      if (plan.crosses(to[i])) writes.insert(to[i]);
    }
    order(reads, writes);
    each(count, [&, &which = which](const At& at) {  // clang 14 captures no structured binding by itself
      std::vector<Name> now;
      for (const std::size_t i : which) now.push_back(element(from[i], at));
      for (std::size_t n = 0; n < which.size(); ++n) set(to[which[n]], at, now[n]);
    });
  }
}

// --- The kernel ------------------------------------------------------------------------------------------------------

void Lowering::place_globals() {
  for (const tp::Global& global : program.globals) {
    const tp::Array array = tp::initial_array(global);
    const std::int64_t at =
        aligned(static_cast<std::int64_t>(globals_.size()), std::max(ir::local_alignment, global.alignment));
    globals_.resize(static_cast<std::size_t>(at));
    globals_.insert(globals_.end(), array.bytes.begin(), array.bytes.end());
    global_offsets_[global.name] = at;
  }
}

Name Lowering::address(const std::string& buffer) {
  return known("address " + buffer, [&](const Name& name) { return ir::Address{name, buffer}; });
}

Name Lowering::assertion_address() { return address(assertion_buffer); }

Name Lowering::global_address(const std::string& name) {
  return compute("addi", DType::i64, {address(globals_buffer), whole(DType::i64, global_offsets_.at(name))});
}

/// Every block has memory of its own for all allocas, each at a multiple of its alignment.
void Lowering::place_allocas() {
  std::int64_t widest = ir::local_alignment;
  for (const auto& [id, op] : definitions_) {
    if (op->form->name != "alloca") continue;
    const std::int64_t alignment = std::max(ir::local_alignment, op->number("alignment"));
    alloca_offsets_[id] = aligned(alloca_bytes_, alignment);
    alloca_bytes_ = alloca_offsets_[id] + op->number("num_elem") * ir::bytes(type(id).element);
    widest = std::max(widest, alignment);
  }
  alloca_bytes_ = aligned(alloca_bytes_, widest);
}

Name Lowering::alloca_address(ValueId id) {
  const Expr block = (block_id[2] * launch.grid[1] + block_id[1]) * launch.grid[0] + block_id[0];
  const Name first = compute(
      "muli", DType::i64, {converted(index(block), DType::i32, DType::i64, false), whole(DType::i64, alloca_bytes_)});
  const Name offset = compute("addi", DType::i64, {first, whole(DType::i64, alloca_offsets_.at(id))});
  return compute("addi", DType::i64, {address(allocas_buffer), offset});
}

std::int64_t Lowering::add_assertion(const Operation& op) {
  kernel_.assertions.push_back(fmt::format("{}: assert: expected its condition, found it false: {}",
                                           tp::place(program, op.location), std::get<std::string>(op.attributes[0])));
  return static_cast<std::int64_t>(kernel_.assertions.size());
}

namespace {

ir::Buffer output(const std::string& name, DType dtype, ir::Shape shape) {
  std::vector<std::int64_t> strides = ir::row_major_strides(shape);
  return {
      .name = name, .dtype = dtype, .role = ir::Role::output, .shape = std::move(shape), .strides = std::move(strides)};
}

std::string identifier(std::string_view name) {
  std::string out;
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return out;
}

}  // namespace

/// A user's name that the kernel cannot have becomes array_N.
void Lowering::add_buffers() {
  for (const char* own : {globals_buffer, allocas_buffer, assertion_buffer, ir::scratch_buffer, "bx", "by", "bz", "tx"})
    taken_.insert(own);
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    std::string name = arrays_[i].name;
    if (!ir::is_name(name) || ir::is_reserved(name) || taken_.contains(name)) name = fmt::format("array_{}", i);
    taken_.insert(name);
    const auto [dtype, elements] = in_buffer(arrays_[i]);
    kernel_.kernel.buffers.push_back(output(name, dtype, {std::max<std::int64_t>(1, elements)}));
    array_buffers_.push_back(name);
  }
}

void Lowering::bind_parameters() {
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    const ValueId id = entry.parameters[i];
    const tp::Argument& argument = launch.arguments[i];
    if (const auto* array = std::get_if<tp::ArrayArgument>(&argument)) {
      bind(id, address(array_buffers_[array->array]));
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
  add_buffers();
  place_globals();
  Body statements = within([&] {
    bind_parameters();
    region(entry.body);
  });
  finish(std::move(statements));
  return std::move(kernel_);
}

/// Buffers of the kernel's own come after the arrays, and the launch is around the statements.
void Lowering::finish(Body statements) {
  ir::Program& kernel = kernel_.kernel;
  kernel.level = ir::Level::kernel;
  kernel.name = identifier(entry.name);
  const std::int64_t blocks = launch.grid[0] * launch.grid[1] * launch.grid[2];
  const std::int64_t scratch = std::max(aligned(max_scratch_, 64), schedule.scratch);
  if (scratch + alloca_bytes_ > 0 && scratch + alloca_bytes_ > launch.memory / blocks)
    throw Error(
        fmt::format("{}: entry {}: expected at most {} bytes of tiles that fit no shared memory, found {} blocks of {}",
                    program.where, entry.name, launch.memory, blocks, scratch + alloca_bytes_));
  const auto add_initial = [&](std::vector<std::uint8_t> bytes) {
    kernel_.initial.push_back({kernel.buffers.size() - 1, std::move(bytes)});
  };
  if (!globals_.empty()) {
    kernel.buffers.push_back(output(globals_buffer, DType::i32, {words_of(globals_.size())}));
    add_initial(globals_);
  }
  if (scratch > 0) kernel.buffers.push_back(output(ir::scratch_buffer, DType::boolean, {blocks, scratch}));
  if (alloca_bytes_ > 0) kernel.buffers.push_back(output(allocas_buffer, DType::boolean, {blocks, alloca_bytes_}));
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    kernel_.written.push_back(written_memory_.contains(memory_resource(i)));
    if (!kernel_.written.back()) kernel.buffers[i].role = ir::Role::input;
  }
  if (!kernel_.assertions.empty()) {
    kernel_.assertion_buffer = static_cast<std::int64_t>(kernel.buffers.size());
    kernel.buffers.push_back(output(assertion_buffer, DType::i32, {1}));
    add_initial({0, 0, 0, 0});
  }
  ir::Tile tile;
  for (std::size_t d = 3; d-- > 0;) tile.axes.push_back({block_id[d].name(), launch.grid[d], ir::Bind::block});
  if (threads > 1) tile.axes.push_back({thread_.name(), threads, ir::Bind::thread});
  tile.body = std::move(tables_);
  tile.body.insert(tile.body.end(), std::make_move_iterator(statements.begin()),
                   std::make_move_iterator(statements.end()));
  if (tile.body.empty()) tile.body.push_back(ir::Jump{ir::Jump::To::end});
  kernel.body.push_back(std::move(tile));
  if (const std::string fault = verify(kernel); !fault.empty()) check_failed(fault.c_str(), __FILE__, __LINE__);
  kernel_.source = emit(kernel, target);
  kernel_.source.dry_run = false;  // it may print, and wait for what its arrays hold
}

}  // namespace deplo::rules::blocks
