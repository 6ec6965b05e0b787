#include "ir/tile_program/bytecode/read_bytecode.h"

#include <fmt/format.h>

#include "core/error.h"
#include "ir/tile_program/bytecode/attributes.h"
#include "ir/tile_program/bytecode/sections.h"

namespace deplo::ir::tile_program {
namespace bytecode {
namespace {

constexpr int deepest_region = 64;  // limit, so that no file can exhaust the stack

/// Reads the operations of one function.
class FunctionReader {
 public:
  FunctionReader(File& file, Entry& entry, Bytes body, std::uint64_t debug_row)
      : file_(file), entry_(entry), from_(body), debug_row_(debug_row) {}

  void read(const std::vector<TypePtr>& parameters) {
    for (const TypePtr& type : parameters) entry_.parameters.push_back(define(type));
    entry_.location = file_.location(debug_row_, 0, from_.position());
    while (!from_.done()) entry_.body.operations.push_back(read_operation(0));
  }

 private:
  ValueId define(TypePtr type) {
    const auto id = static_cast<ValueId>(entry_.values.size());
    entry_.values.push_back({std::move(type), ""});
    visible_.push_back(id);
    return id;
  }

  bool is_here(Version since) const { return since <= file_.version; }

  const Form& read_form() {
    const std::uint64_t at = from_.position(), opcode = from_.varint("an opcode");
    const Form* form = find_opcode(opcode);
    if (form == nullptr) from_.fail_at(at, fmt::format("expected the opcode of an operation, found {:#x}", opcode));
    if (!form->refused.empty())
      from_.fail_at(at,
                    fmt::format("expected an operation of an entry, found {}, which {}", form->name, form->refused));
    if (!is_here(form->since))
      from_.fail_at(at, fmt::format("expected an operation of version {}, found {}, which is of {}",
                                    print(file_.version), form->name, print(form->since)));
    return *form;
  }

  std::vector<TypePtr> read_result_types(const Form& form) {
    std::size_t count = form.results.size();
    if (form.has_counted_results()) count = from_.count(1, "results");
    std::vector<TypePtr> types;
    for (std::size_t i = 0; i < count; ++i) types.push_back(file_.type(from_, "the type of a result"));
    return types;
  }

  /// Reads the flags first, with one bit for each attribute that is a flag or may be absent; then the other attributes.
  void read_attributes(Operation& op) {
    const Form& form = *op.form;
    op.attributes.resize(form.attributes.size());
    flags_ = 0;
    flag_ = 0;
    bool has_flags = false;
    for (const AttributeForm& a : form.attributes)
      has_flags |= is_here(a.since) && (a.optional || a.kind == AttributeKind::flag);
    for (const ValueForm& v : form.operands) has_flags |= is_here(v.since) && v.arity == Arity::optional;
    if (has_flags) flags_ = from_.varint("flags");
    for (std::size_t i = 0; i < form.attributes.size(); ++i) {
      const AttributeForm& a = form.attributes[i];
      if (!is_here(a.since)) continue;
      if (a.kind == AttributeKind::flag) {
        if (take_flag()) op.attributes[i] = std::int64_t{1};
      } else if (!a.optional || take_flag()) {
        op.attributes[i] = read_attribute(from_, file_, a, value_type_);
      }
    }
  }

  bool take_flag() { return (flags_ >> flag_++ & 1) != 0; }

  ValueId read_value() { return visible_[from_.index(visible_.size(), "a value")]; }

  void read_operands(Operation& op) {
    const Form& form = *op.form;
    const bool segments = form.has_segments();
    for (std::size_t i = 0; i < form.operands.size(); ++i) {
      const ValueForm& v = form.operands[i];
      std::size_t count = 1;
      if (v.arity == Arity::optional) count = is_here(v.since) && take_flag() ? 1 : 0;
      if (!segments && i == 0 && form.has_counted_operands()) all_ = from_.count(1, "operands");
      if (v.arity == Arity::variadic) count = segments ? from_.count(1, "operands") : variadic_count(form);
      op.counts.push_back(static_cast<std::uint32_t>(count));
      for (std::size_t k = 0; k < count; ++k) op.operands.push_back(read_value());
    }
  }

  /// Returns the number of values of the variadic operand if the file has a single count for all operands.
  std::size_t variadic_count(const Form& form) const {
    const std::size_t single = form.operands.size() - 1;
    if (all_ < single) from_.fail(fmt::format("{}: expected at least {} operands, found {}", form.name, single, all_));
    return all_ - single;
  }

  Region read_region(int depth) {
    Region region;
    const std::uint64_t blocks = from_.varint("the blocks of a region");
    if (blocks > 1) from_.fail(fmt::format("expected a region of one block, found {}", blocks));
    if (blocks == 0) return region;
    const std::size_t outside = visible_.size();
    for (std::size_t i = from_.count(1, "arguments of a region"); i > 0; --i)
      region.arguments.push_back(define(file_.type(from_, "the type of an argument")));
    for (std::size_t i = from_.count(1, "operations of a region"); i > 0; --i)
      region.operations.push_back(read_operation(depth + 1));
    visible_.resize(outside);
    return region;
  }

  void read_regions(Operation& op, int depth) {
    if (op.form->regions == 0) return;
    const std::uint64_t regions = from_.varint("regions");
    if (regions != static_cast<std::uint64_t>(op.form->regions))
      from_.fail(fmt::format("{}: expected {} regions, found {}", op.form->name, op.form->regions, regions));
    if (depth >= deepest_region)
      from_.fail(fmt::format("expected at most {} nested regions, found more", deepest_region));
    for (int i = 0; i < op.form->regions; ++i) op.regions.push_back(read_region(depth));
  }

  Operation read_operation(int depth) {
    Operation op;
    op.location = file_.location(debug_row_, ++operations_, from_.position());
    op.form = &read_form();
    const std::vector<TypePtr> types = read_result_types(*op.form);
    value_type_ = types.empty() ? nullptr : types.front();
    read_attributes(op);
    read_operands(op);
    read_regions(op, depth);
    for (const TypePtr& type : types) op.results.push_back(define(type));
    return op;
  }

  File& file_;
  Entry& entry_;
  Bytes from_;
  std::uint64_t debug_row_ = 0;
  std::vector<ValueId> visible_;
  std::size_t operations_ = 0;
  // State of the operation that is being read:
  TypePtr value_type_;
  std::uint64_t flags_ = 0;
  int flag_ = 0;
  std::size_t all_ = 0;
};

void read_function(File& file, Bytes& from, Program& program) {
  enum : std::uint64_t { is_entry = 2, has_hints = 4 };
  Entry entry;
  entry.name = file.string(from, "the name of a function");
  const TypeRow& type = file.type_row(from, "the type of a function");
  const std::uint64_t flags = from.byte("flags");
  const std::uint64_t debug_row = from.varint("debug info");
  if (!type.parameters) from.fail(fmt::format("{}: expected the type of a function, found another", entry.name));
  if ((flags & is_entry) == 0) from.fail(fmt::format("{}: expected an entry, found another function", entry.name));
  if (type.results) from.fail(fmt::format("{}: expected an entry without results, found some", entry.name));
  if ((flags & has_hints) != 0) entry.hints = read_tagged_hints(from, file);
  const std::uint64_t size = from.varint("the size of a function");
  FunctionReader(file, entry, from.part(size, "a function"), debug_row).read(*type.parameters);
  program.entries.push_back(std::move(entry));
}

void read_global(File& file, Bytes& from, Program& program) {
  Global global;
  global.location.byte = from.position();
  global.name = file.string(from, "the name of a global");
  global.type = file.type(from, "the type of a global");
  global.value = file.constant(from, *global.type);
  global.alignment = static_cast<std::int64_t>(from.index(1ULL << 32, "an alignment"));
  if (file.version >= Version{13, 3}) {
    global.is_private = from.index(2, "a visibility") == 1;
    global.constant = (from.varint("flags") & 1) != 0;
  }
  program.globals.push_back(std::move(global));
}

}  // namespace
}  // namespace bytecode

bool is_bytecode(std::string_view bytes) { return bytes.substr(0, 8) == std::string_view("\x7FTileIR\0", 8); }

Program read_bytecode(std::string_view bytes, std::string_view where) {
  bytecode::File file(bytes, where);
  Program program;
  program.where = where;
  program.is_bytecode = true;
  program.version = file.version;
  program.name = "kernels";  // bytecode has no module name
  if (file.globals)
    for (std::size_t i = file.globals->count(4, "globals"); i > 0; --i)
      bytecode::read_global(file, *file.globals, program);
  for (std::size_t i = file.functions->count(5, "functions"); i > 0; --i)
    bytecode::read_function(file, *file.functions, program);
  program.sources = file.sources;
  return program;
}

}  // namespace deplo::ir::tile_program
