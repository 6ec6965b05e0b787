// Operations that compute element by element, move elements, or compute elements from their position.
#include "rules/blocks/shapes.h"

#include "core/mapped.h"
#include "ir/tile_program/interpret/scalars.h"
#include "ir/types/float_format.h"
#include "ir/types/types.h"
#include "rules/blocks/lowering.h"
#include "rules/blocks/rows.h"

namespace deplo::rules::blocks {

using tp::Extents;

Expr coordinate(const Expr& i, const Extents& shape, std::size_t d) {
  std::int64_t below = 1, above = 1;
  for (std::size_t k = d + 1; k < shape.size(); ++k) below *= shape[k];
  for (std::size_t k = 0; k < d; ++k) above *= shape[k];
  if (shape[d] == 1) return 0;
  const Expr divided = below == 1 ? i : i / below;
  return above == 1 ? divided : divided % shape[d];
}

Expr in_strides(const Expr& i, const Extents& shape, const Extents& strides) {
  Expr sum = 0;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1 && strides[d] != 0) sum = sum + coordinate(i, shape, d) * strides[d];
  return sum;
}

namespace {

Name elementwise(Lowering& l, const Operation& op, const At& at) {
  std::vector<Name> args = mapped(op.operands, [&](ValueId id) { return l.element(id, at); });
  return l.compute(op, l.dtype(op.results[0]), std::move(args));
}

/// Returns true if all elements are this number, as a constant or copies of one.
bool is_everywhere(const Lowering& l, ValueId id, double number) {
  const Operation* op = l.definition(id);
  while (op != nullptr && (op->form->name == "broadcast" || op->form->name == "reshape"))
    op = l.definition(op->operands[0]);
  if (op == nullptr || op->form->name != "constant") return false;
  const auto& bits = *std::get<tp::Dense>(op->attributes[0]);
  return bits.size() == 1 && ir::decode_float(bits[0], l.dtype(id)) == number;
}

/// A square is one multiplication. `pow` calls a function of hundreds of instructions, which compilers do not
/// vectorize.
Name power(Lowering& l, const Operation& op, const At& at) {
  if (!is_everywhere(l, op.operands[1], 2)) return elementwise(l, op, at);
  const Name x = l.element(op.operands[0], at);
  return l.compute("mulf", l.dtype(op.results[0]), {x, x});
}

Name at_place(Lowering& l, const Operation& op, const Expr& i) {
  return l.element(op.operands[0], {l.simplified(i), std::nullopt});
}

Name broadcast(Lowering& l, const Operation& op, const At& at) {
  const Extents &from = l.type(op.operands[0]).shape, &to = l.result_type(op).shape;
  if (from == to) return l.element(op.operands[0], at);
  Extents strides = ir::row_major_strides(from);
  for (std::size_t d = 0; d < from.size(); ++d)
    if (from[d] == 1) strides[d] = 0;
  return at_place(l, op, in_strides(at.i, to, strides));
}

Name permute(Lowering& l, const Operation& op, const At& at) {
  const Extents from = ir::row_major_strides(l.type(op.operands[0]).shape);
  const Extents strides = mapped(std::get<std::vector<std::int64_t>>(op.attribute("permutation")),
                                 [&](std::int64_t d) { return from[static_cast<std::size_t>(d)]; });
  return at_place(l, op, in_strides(at.i, l.result_type(op).shape, strides));
}

/// A one-element integer as a term of an index expression.
Expr term(Lowering& l, ValueId id) {
  const Name value = l.scalar(id);
  return l.term(value, l.dtype(id));
}

Name extract(Lowering& l, const Operation& op, const At& at) {
  const Extents &from = l.type(op.operands[0]).shape, &to = l.result_type(op).shape;
  const Extents strides = ir::row_major_strides(from);
  Expr i = in_strides(at.i, to, strides);
  for (std::size_t d = 0; d < to.size(); ++d)
    if (from[d] != to[d]) i = i + term(l, op.operands[1 + d]) * (to[d] * strides[d]);
  return l.element_at(op.operands[0], i);
}

/// Computes both sides, because each has an element at the clamped index. The condition selects one of them.
Name cat(Lowering& l, const Operation& op, const At& at) {
  const auto dim = static_cast<std::size_t>(op.number("dim"));
  const Type& t = l.result_type(op);
  const Extents &first = l.type(op.operands[0]).shape, &second = l.type(op.operands[1]).shape;
  const auto part = [&](std::size_t operand, const Extents& shape, std::int64_t before) {
    const Extents strides = ir::row_major_strides(shape);
    return l.element_at(op.operands[operand], in_strides(at.i, t.shape, strides) - before * strides[dim]);
  };
  const Name is_first = l.condition(ir::less(coordinate(at.i, t.shape, dim), first[dim]));
  const Name yes = part(0, first, 0);
  return l.select(is_first, l.dtype(op.results[0]), yes, part(1, second, first[dim]));
}

Name insert(Lowering& l, const Operation& op, const At& at) {
  const Type& t = l.result_type(op);
  const Extents& part = l.type(op.operands[0]).shape;
  const Extents strides = ir::row_major_strides(part);
  Expr inside = 1, i = 0;
  for (std::size_t d = 0; d < part.size(); ++d) {
    if (part[d] == t.shape[d] && part[d] == 1) continue;
    const Expr position = coordinate(at.i, t.shape, d) - term(l, op.operands[2 + d]) * part[d];
    inside =
        Expr(ir::ExprOp::land, inside, Expr(ir::ExprOp::land, ir::less(-1, position), ir::less(position, part[d])));
    i = i + position * strides[d];
  }
  if (inside.is_constant(1)) return l.element(op.operands[0], at);
  const Name is_inside = l.condition(inside);
  const Name yes = l.element_at(op.operands[0], i);
  return l.select(is_inside, l.dtype(op.results[0]), yes, l.element(op.operands[1], at));
}

Name constant(Lowering& l, const Operation& op, const At& at) {
  const auto& bits = *std::get<tp::Dense>(op.attributes[0]);
  const DType dtype = l.dtype(op.results[0]);
  return bits.size() == 1 ? l.constant(dtype, bits[0]) : l.read({l.table(op), dtype, ir::Space::shared}, at);
}

Name iota(Lowering& l, const Operation& op, const At& at) {
  return l.converted(l.index(at.i), DType::i32, l.dtype(op.results[0]), false);
}

Name itself(Lowering& l, const Operation& op, const At& at) { return l.element(op.operands[0], at); }

/// The address of an element, `op.operands[1]` elements after the first operand.
Name offset(Lowering& l, const Operation& op, const At& at) {
  const ValueId offsets = op.operands[1];
  const Name base = l.element(op.operands[0], at);
  const Name by = l.converted(l.element(offsets, at), l.dtype(offsets), DType::i64, true);
  const Name bytes = l.whole(DType::i64, ir::bytes(l.type(op.operands[0]).element));
  return l.compute("addi", DType::i64, {base, l.compute("muli", DType::i64, {by, bytes})});
}

// --- Bytes -----------------------------------------------------------------------------------------------------------

DType integer_of(int bits) {
  return bits == 4 ? DType::i4 : bits == 8 ? DType::i8 : bits == 16 ? DType::i16 : bits == 32 ? DType::i32 : DType::i64;
}

Name bits_of(Lowering& l, const Name& value, DType from) {
  const DType bits = integer_of(ir::width(from));
  return ir::is_integral(from) ? value : l.compute("bitcast", bits, {value});
}

Name shifted(Lowering& l, std::string_view operation, DType dtype, const Name& value, const Name& by) {
  return l.compute(operation, dtype, {value, by});
}

/// Byte i of the elements' bits. The lowest byte comes first.
Name pack(Lowering& l, const Operation& op, const At& at) {
  const ValueId source = op.operands[0];
  const DType from = l.dtype(source);
  const int w = ir::width(from);
  if (w > 8) {
    const DType bits = integer_of(w);
    const Name value = bits_of(l, l.element(source, {l.simplified(at.i / (w / 8)), std::nullopt}), from);
    const Name by = l.converted(l.index(at.i % (w / 8) * 8), DType::i32, bits, false);
    return l.converted(shifted(l, "shri", bits, value, by), bits, l.dtype(op.results[0]), false);
  }
  Name byte = l.whole(DType::i8, 0);
  for (int k = 0; k < 8 / w; ++k) {
    const Name value = bits_of(l, l.element(source, {l.simplified(at.i * (8 / w) + k), std::nullopt}), from);
    const Name wide = l.converted(value, integer_of(w), DType::i8, false);
    byte = l.compute("ori", DType::i8, {byte, shifted(l, "shli", DType::i8, wide, l.whole(DType::i8, w * k))});
  }
  return byte;
}

Name of_bits(Lowering& l, const Name& bits, DType dtype) {
  return ir::is_integral(dtype) ? bits : l.compute("bitcast", dtype, {bits});
}

Name unpack(Lowering& l, const Operation& op, const At& at) {
  const DType to = l.dtype(op.results[0]);
  const int w = ir::width(to);
  const auto byte_at = [&](const Expr& i) { return l.element(op.operands[0], {l.simplified(i), std::nullopt}); };
  const DType bits = integer_of(w);
  if (w < 8) {
    const Name by = l.converted(l.index(at.i % (8 / w) * w), DType::i32, DType::i8, false);
    return of_bits(l, l.converted(shifted(l, "shri", DType::i8, byte_at(at.i / (8 / w)), by), DType::i8, bits, false),
                   to);
  }
  Name value = l.whole(bits, 0);
  for (int k = 0; k < w / 8; ++k) {
    const Name wide = l.converted(byte_at(at.i * (w / 8) + k), DType::i8, bits, false);
    value = l.compute("ori", bits, {value, shifted(l, "shli", bits, wide, l.whole(bits, 8 * k))});
  }
  return of_bits(l, value, to);
}

/// Operations that cost hardly more than reading a kept element.
constexpr std::array<std::string_view, 19> cheap = {
    "addi", "andi",       "bitcast",    "cmpi",   "exti", "int_to_ptr", "maxi", "mini",   "muli", "negi",
    "ori",  "ptr_to_int", "ptr_to_ptr", "select", "shli", "shri",       "subi", "trunci", "xori"};

}  // namespace

std::vector<Row> elementwise_rows() {
  std::vector<Row> rows;
  for (const tp::Form& form : tp::operations())
    if (tp::is_elementwise(form))
      rows.push_back({form.name, form.name == "pow" ? power : elementwise, Reads::own,
                      std::ranges::find(cheap, form.name) != cheap.end()});
  return rows;
}

std::vector<Row> shape_rows() {
  return {{"assume", itself, Reads::own, true},
          {"broadcast", broadcast, Reads::repeated, true},
          {"cat", cat, Reads::moved, true},
          {"constant", constant, Reads::own, true},
          {"extract", extract, Reads::moved, true},
          {"insert", insert, Reads::moved, true},
          {"iota", iota, Reads::own, true},
          {"offset", offset, Reads::own, true},
          {"pack", pack, Reads::moved},
          {"permute", permute, Reads::moved, true},
          {"reshape", itself, Reads::own, true},
          {"unpack", unpack, Reads::moved}};
}

}  // namespace deplo::rules::blocks
