// Operations that move elements, or make them of their place.
#include "ir/emit/tile_program/shapes.h"

#include <fmt/format.h>

#include "ir/emit/tile_program/emitter.h"
#include "ir/emit/tile_program/integers.h"
#include "ir/emit/tile_program/rows.h"

namespace deplo::ir::tile_program::blocks {

Extents row_major(const Extents& shape) {
  Extents strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d > 1; --d) strides[d - 2] = strides[d - 1] * shape[d - 1];
  return strides;
}

std::string coordinate(const std::string& i, const Extents& shape, std::size_t d) {
  std::int64_t below = 1, above = 1;
  for (std::size_t k = d + 1; k < shape.size(); ++k) below *= shape[k];
  for (std::size_t k = 0; k < d; ++k) above *= shape[k];
  if (shape[d] == 1) return "0u";
  const std::string divided = below == 1 ? i : fmt::format("{} / {}", i, below);
  return above == 1 ? divided : fmt::format("{} % {}", divided, shape[d]);
}

std::string in_strides(const std::string& i, const Extents& shape, const Extents& strides) {
  std::string sum;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1 || strides[d] == 0) continue;
    if (!sum.empty()) sum += " + ";
    sum += coordinate(i, shape, d);
    if (strides[d] != 1) sum += fmt::format(" * {}", strides[d]);
  }
  return sum.empty() ? "0" : sum;
}

namespace {

std::string at_place(Emitter& e, const Operation& op, const std::string& i) {
  return e.element(op.operands[0], {e.named("u32", i), ""});
}

std::string broadcast(Emitter& e, const Operation& op, const At& at) {
  const Extents &from = e.type(op.operands[0]).shape, &to = e.result_type(op).shape;
  if (from == to) return e.element(op.operands[0], at);
  Extents strides = row_major(from);
  for (std::size_t d = 0; d < from.size(); ++d)
    if (from[d] == 1) strides[d] = 0;
  return at_place(e, op, in_strides(at.i, to, strides));
}

std::string permute(Emitter& e, const Operation& op, const At& at) {
  const Extents from = row_major(e.type(op.operands[0]).shape);
  Extents strides;
  for (const std::int64_t d : std::get<std::vector<std::int64_t>>(op.attribute("permutation")))
    strides.push_back(from[static_cast<std::size_t>(d)]);
  return at_place(e, op, in_strides(at.i, e.result_type(op).shape, strides));
}

std::string extract(Emitter& e, const Operation& op, const At& at) {
  const Extents &from = e.type(op.operands[0]).shape, &to = e.result_type(op).shape;
  const Extents strides = row_major(from);
  std::string i = in_strides(at.i, to, strides);
  for (std::size_t d = 0; d < to.size(); ++d)
    if (from[d] != to[d]) i += fmt::format(" + {} * {}", e.scalar(op.operands[1 + d]), to[d] * strides[d]);
  return at_place(e, op, i);
}

std::string cat(Emitter& e, const Operation& op, const At& at) {
  const auto dim = static_cast<std::size_t>(op.number("dim"));
  const Type& t = e.result_type(op);
  const Extents &first = e.type(op.operands[0]).shape, &second = e.type(op.operands[1]).shape;
  const std::string behind = e.named("u32", coordinate(at.i, t.shape, dim));
  const std::string value = e.fresh("e");
  e.print("{} {};", value_type(t.element, t.pointer), value);
  const auto part = [&](std::size_t operand, const Extents& shape, std::int64_t before) {
    const std::int64_t skipped = before * row_major(shape)[dim];
    const std::string i = in_strides(at.i, t.shape, row_major(shape));
    const std::string place = e.named("u32", skipped == 0 ? i : fmt::format("{} - {}", i, skipped));
    e.print("{} = {};", value, e.element(op.operands[operand], {place, ""}));
  };
  e.within(fmt::format("if ({} < {})", behind, first[dim]), [&] { part(0, first, 0); });
  e.within("else", [&] { part(1, second, first[dim]); });
  return value;
}

std::string insert(Emitter& e, const Operation& op, const At& at) {
  const Type& t = e.result_type(op);
  const Extents& part = e.type(op.operands[0]).shape;
  const Extents strides = row_major(part);
  std::string inside, i;
  for (std::size_t d = 0; d < part.size(); ++d) {
    if (part[d] == t.shape[d] && part[d] == 1) continue;
    const std::string position = e.named(
        "u32", fmt::format("{} - {} * {}", coordinate(at.i, t.shape, d), e.scalar(op.operands[2 + d]), part[d]));
    inside += fmt::format("{}{} < {}u", inside.empty() ? "" : " && ", position, part[d]);  // below 0 wraps to beyond
    i += fmt::format("{}{} * {}", i.empty() ? "" : " + ", position, strides[d]);
  }
  if (inside.empty()) return e.element(op.operands[0], at);
  const std::string value = e.fresh("e");
  e.print("{} {};", value_type(t.element, t.pointer), value);
  e.within("if (" + inside + ")", [&] {
    e.print("{} = {};", value, e.element(op.operands[0], {e.named("u32", i), ""}));
  });
  e.within("else", [&] { e.print("{} = {};", value, e.element(op.operands[1], at)); });
  return value;
}

std::string constant(Emitter& e, const Operation& op, const At& at) {
  const auto& bits = *std::get<Dense>(op.attributes[0]);
  const DType element = e.result_type(op).element;
  return bits.size() == 1 ? literal(bits[0], element) : of_bits(fmt::format("{}[{}]", e.table(op), at.i), element);
}

std::string iota(Emitter& e, const Operation& op, const At& at) {
  return fmt::format("({}){}", value_type(e.result_type(op).element), at.i);
}

std::string select(Emitter& e, const Operation& op, const At& at) {
  const std::string condition = e.element(op.operands[0], at), yes = e.element(op.operands[1], at);
  return fmt::format("{} != 0 ? {} : {}", condition, yes, e.element(op.operands[2], at));
}

std::string itself(Emitter& e, const Operation& op, const At& at) { return e.element(op.operands[0], at); }

/// Elements behind a pointer.
std::string offset(Emitter& e, const Operation& op, const At& at) {
  const Type &pointers = e.type(op.operands[0]), &offsets = e.type(op.operands[1]);
  const std::string base = e.element(op.operands[0], at), by = e.element(op.operands[1], at);
  return fmt::format("{} + (u64)(i64){} * {}u", base, extended(by, width(offsets.element), true),
                     bytes(pointers.element));
}

}  // namespace

std::vector<Row> shape_rows() {
  return {{"assume", itself, Reads::own, true},     {"broadcast", broadcast, Reads::repeated, true},
          {"cat", cat, Reads::moved, true},         {"constant", constant, Reads::own, true},
          {"extract", extract, Reads::moved, true}, {"insert", insert, Reads::moved, true},
          {"iota", iota, Reads::own, true},         {"offset", offset, Reads::own, true},
          {"permute", permute, Reads::moved, true}, {"reshape", itself, Reads::own, true},
          {"select", select, Reads::own, true}};
}

}  // namespace deplo::ir::tile_program::blocks
