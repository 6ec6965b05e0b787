#include "ir/tile_program/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"

namespace deplo::ir::tile_program {
namespace {

std::string describe(const ValueForm& v) {
  std::string text(description(v.types));
  if (v.types == Class::element) text += fmt::format(" of {}", tile_name(v.element));
  return v.scalar ? text + " of rank 0" : text;
}

bool is_base_float(DType e) { return e == DType::f16 || e == DType::bf16 || e == DType::f32 || e == DType::f64; }

bool fits(const ValueForm& v, const Type& t) {
  if (v.scalar && !t.is_scalar()) return false;
  const bool is_number = t.is_tile() && !t.pointer;
  switch (v.types) {
    case Class::any:
      return true;
    case Class::token:
      return t.kind == Kind::token;
    case Class::tile:
      return t.is_tile();
    case Class::number:
      return is_number && t.element != DType::i4;
    case Class::integer:
      return is_number && is_integral(t.element) && t.element != DType::i4;
    case Class::integer_or_i4:
      return is_number && is_integral(t.element);
    case Class::base_float:
      return is_number && is_base_float(t.element);
    case Class::any_float:
      return is_number && !is_integral(t.element);
    case Class::pointer:
      return t.is_tile() && t.pointer;
    case Class::element:
      return is_number && t.element == v.element;
    case Class::tensor_view:
      return t.kind == Kind::tensor_view;
    case Class::partition_view:
      return t.kind == Kind::partition_view;
    case Class::strided_view:
      return t.kind == Kind::strided_view;
    case Class::gather_scatter_view:
      return t.kind == Kind::gather_scatter_view;
    case Class::tile_view:
      return t.is_tile_view();
  }
  return false;
}

class Verifier {
 public:
  Verifier(const Program& program, const Entry& entry)
      : context_{program, entry, {}, std::vector<const Operation*>(entry.values.size())} {}

  void run() { check_region(context_.entry.body, nullptr); }

 private:
  [[noreturn]] void fail(const Operation& op, const std::string& message) const {
    throw Error(fmt::format("{}: {}: {}", place(context_.program, op.location), op.form->name, message));
  }

  void check_region(const Region& region, const Operation* owner) {
    if (region.operations.empty() || !region.operations.back().form->terminator) fail_region(region, owner);
    for (std::size_t i = 0; i < region.operations.size(); ++i) {
      const Operation& op = region.operations[i];
      if (op.form->terminator && i + 1 != region.operations.size())
        fail(op, "expected the end of its region after it, found " + std::string(region.operations[i + 1].form->name));
      check(op);
    }
  }

  [[noreturn]] void fail_region(const Region& region, const Operation* owner) const {
    const std::string message =
        "expected a region that ends with return, yield, continue or break, found one that does not";
    if (owner != nullptr) fail(*owner, message);
    if (!region.operations.empty()) fail(region.operations.back(), message);
    throw Error(fmt::format("{}: entry {}: {}", place(context_.program, context_.entry.location), context_.entry.name,
                            message));
  }

  void check(const Operation& op) {
    for (const ValueId id : op.results) context_.definitions[id] = &op;
    check_values(op);
    check_attributes(op);
    if (op.form->check != nullptr)
      if (const std::string why = op.form->check(op, context_); !why.empty()) fail(op, why);
    context_.enclosing.push_back(&op);
    for (const Region& region : op.regions)
      if (!(op.form->name == "if" && &region != op.regions.data() && region.operations.empty()))
        check_region(region, &op);
    context_.enclosing.pop_back();
  }

  /// Checks that the operands and results have the types that the form requires.
  void check_values(const Operation& op) {
    const Form& form = *op.form;
    std::size_t at = 0;
    std::vector<ValueId> first(form.operands.size() + form.results.size());  // first value of each operand and result
    for (std::size_t i = 0; i < form.operands.size(); ++i) {
      const std::size_t count = op.counts[i];
      if (form.operands[i].arity == Arity::one && count != 1)
        fail(op, fmt::format("expected {}, found none", form.operands[i].name));
      for (std::size_t k = 0; k < count; ++k, ++at) {
        if (k == 0) first[i] = op.operands[at];
        check_value(op, form.operands[i], op.operands[at], first);
      }
    }
    check_results(op, first);
  }

  void check_results(const Operation& op, std::vector<ValueId>& first) {
    const Form& form = *op.form;
    std::size_t fixed = 0;
    for (const ValueForm& v : form.results) fixed += v.arity == Arity::one ? 1 : 0;
    const bool varies = fixed != form.results.size();
    const bool is_optional = varies && form.results.back().arity == Arity::optional;
    if (op.results.size() < fixed || (!varies && op.results.size() > fixed) ||
        (is_optional && op.results.size() > fixed + 1))
      fail(op, fmt::format("expected {} results, found {}", fixed, op.results.size()));
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      const std::size_t of = std::min(i, form.results.size() - 1);
      first[form.operands.size() + of] = op.results[i];
      check_value(op, form.results[of], op.results[i], first);
    }
  }

  void check_value(const Operation& op, const ValueForm& v, ValueId id, const std::vector<ValueId>& first) {
    const Type& type = context_.type(id);
    if (v.same_as >= 0) {
      const Type& wanted = context_.type(first[static_cast<std::size_t>(v.same_as)]);
      if (type != wanted) fail(op, fmt::format("expected {} to be {}, found {}", v.name, print(wanted), print(type)));
    } else if (!fits(v, type)) {
      fail(op, fmt::format("expected {} to be a {}, found {}", v.name, describe(v), print(type)));
    }
    if (v.shape_of < 0) return;
    const Type& wanted = context_.type(first[static_cast<std::size_t>(v.shape_of)]);
    if (type.shape != wanted.shape)
      fail(op, fmt::format("expected {} to have the shape of {}, found {} and {}", v.name,
                           op.form->value(v.shape_of).name, print(type), print(wanted)));
  }

  void check_attributes(const Operation& op) {
    for (std::size_t i = 0; i < op.form->attributes.size(); ++i) {
      const AttributeForm& a = op.form->attributes[i];
      if (std::holds_alternative<std::monostate>(op.attributes[i])) {
        if (a.optional || a.otherwise || a.kind == AttributeKind::flag || a.kind == AttributeKind::booleans) continue;
        fail(op, fmt::format("expected {}, found none", a.name));
      }
      if (a.allowed.empty()) continue;
      const std::int64_t number = std::get<std::int64_t>(op.attributes[i]);
      if (std::find(a.allowed.begin(), a.allowed.end(), number) != a.allowed.end()) continue;
      std::string words;
      for (const std::int64_t word : a.allowed)
        words += fmt::format("{}{}", words.empty() ? "" : ", ", a.words->words[static_cast<std::size_t>(word)]);
      fail(op, fmt::format("expected {} to be one of {}; found {}", a.name, words,
                           a.words->words[static_cast<std::size_t>(number)]));
    }
  }

  Context context_;
};

void verify_globals(const Program& program) {
  std::set<std::string_view> names;
  for (const Global& global : program.globals) {
    const std::string where = fmt::format("{}: global {}", place(program, global.location), global.name);
    if (!names.insert(global.name).second) throw Error(where + ": expected a unique name, found it twice");
    if (global.type->kind != Kind::tile || global.type->pointer || global.type->shape.size() > 1)
      throw Error(fmt::format("{}: expected a tile of numbers of rank 1, found {}", where, print(*global.type)));
    if (bytes(global.type->element) == 0)
      throw Error(
          fmt::format("{}: expected elements of whole bytes, found {}", where, tile_name(global.type->element)));
    if (global.alignment < 0 || (global.alignment & (global.alignment - 1)) != 0)
      throw Error(fmt::format("{}: expected an alignment that is a power of two, found {}", where, global.alignment));
  }
  for (const Entry& entry : program.entries)
    if (!names.insert(entry.name).second)
      throw Error(fmt::format("{}: entry {}: expected a unique name, found it twice", place(program, entry.location),
                              entry.name));
}

void verify_parameters(const Program& program, const Entry& entry) {
  for (const ValueId id : entry.parameters)
    if (!entry.values[id].type->is_scalar())
      throw Error(fmt::format("{}: entry {}: expected parameters that are tiles of rank 0, found {}",
                              place(program, entry.location), entry.name, print(*entry.values[id].type)));
}

}  // namespace

std::optional<std::int64_t> Context::constant(ValueId id) const {
  const Operation* definition = definitions[id];
  if (definition == nullptr || definition->form->name != "constant" || !is_integral(type(id).element))
    return std::nullopt;
  const Dense& value = std::get<Dense>(definition->attributes[0]);
  return value->size() == 1 ? std::optional(as_signed(value->front(), width(type(id).element))) : std::nullopt;
}

std::string Context::name(ValueId id) const {
  const std::string& given = entry.values[id].name;
  return "%" + (given.empty() ? std::to_string(id) : given);
}

void verify(const Program& program) {
  verify_globals(program);
  for (const Entry& entry : program.entries) {
    verify_parameters(program, entry);
    Verifier(program, entry).run();
  }
}

}  // namespace deplo::ir::tile_program
