// Operations that only select an element of an operand, and constants.
#include <fmt/format.h>

#include "ir/tile_program/attribute.h"
#include "rules/raise/evaluator.h"

namespace deplo::rules::raising {
namespace {

Element broadcast(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  Index from = index;
  const tp::Extents& shape = in.type(op.operands[0]).shape;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == 1) from[d] = 0;
  return in.at(op.operands[0], from);
}

/// The same element in row-major order. Dimensions that are neither merged nor split keep their index.
Element reshape(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  const tp::Extents &from = in.type(op.operands[0]).shape, &to = in.type(op.results[0]).shape;
  Index result(from.size(), 0);
  std::size_t f = from.size(), t = to.size();
  while (f > 0 || t > 0) {  // the fewest dimensions, from the last, with equal numbers of elements on both sides
    std::int64_t in_from = 1, in_to = 1;
    const std::size_t last_from = f, last_to = t;
    do {
      if (in_from <= in_to && f > 0)
        in_from *= from[--f];
      else if (t > 0)
        in_to *= to[--t];
      else
        in_from *= from[--f];
    } while (in_from != in_to);
    ir::Expr flat = 0;
    for (std::size_t d = t; d < last_to; ++d) flat = flat * to[d] + index[d];
    for (std::size_t d = last_from; d > f; --d) {
      const std::int64_t extent = from[d - 1];
      result[d - 1] = extent == 1 ? ir::Expr(0) : in.elements.simplify(d - 1 == f ? flat : flat % extent);
      flat = flat / extent;
    }
  }
  return in.at(op.operands[0], result);
}

Element permute(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  const auto& map = std::get<std::vector<std::int64_t>>(op.attribute("permutation"));
  Index from(index.size(), 0);
  for (std::size_t d = 0; d < map.size(); ++d) from[static_cast<std::size_t>(map[d])] = index[d];
  return in.at(op.operands[0], from);
}

/// The number of the part along dimension d that an extract or insert names, out of `parts`. Its indices begin at
/// operand `first`.
ir::Expr part_index(Evaluator& in, const tp::Operation& op, std::size_t d, std::int64_t parts, std::size_t first) {
  ir::Expr part = in.elements.simplify(in.scalar(op.operands[first + d]));
  const auto range = in.elements.bounds(part);
  if (!range || range->low < 0 || range->high >= parts)
    in.refuse(op, fmt::format("expected an index below {} along dimension {}, found {}", parts, d, ir::print(part)));
  return part;
}

Element extract(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  const tp::Extents &shape = in.type(op.results[0]).shape, &whole = in.type(op.operands[0]).shape;
  Index from = index;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    from[d] = in.elements.simplify(part_index(in, op, d, whole[d] / shape[d], 1) * shape[d] + index[d]);
  }
  return in.at(op.operands[0], from);
}

/// Selects one of two elements. For pointers, the condition must be known. Integers become a select value or an
/// unknown, because an index expression c * a + (1 - c) * b would have no useful bounds.
Element choose(Evaluator& in, const tp::Operation& op, const Element& condition, const Element& a, const Element& b) {
  const tp::Type& type = in.type(op.results[0]);
  const ir::Expr known = condition.value != ValueId::none ? ir::Expr(0) : in.elements.simplify(condition.index);
  if (condition.value == ValueId::none && known.kind() == ir::Expr::Kind::constant) return known.value() != 0 ? a : b;
  if (type.pointer) in.refuse(op, "expected a condition that is known, found a choice of pointers");
  const ValueId c = condition.value != ValueId::none ? condition.value : in.elements.index(known, ir::DType::boolean);
  const ir::DType dtype = computed_in(type.element);
  if (dtype == ir::DType::i32 && type.shape.empty() && condition.value == ValueId::none)
    return {in.unknown("select " + ir::print(known) + " " + ir::print(a.index) + " " + ir::print(b.index))};
  return element_of(dtype, in.elements.assign(ir::Op::select, {c, in.value_of(type, a), in.value_of(type, b)}, dtype));
}

Element select(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  const Element condition = in.operand(op, 0, index);
  return choose(in, op, condition, in.at(op.operands[1], index), in.at(op.operands[2], index));
}

Element cat(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  const auto dim = static_cast<std::size_t>(op.number("dim"));
  const std::int64_t first = in.type(op.operands[0]).shape[dim], second = in.type(op.operands[1]).shape[dim];
  const ir::Expr is_first = in.elements.simplify(ir::less(index[dim], first));
  if (is_first.is_constant(1)) return in.at(op.operands[0], index);
  Index in_first = index, in_second = index;
  in_second[dim] = in.elements.simplify(ir::Expr(ir::ExprOp::max, index[dim] - first, 0));
  if (is_first.is_constant(0)) return in.at(op.operands[1], in_second);
  in_first[dim] = in.elements.simplify(ir::min(index[dim], first - 1));
  in_second[dim] = in.elements.simplify(ir::min(in_second[dim], second - 1));
  return choose(in, op, {is_first}, in.at(op.operands[0], in_first), in.at(op.operands[1], in_second));
}

/// An element of the part if the place is inside it, otherwise an element of the whole.
Element insert(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  const tp::Extents &part = in.type(op.operands[0]).shape, &whole = in.type(op.operands[1]).shape;
  ir::Expr inside = 1;
  Index in_part = index;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    const ir::Expr position = in.elements.simplify(index[d] - part_index(in, op, d, whole[d] / part[d], 2) * part[d]);
    inside = {ir::ExprOp::land, inside, {ir::ExprOp::land, ir::less(-1, position), ir::less(position, part[d])}};
    in_part[d] = in.elements.simplify(ir::min(ir::Expr(ir::ExprOp::max, position, 0), part[d] - 1));
  }
  inside = in.elements.simplify(inside);
  if (inside.is_constant(1)) return in.at(op.operands[0], in_part);
  if (inside.is_constant(0)) return in.at(op.operands[1], index);
  return choose(in, op, {inside}, in.at(op.operands[0], in_part), in.at(op.operands[1], index));
}

Element constant_tile(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  const auto& bits = *std::get<tp::Dense>(op.attributes[0]);
  const tp::Type& type = in.type(op.results[0]);
  std::size_t at = 0;
  if (bits.size() > 1) {
    ir::Expr flat = 0;
    for (std::size_t d = 0; d < index.size(); ++d) flat = flat * type.shape[d] + index[d];
    flat = in.elements.simplify(flat);
    if (flat.kind() != ir::Expr::Kind::constant)
      in.refuse(op, "Loop IR has no tables: expected a constant of equal elements");
    at = static_cast<std::size_t>(flat.value());
  }
  if (!ir::is_integral(type.element)) return {0, in.elements.constant(ir::decode_float(bits[at], type.element))};
  if (type.element == ir::DType::boolean) return {static_cast<std::int64_t>(bits[at] & 1)};
  return {ir::as_signed(bits[at], ir::width(type.element))};
}

/// Checks the assumption if the value is a known constant. Otherwise the assumption is ignored.
Element assume(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  const Element element = in.at(op.operands[0], index);
  const auto& stated = std::get<tp::Predicate>(op.attribute("predicate"));
  if (element.array >= 0 || element.index.kind() != ir::Expr::Kind::constant || element.value != ValueId::none)
    return element;
  const std::int64_t n = element.index.value();
  const auto divisor = static_cast<std::int64_t>(stated.divisor);
  if (stated.kind == tp::Predicate::Kind::div_by && !stated.every && n % divisor != 0)
    in.fail(op, fmt::format("expected a number divisible by {}, found {}", divisor, n));
  if (stated.kind == tp::Predicate::Kind::bounded &&
      ((stated.low && n < *stated.low) || (stated.high && n > *stated.high)))
    in.fail(op, fmt::format("expected a number within its bounds, found {}", n));
  return element;
}

}  // namespace

std::vector<NamedRaiser> shape_raisers() {
  return {{"assume", assume},          {"broadcast", broadcast}, {"cat", cat},
          {"constant", constant_tile}, {"extract", extract},     {"insert", insert},
          {"permute", permute},        {"reshape", reshape},     {"select", select}};
}

}  // namespace deplo::rules::raising
