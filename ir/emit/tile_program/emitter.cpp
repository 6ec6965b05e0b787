#include "ir/emit/tile_program/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/error.h"
#include "ir/emit/tile_program/rows.h"
#include "ir/hardware/gpu.h"

namespace deplo::ir::tile_program::blocks {
namespace {

/// A name or a number: nothing to work out.
bool is_atom(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; });
}

void find_definitions(const Region& region, std::map<ValueId, const Operation*>& into) {
  for (const Operation& op : region.operations) {
    for (const ValueId id : op.results) into[id] = &op;
    for (const Region& inner : op.regions) find_definitions(inner, into);
  }
}

std::int64_t aligned(std::int64_t bytes, std::int64_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

Emitter::Emitter(const Program& of, const Entry& which, const Launch& how, std::span<const Array> arrays,
                 std::int64_t block_threads, const Target& on)
    : program(of),
      entry(which),
      launch(how),
      target(on),
      words(blocks::words(on.dialect)),
      threads(block_threads),
      plan(which),
      arrays_(arrays) {
  find_definitions(entry.body, definitions_);
  next_resource_ = memory_resource(arrays.size() + 2);  // behind the arrays: globals, and what allocas make
}

void Emitter::refuse(const Operation& op, const std::string& message) const {
  throw Error(fmt::format("{}: {}: {}", place(program, op.location), op.form->name, message));
}

// --- Values --------------------------------------------------------------------------------------------------------------

std::string Emitter::named(std::string_view type, const std::string& value) {
  if (is_atom(value)) return value;
  std::string name = fresh("e");
  print("const {} {} = {};", type, name, value);
  return name;
}

std::string Emitter::element(ValueId id, const At& at) {
  if (is_scalar(id)) return names_.at(id);
  const Type& t = type(id);
  const auto stored = stored_.find(id);
  if (stored != stored_.end() && stored->second.place == Stored::Place::registers) return read(stored->second, at);
  const auto known = known_.find({id, at.i});
  if (known != known_.end()) return known->second;
  const std::string value = stored != stored_.end()
                                ? read(stored->second, at)
                                : row(*definitions_.at(id)->form).element(*this, *definitions_.at(id), at);
  return known_[{id, at.i}] = named(value_type(t.element, t.pointer), value);
}

/// Views of a view, and what is assumed of one, are that view.
const View& Emitter::view(ValueId id) const {
  while (!views_.contains(id)) id = definitions_.at(id)->operands[0];
  return views_.at(id);
}

std::string Emitter::read(const Stored& s, const At& at) const {
  if (s.place == Stored::Place::registers) {
    CHECK(threads == 1 || !at.slot.empty());  // Plan::crosses
    return fmt::format("{}[{}]", s.name, at.slot.empty() ? at.i : at.slot);
  }
  return from_memory(fmt::format("{}[{}]", s.name, at.i), s.element, s.pointer);
}

void Emitter::write(const Stored& s, const At& at, const std::string& value) {
  if (s.place == Stored::Place::registers)
    print("{}[{}] = {};", s.name, at.slot, value);
  else
    print("{}[{}] = {};", s.name, at.i, to_memory(value, s.element, s.pointer));
}

Stored Emitter::allocate(DType e, bool pointer, std::int64_t count, bool crosses) {
  constexpr std::int64_t most_registers = 64, most_stack = 1 << 14;  // of a GPU's thread; bytes of a CPU's block
  Stored s{.name = fresh("v"), .element = e, .pointer = pointer, .count = count};
  const std::int64_t each = slots(count), bytes = aligned(count * memory_bytes(e, pointer), 16);
  const bool fits = target.cpu ? each * threads * 8 <= most_stack : each <= most_registers;
  if ((!crosses || threads == 1) && fits) {
    print("{} {}[{}];", value_type(e, pointer), s.name, each);
    return s;
  }
  const bool in_shared = shared_ + bytes <= target.shared_bytes;
  s.place = in_shared ? Stored::Place::shared : Stored::Place::scratch;
  std::int64_t& used = in_shared ? shared_ : scratch_;
  const std::string_view space = in_shared ? words.shared : words.global;
  print("{0}{1}* const {2} = ({0}{1}*)({3} + {4});", space, memory_type(e, pointer), s.name,
        in_shared ? "shared" : "scratch", used);
  used += bytes;
  shared_most_ = std::max(shared_most_, shared_);
  scratch_most_ = std::max(scratch_most_, scratch_);
  return s;
}

void Emitter::declare(ValueId id) {
  const Type& t = type(id);
  if (!t.is_tile()) return;
  if (!is_scalar(id)) {
    stored_[id] = allocate(t.element, t.pointer, element_count(t), plan.crosses(id));
    return;
  }
  names_[id] = fresh("v");
  print("{} {};", value_type(t.element, t.pointer), names_[id]);
}

void Emitter::share(ValueId result, ValueId with) {
  if (is_scalar(result))
    names_[result] = names_.at(with);
  else if (type(result).is_tile())
    stored_[result] = stored_.at(with);
}

void Emitter::set(ValueId id, const At& at, const std::string& value) {
  if (is_scalar(id))
    print("{} = {};", names_.at(id), value);
  else
    write(stored_.at(id), at, value);
}

// --- Threads -------------------------------------------------------------------------------------------------------------

void Emitter::within(const std::string& head, const std::function<void()>& inner) {
  const auto known = known_;
  line({head, head.empty() ? "{" : " {"});
  ++indent_;
  inner();
  --indent_;
  line("}");
  known_ = known;
}

void Emitter::unroll(std::int64_t trips) {
  constexpr std::int64_t most = 64;
  if (cuda() && trips <= most) line("#pragma unroll");
}

void Emitter::each(std::int64_t count, const std::function<void(const At&)>& body) {
  if (count < threads) {
    within(fmt::format("if (thread < {})", count), [&] { body({"thread", "0"}); });
  } else if (threads == 1) {
    within(fmt::format("for (u32 i = 0; i < {}; ++i)", count), [&] { body({"i", "i"}); });
  } else {
    unroll(slots(count));
    within(fmt::format("for (u32 s = 0; s < {}; ++s)", slots(count)), [&] {
      print("const u32 i = s * {} + thread;", threads);
      body({"i", "s"});
    });
  }
}

void Emitter::for_elements(ValueId id, const std::function<void(const At&)>& body) {
  if (is_scalar(id))
    within(threads == 1 ? "" : "if (thread == 0)", [&] { body(only); });
  else
    each(element_count(type(id)), body);
}

void Emitter::once(ValueId result, const std::function<void()>& body) {
  if (threads == 1) return body();
  const Type& t = type(result);
  if (!plan.is_used(result)) return within("if (thread == 0)", body);
  const Stored cell = allocate(t.element, t.pointer, 1, true);
  within("if (thread == 0)", [&] {
    body();
    write(cell, only, names_.at(result));
  });
  barrier();
  set(result, only, read(cell, only));
  order({new_resource()}, {});  // it may be written again when all have read it
}

void Emitter::barrier() {
  read_.clear();
  written_.clear();
  if (threads > 1) line(words.barrier);
}

void Emitter::order(const Resources& reads, const Resources& writes) {
  const auto meet = [](const Resources& a, const Resources& b) {
    return std::any_of(a.begin(), a.end(), [&](Resource r) { return b.contains(r); });
  };
  if (meet(reads, written_) || meet(writes, read_) || meet(writes, written_)) barrier();
  read_.insert(reads.begin(), reads.end());
  written_.insert(writes.begin(), writes.end());
}

void Emitter::order(const Operation& op, const Resources& memory_reads, const Resources& memory_writes) {
  Resources reads = memory_reads, writes = memory_writes;
  for (const ValueId id : op.operands) collect(id, reads);
  for (const ValueId id : op.results)
    if (plan.keeps(id) && plan.crosses(id)) writes.insert(id);
  order(reads, writes);
}

void Emitter::collect(ValueId id, Resources& into) const {
  if (!type(id).is_tile() || is_scalar(id)) return;
  if (stored_.contains(id)) {
    if (plan.crosses(id)) into.insert(id);
    return;
  }
  const auto definition = definitions_.find(id);
  CHECK(definition != definitions_.end());
  for (const ValueId operand : definition->second->operands) collect(operand, into);
}

Resources Emitter::all_memory() const {
  Resources all;
  for (std::size_t i = 0; i < arrays_.size() + 2; ++i) all.insert(memory_resource(i));
  return all;
}

Resources Emitter::arrays_behind(ValueId id) const {
  for (std::size_t i = 0; i < entry.parameters.size(); ++i)
    if (entry.parameters[i] == id) {
      const auto* array = std::get_if<ArrayArgument>(&launch.arguments[i]);
      return array == nullptr ? all_memory() : Resources{memory_resource(array->array)};
    }
  const auto definition = definitions_.find(id);
  if (definition == definitions_.end()) return all_memory();  // carried by a loop
  const Operation& op = *definition->second;
  if (op.form->name == "get_global") return {memory_resource(arrays_.size())};
  if (op.form->name == "alloca") return {memory_resource(arrays_.size() + 1)};
  // What moves pointers, or makes views of them: the first operand leads there, or all of them do.
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

// --- Control -------------------------------------------------------------------------------------------------------------

void Emitter::operation(const Operation& op) {
  const Row& how = row(*op.form);
  if (how.element == nullptr) return how.statement(*this, op);
  const ValueId id = op.results[0];
  const Type& t = type(id);
  if (is_scalar(id)) {
    order(op);
    bind(id, named(value_type(t.element, t.pointer), how.element(*this, op, only)));
  } else if (plan.keeps(id)) {
    order(op);
    declare(id);
    each(element_count(t), [&](const At& at) { set(id, at, how.element(*this, op, at)); });
  }
}

void Emitter::region(const Region& of) {
  const std::int64_t shared = shared_, scratch = scratch_;
  for (const Operation& op : of.operations) operation(op);
  const bool leaves =
      !of.operations.empty() && of.operations.back().form->terminator && of.operations.back().form->name != "yield";
  if ((shared != shared_ || scratch != scratch_) && !leaves && !(read_.empty() && written_.empty())) barrier();
  shared_ = shared;
  scratch_ = scratch;
}

void Emitter::branch(const std::string& condition, const Region& yes, const Region& no) {
  const Resources read = read_, written = written_;
  within("if (" + condition + ")", [&] { region(yes); });
  const Resources read_then = std::exchange(read_, read), written_then = std::exchange(written_, written);
  if (!no.operations.empty()) within("else", [&] { region(no); });
  read_.insert(read_then.begin(), read_then.end());
  written_.insert(written_then.begin(), written_then.end());
}

void Emitter::check_pure(const Region& of) const {
  for (const Operation& op : of.operations) {
    const bool is_pure = row(*op.form).element != nullptr && is_scalar(op.results[0]);
    if (!is_pure && op.form->name != "if" && op.form->name != "yield")
      refuse(op, "a reduce or scan body may not contain loops or memory operations");
    for (const Region& inner : op.regions) check_pure(inner);
  }
}

std::vector<std::string> Emitter::body(const Operation& owner, const std::vector<std::string>& arguments) {
  const Region& of = owner.regions[0];
  check_pure(of);
  for (std::size_t i = 0; i < arguments.size(); ++i) bind(of.arguments[i], arguments[i]);
  std::vector<std::string> yielded;
  for (const Operation& op : of.operations) {
    if (op.form->name != "yield")
      operation(op);
    else
      for (const ValueId id : op.operands) yielded.push_back(scalar(id));
  }
  return yielded;
}

void Emitter::assign(const std::vector<ValueId>& to, const std::vector<ValueId>& from) {
  std::vector<std::pair<std::string, std::string>> scalars;
  std::map<std::int64_t, std::vector<std::size_t>> by_count;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const Type& t = type(to[i]);
    if (!t.is_tile()) continue;
    if (!is_scalar(to[i])) {
      by_count[element_count(t)].push_back(i);
      continue;
    }
    const std::string now = fresh("e");
    print("const {} {} = {};", value_type(t.element, t.pointer), now, scalar(from[i]));
    scalars.emplace_back(names_.at(to[i]), now);
  }
  for (const auto& [variable, now] : scalars) print("{} = {};", variable, now);
  for (const auto& [count, which] : by_count) {
    Resources reads, writes;
    for (const std::size_t i : which) {
      collect(from[i], reads);
      if (plan.crosses(to[i])) writes.insert(to[i]);
    }
    order(reads, writes);
    each(count, [&, &which = which](const At& at) {  // clang 14 captures no structured binding by itself
      std::vector<std::string> now;
      for (const std::size_t i : which) {
        now.push_back(fresh("e"));
        print("const {} {} = {};", value_type(type(to[i]).element, type(to[i]).pointer), now.back(),
              element(from[i], at));
      }
      for (std::size_t n = 0; n < which.size(); ++n) set(to[which[n]], at, now[n]);
    });
  }
}

// --- The kernel ----------------------------------------------------------------------------------------------------------

std::string Emitter::table(const Operation& constant) {
  const Type& t = result_type(constant);
  const auto& bits = *std::get<Dense>(constant.attributes[0]);
  const std::string name = fmt::format("table_{}", constant.results[0]);
  if (tabled_.insert(name).second) {
    tables_ += fmt::format("{}{} {}[{}] = {{", words.table, integer_type(width(t.element), false), name, bits.size());
    for (std::size_t i = 0; i < bits.size(); ++i)
      tables_ += fmt::format("{}{}",
                             i == 0        ? ""
                             : i % 16 == 0 ? ",\n"
                                           : ", ",
                             width(t.element) == 64 ? fmt::format("{}ul", bits[i]) : fmt::format("{}u", bits[i]));
    tables_ += "};\n";
  }
  return name;
}

void Emitter::place_globals() {
  for (const Global& global : program.globals) {
    const Array array = initial_array(global);
    const std::int64_t at =
        aligned(static_cast<std::int64_t>(globals_.size()), std::max<std::int64_t>(16, global.alignment));
    globals_.resize(static_cast<std::size_t>(at));
    globals_.insert(globals_.end(), array.bytes.begin(), array.bytes.end());
    global_offsets_[global.name] = at;
  }
}

std::string Emitter::global_address(const std::string& name) const {
  return fmt::format("(u64)(globals + {})", global_offsets_.at(name));
}

std::string Emitter::allocate_alloca(std::int64_t bytes, std::int64_t alignment) {
  const std::int64_t at = aligned(allocas_, std::max<std::int64_t>(16, alignment));
  allocas_ = at + bytes;
  return fmt::format("(u64)(allocas + {})", at);
}

std::string Emitter::fail_assertion(const Operation& op) {
  kernel_.assertions.push_back(fmt::format("{}: assert: expected its condition, found it false: {}",
                                           place(program, op.location), std::get<std::string>(op.attributes[0])));
  return fmt::format("swap_if_u32(({}volatile u32*)assertion, 0u, {}u);", words.global, kernel_.assertions.size());
}

std::int64_t Emitter::add_buffer(const std::string& name, DType dtype, std::int64_t elements) {
  Buffer buffer{.name = name, .dtype = dtype, .role = Role::output, .shape = {elements}, .strides = {1}};
  kernel_.kernel.buffers.push_back(std::move(buffer));
  return static_cast<std::int64_t>(kernel_.kernel.buffers.size()) - 1;
}

void Emitter::bind_parameters() {
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    const ValueId id = entry.parameters[i];
    const DType e = type(id).element;
    const Argument& argument = launch.arguments[i];
    if (const auto* array = std::get_if<ArrayArgument>(&argument)) {
      bind(id, fmt::format("e{}", next_name_));
      print("const u64 e{} = (u64)array_{};", next_name_++, array->array);
      continue;
    }
    const auto* whole = std::get_if<std::int64_t>(&argument);
    const std::uint64_t bits =
        is_integral(e) ? static_cast<std::uint64_t>(*whole)
                       : encode_float(whole != nullptr ? static_cast<double>(*whole) : std::get<double>(argument), e);
    bind(id, named(value_type(e), literal(bits, e)));
  }
}

std::string Emitter::parameters() const {
  std::string text;
  const auto add = [&](const std::string& name) {
    text += fmt::format("{}{}u8* {}", text.empty() ? "" : ", ", words.global, name);
  };
  for (std::size_t i = 0; i < arrays_.size(); ++i) add(fmt::format("array_{}", i));
  for (std::size_t i = arrays_.size(); i < kernel_.kernel.buffers.size(); ++i) add(kernel_.kernel.buffers[i].name);
  return text;
}

namespace {

/// Elements as a buffer has them: those that Loop IR has no type for as bytes.
std::pair<DType, std::int64_t> in_buffer(const Array& array) {
  const auto size = static_cast<std::int64_t>(array.bytes.size());
  const bool as_bytes = !is_kernel_type(array.element) || array.element == DType::i64;
  return {as_bytes ? DType::boolean : array.element, as_bytes ? size : size / bytes(array.element)};
}

}  // namespace

BlockKernel Emitter::run() {
  for (const Array& array : arrays_) {
    const auto [dtype, elements] = in_buffer(array);
    add_buffer(array.name, dtype, elements);
  }
  place_globals();
  ++indent_;
  bind_parameters();
  region(entry.body);
  finish();
  return std::move(kernel_);
}

/// What stands around the entry's lines is known when these are written.
void Emitter::finish() {
  KernelSource& source = kernel_.source;
  const std::int64_t x = launch.grid[0], y = launch.grid[1];
  source.blocks = x * y * launch.grid[2];
  source.threads = threads;
  source.dry_run = false;  // it may print, and wait for what its arrays hold
  source.entry = "k_";
  for (const char c : entry.name) source.entry += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  kernel_.kernel.level = Level::kernel;
  kernel_.kernel.name = entry.name;
  if (!globals_.empty()) {
    const std::int64_t buffer = add_buffer("globals", DType::boolean, static_cast<std::int64_t>(globals_.size()));
    kernel_.initial.push_back({static_cast<std::size_t>(buffer), globals_});
  }
  const std::int64_t each = aligned(scratch_most_ + allocas_, 64);
  if (each != 0) {
    if (each > launch.memory / source.blocks)
      throw Error(fmt::format(
          "{}: entry {}: expected at most {} bytes of tiles that fit no shared memory, found {} blocks of {}",
          program.where, entry.name, launch.memory, source.blocks, each));
    add_buffer("scratch_memory", DType::boolean, each * source.blocks);
  }
  if (!kernel_.assertions.empty()) {
    kernel_.assertion_buffer = add_buffer("assertion", DType::i32, 1);
    kernel_.initial.push_back({static_cast<std::size_t>(kernel_.assertion_buffer), {0, 0, 0, 0}});
  }

  std::string text =
      fmt::format(fmt::runtime(words.kernel), threads) +
      fmt::format("\nvoid {}({}) {{\n  const u32 block = {};\n", source.entry, parameters(), words.block);
  if (threads > 1) text += fmt::format("  const u32 thread = {};\n", words.thread);
  if (shared_most_ != 0) {
    source.shared_bytes = aligned(shared_most_, 16);
    source.dynamic_shared = cuda() && source.shared_bytes > gpu::static_shared_bytes;
    text += "  " +
            (source.dynamic_shared
                 ? std::string("extern __shared__ u64 shared_words[];\n  u8* const shared = (u8*)shared_words;")
                 : fmt::format(fmt::runtime(words.shared_memory), source.shared_bytes / 8)) +
            "\n";
  }
  if (each != 0) {
    text += fmt::format("  {0}u8* const scratch = scratch_memory + (u64)block * {1};\n", words.global, each);
    text += fmt::format("  {0}u8* const allocas = scratch + {1};\n", words.global, scratch_most_);
  }
  for (const auto& [name, definition] : functions_) tables_ += definition;
  source.text = tables_ + text + out_ + "}\n";
  source.text = vocabulary(source.text, target.dialect) + source.text;
}

}  // namespace deplo::ir::tile_program::blocks
