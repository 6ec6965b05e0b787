// Checks the statements of programs that are lowered block by block.
#include <utility>

#include "ir/tile_program/interpret/scalars.h"
#include "ir/verify/checks.h"
#include "ir/verify/violation.h"
#include "ir/walk.h"

namespace deplo::ir::verifier {
namespace {

void define(Context& c, const std::string& text, DType dtype) {
  Name& value = c.names.define(text, Name::Kind::value, "a value");
  value.type = {dtype, 1};
  value.range = dtype == DType::boolean ? Strided{0, 1, 1} : Strided{INT32_MIN, INT32_MAX, 1};
}

DType scalar(Context& c, const std::string& text) {
  const Type& type = c.names.use(text).type;
  if (type.lanes != 1) fail("`{}` has {} lanes", text, type.lanes);
  return type.dtype;
}

void expect(Context& c, const std::string& text, DType expected) {
  if (const DType found = scalar(c, text); found != expected)
    fail("`{}` is {}, expected {}", text, name(found), name(expected));
}

/// Can a value of this type be an argument or result of this form? Pointers are i64.
bool fits(const tile_program::ValueForm& form, DType dtype) {
  using tile_program::Class;
  switch (form.types) {
    case Class::integer:
      return is_integral(dtype) && dtype != DType::i4;
    case Class::integer_or_i4:
      return is_integral(dtype);
    case Class::base_float:
    case Class::any_float:
      return is_float(dtype);
    case Class::pointer:
      return dtype == DType::i64;
    case Class::element:
      return dtype == form.element;
    default:
      return true;
  }
}

Name& local(Context& c, const std::string& text) {
  Name* array = c.names.find(text);
  if (array == nullptr || array->kind != Name::Kind::local || !array->scope->open)
    fail("`{}` is not a Local or a Table in scope", text);
  return *array;
}

Name& element(Context& c, const std::string& text, const Expr& index) {
  Name& array = local(c, text);
  c.index.set_gathers(true);
  c.index.in_range(index, array.extents[0]);
  c.index.set_gathers(false);
  return array;
}

Name& declare(Context& c, const std::string& text, DType dtype, std::int64_t count, bool writable) {
  Name& array = c.names.define(text, Name::Kind::local, "an array");
  array.type = {dtype, 1};
  array.extents = {count};
  array.writable = writable;
  return array;
}

}  // namespace

void check(Context& c, const Constant& s) { define(c, s.dst, s.dtype); }

void check(Context& c, const Compute& s) {
  if (s.op == nullptr || !tile_program::is_elementwise(*s.op)) fail("it can compute only an operation on elements");
  if (s.numbers.size() != s.op->attributes.size())
    fail("{} has {} attributes, found {}", s.op->name, s.op->attributes.size(), s.numbers.size());
  const auto& forms = s.op->operands;
  if (s.args.size() != forms.size()) fail("{} takes {} arguments, found {}", s.op->name, forms.size(), s.args.size());
  std::vector<DType> types;
  for (const std::string& arg : s.args) types.push_back(scalar(c, arg));
  types.push_back(s.dtype);
  for (std::size_t i = 0; i < types.size(); ++i) {
    const tile_program::ValueForm& form = s.op->value(static_cast<int>(i));
    const std::string_view what = i < s.args.size() ? std::string_view(s.args[i]) : std::string_view(s.dst);
    if (!fits(form, types[i])) fail("{} takes no {} as `{}`", s.op->name, name(types[i]), what);
    if (form.same_as >= 0 && types[static_cast<std::size_t>(form.same_as)] != types[i])
      fail("`{}` is {}, expected {}", what, name(types[i]), name(types[static_cast<std::size_t>(form.same_as)]));
  }
  define(c, s.dst, s.dtype);
}

void check(Context& c, const Local& s) {
  if (s.count < 1) fail("an extent of {}", s.count);
  const std::int64_t size = local_bytes(s.dtype);
  if (s.offset < 0 || s.offset % size != 0) fail("an offset of {} bytes", s.offset);
  if (s.space == Space::thread && s.offset != 0) fail("registers have no offset");
  if (s.space == Space::scratch) {
    const Buffer* scratch = c.program.find(scratch_buffer);
    if (scratch == nullptr || scratch->shape.size() != 2) fail("the program has no buffer `{}`", scratch_buffer);
    if (s.offset + s.count * size > scratch->shape[1])
      fail("it reaches beyond the block's {} bytes", scratch->shape[1]);
  }
  declare(c, s.array, s.dtype, s.count, true);
}

void check(Context& c, const Table& s) {
  if (s.bits.empty()) fail("a table has at least one element");
  declare(c, s.array, s.dtype, static_cast<std::int64_t>(s.bits.size()), false);
}

void check(Context& c, const Get& s) {
  if (const Name& array = element(c, s.array, s.index); array.type.dtype != s.dtype)
    fail("`{}` holds {}", s.array, name(array.type.dtype));
  define(c, s.dst, s.dtype);
}

void check(Context& c, const Put& s) {
  const Name& array = element(c, s.array, s.index);
  if (!array.writable) fail("`{}` is a Table", s.array);
  expect(c, s.value, array.type.dtype);
}

void check(Context& c, const Address& s) {
  if (c.program.find(s.buffer) == nullptr) fail("`{}` is not a buffer of the program", s.buffer);
  define(c, s.dst, DType::i64);
}

void check(Context& c, const LoadAt& s) {
  expect(c, s.address, DType::i64);
  define(c, s.dst, s.dtype);
}

void check(Context& c, const StoreAt& s) {
  expect(c, s.address, DType::i64);
  expect(c, s.value, s.dtype);
}

void check(Context& c, const Atomic& s) {
  expect(c, s.address, DType::i64);
  if (s.args.size() != (s.mode ? 1 : 2)) fail("it takes {} values, found {}", s.mode ? 1 : 2, s.args.size());
  for (const std::string& arg : s.args) expect(c, arg, s.dtype);
  define(c, s.dst, s.dtype);
}

void check(Context&, const Fence&) {}

void check(Context& c, const Branch& s) {
  expect(c, s.condition, DType::boolean);
  check_body(c, s.body);
}

void check(Context& c, const Forever& s) {
  const bool ends = has<Jump>(s.body);
  if (!ends) fail("no statement leaves it, so it never ends");
  if (c.in_loop) fail("it must not be in a loop");
  const bool outside = std::exchange(c.in_forever, true);
  check_body(c, s.body);
  c.in_forever = outside;
}

void check(Context& c, const Jump& s) {
  if (c.in_loop) fail("it must not be in a loop");
  if (s.to != Jump::To::end && !c.in_forever) fail("it must be in a Forever");
}

void check(Context& c, const Print& s) {
  for (const Print::Piece& piece : s.pieces)
    if (!piece.value.empty()) {
      scalar(c, piece.value);
      if (!piece.text.starts_with('%')) fail("a conversion begins with `%`");
    }
}

}  // namespace deplo::ir::verifier
