// The places of tile elements in arrays, through views and through tiles of pointers.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ir/tile_program/attribute.h"
#include "rules/raise/evaluator.h"
#include "rules/raise/proofs.h"

namespace deplo::rules::raising {
namespace {

/// Is `wanted` one of the conditions, or always true?
bool follows(Evaluator& in, const ir::Expr& wanted, const std::vector<ir::Expr>& conditions) {
  const ir::Expr e = in.elements.simplify(wanted);
  return e.is_constant(1) || std::ranges::find(conditions, e) != conditions.end();
}

/// The summand coefficient * of.
struct Part {
  ir::Expr of;
  std::int64_t coefficient;
};
void collect_parts(const ir::Expr& e, std::int64_t factor, std::vector<Part>& parts, std::int64_t& constant) {
  if (e.kind() == ir::Expr::Kind::constant) {
    constant += factor * e.value();
  } else if (e.kind() == ir::Expr::Kind::binary && (e.op() == ir::ExprOp::add || e.op() == ir::ExprOp::sub)) {
    collect_parts(e.lhs(), factor, parts, constant);
    collect_parts(e.rhs(), e.op() == ir::ExprOp::add ? factor : -factor, parts, constant);
  } else if (e.kind() == ir::Expr::Kind::binary && e.op() == ir::ExprOp::mul &&
             e.rhs().kind() == ir::Expr::Kind::constant) {
    collect_parts(e.lhs(), factor * e.rhs().value(), parts, constant);
  } else {
    parts.push_back({e, factor});
  }
}

/// The index of the element at an offset. The index along a dimension takes the summands that are multiples of its
/// stride, and the inner dimensions take the rest. This is right if each index stays within its extent, which must
/// follow from `conditions` or from the ranges of the variables. Otherwise the index is computed by division, if rows
/// lie without gaps.
Index find_index(Evaluator& in, const tp::Operation& op, const Array& array, const ir::Expr& offset,
                 const std::vector<ir::Expr>& conditions) {
  std::vector<std::size_t> order(array.shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return array.strides[a] > array.strides[b]; });
  Index index(array.shape.size(), 0);
  std::vector<Part> parts;
  std::int64_t constant = 0;
  collect_parts(in.elements.simplify(offset), 1, parts, constant);
  bool stays = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t stride = array.strides[order[i]], extent = array.shape[order[i]];
    const bool last = i + 1 == order.size();
    ir::Expr at = constant / stride;
    std::vector<Part> rest;
    for (const Part& part : parts) {
      if (part.coefficient % stride == 0)
        at = at + part.of * (part.coefficient / stride);
      else
        rest.push_back(part);
    }
    const auto within = [&] {
      return follows(in, ir::less(-1, at), conditions) && follows(in, ir::less(at, extent), conditions);
    };
    // An index that is always 0 takes no summands. They belong to the inner dimensions.
    if (extent == 1 && !within()) continue;
    constant %= stride;
    if (last && (!rest.empty() || constant != 0)) stays = false;
    parts = std::move(rest);
    index[order[i]] = in.elements.simplify(at);
    // The outermost index need not be checked: beyond its extent there is no array.
    const bool outermost = std::all_of(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i),
                                       [&](std::size_t d) { return array.shape[d] == 1; });
    stays = stays && (outermost || within());
  }
  if (stays && parts.empty() && constant == 0) return index;
  if (array.strides != ir::row_major_strides(array.shape))
    in.refuse(op,
              fmt::format("expected offsets that stay in their row of {}, found {}", array.name, ir::print(offset)));
  ir::Expr rest = offset;
  for (std::size_t d = array.shape.size(); d > 0; --d) {
    index[d - 1] = in.elements.simplify(d == 1 ? rest : rest % array.shape[d - 1]);
    rest = rest / array.shape[d - 1];
  }
  return index;
}

std::string_view pointers_of(const tp::Operation& op) {
  return op.form->name == "load_ptr_tko" ? "source" : "destination";
}

/// The value of elements that are not loaded: an operand, the view's padding, or 0 if the program does not specify it.
ValueId padding(Evaluator& in, const tp::Operation& op, const Index& index) {
  if (op.form->name == "load_ptr_tko")
    return op.has("padding") ? in.value(op.operand("padding"), index) : in.elements.constant(0);
  const tp::Type& view = in.type(op.operand("view"));
  if (!view.padding || ir::is_integral(view.element)) return in.elements.constant(0);
  return in.elements.constant(tp::value_of(*view.padding));
}

Element load(Evaluator& in, const tp::Operation& op, std::size_t result, const Index& index) {
  CHECK(result == 0);  // tokens are never evaluated
  check_order(in, op);
  const int array = accessed(in, op);
  const Array& of = in.arrays[static_cast<std::size_t>(array)];
  Place place = place_of(in, op, index);
  const Index at_first = place.at;
  in.loads.emplace_back(&op, array);
  ir::Expr inside = place.condition;
  for (std::size_t d = 0; d < of.shape.size(); ++d) {
    ir::Expr& at = place.at[d];
    const auto range = in.elements.bounds(at);
    const bool always = place.condition.is_constant(1) && place.mask == ValueId::none;
    if (always && range && (range->low < 0 || range->high >= of.shape[d]))
      in.refuse(op, fmt::format("expected elements within dimension {} of {}, which has {} elements, found {} to {}", d,
                                of.name, of.shape[d], range->low, range->high));
    if (!range || range->low < 0) at = ir::Expr(ir::ExprOp::max, at, 0);
    if (!range || range->high >= of.shape[d]) at = ir::min(at, of.shape[d] - 1);
  }
  inside = in.elements.simplify(inside);
  const ir::DType dtype = computed_in(of.dtype);
  std::optional<ValueId> instead;
  const auto with = [&](ValueId condition, ValueId value) {
    if (!instead) instead = padding(in, op, index);
    return in.elements.assign(ir::Op::select, {condition, value, *instead}, dtype);
  };
  ValueId value = in.elements.load(array, dtype, place.at);
  if (!inside.is_constant(1)) value = with(in.elements.index(inside, ir::DType::boolean), value);
  if (place.mask != ValueId::none) value = with(place.mask, value);
  if (dtype != ir::DType::i32) return {0, value};
  const auto number = [&](std::optional<ValueId> id) -> std::optional<std::int64_t> {
    if (!id || in.elements.values[*id].kind != fusion::Value::Kind::constant) return std::nullopt;
    return static_cast<std::int64_t>(in.elements.values[*id].constant);
  };
  if (const auto known = number(value)) return {*known};
  in.integers[value] = {array, at_first, number(instead)};
  return {ir::var(loaded_name(value))};
}

Element offset(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  Element pointer = in.operand(op, 0, index);
  pointer.index = in.elements.simplify(pointer.index + in.operand(op, 1, index).index);
  return pointer;
}

Element tensor_shape(Evaluator& in, const tp::Operation& op, std::size_t result, const Index&) {
  return {in.view(op.operands[0]).shape[result]};
}

Element index_space(Evaluator& in, const tp::Operation& op, std::size_t result, const Index&) {
  const tp::Type& type = in.type(op.operands[0]);
  if (type.kind != tp::Kind::partition_view) in.refuse(op, "expected a partition view");
  const std::int64_t extent = in.view(op.operands[0]).shape[static_cast<std::size_t>(type.dim_map[result])];
  return {(extent + type.tile[result] - 1) / type.tile[result]};
}

}  // namespace

void check_order(const Evaluator& in, const tp::Operation& op) {
  if (op.number("memory_ordering_semantics") != static_cast<std::int64_t>(tp::Ordering::weak))
    in.refuse(op, "expected a weak access: other accesses communicate with other blocks");
}

View Evaluator::view(tp::ValueId id) {
  const tp::Operation* op = definition(id);
  CHECK(op != nullptr);
  while (op->form->name != "make_tensor_view") {
    const bool passes = op->form->name == "assume" || op->form->name.starts_with("make_");
    if (!passes) refuse(*op, "expected a view that make_tensor_view has made here");
    op = definition(op->operands[0]);
    CHECK(op != nullptr);
  }
  const tp::Type& type = this->type(op->results[0]);
  const Element base = at(op->operand("base"), {});
  View view{base.array, base.index, type.shape, type.strides};
  for (const auto& [extents, name] : {std::pair(&view.shape, "shape"), std::pair(&view.strides, "strides")}) {
    const auto values = op->operand_list(name);
    std::size_t next = 0;
    for (std::int64_t& e : *extents)
      if (e == tp::dynamic) e = number(*op, values[next++], "extents and strides");
  }
  const Array& of = arrays[static_cast<std::size_t>(view.array)];
  const ir::Expr offset = elements.simplify(view.offset);
  std::int64_t needed = 1, there = 1;
  for (std::size_t d = 0; d < view.shape.size(); ++d) needed += (view.shape[d] - 1) * view.strides[d];
  for (std::size_t d = 0; d < of.shape.size(); ++d) there += (of.shape[d] - 1) * of.strides[d];
  if (offset.kind() == ir::Expr::Kind::constant && offset.value() + needed > there)
    fail(*op, fmt::format("expected a view within the {} elements of {}, found one of {}", there, of.name,
                          offset.value() + needed));
  return view;
}

int accessed(Evaluator& in, const tp::Operation& op) {
  if (through_view(op)) return in.view(op.operand("view")).array;
  const tp::ValueId pointers = op.operand(pointers_of(op));
  return in.at(pointers, Index(in.type(pointers).shape.size(), 0)).array;
}

Place place_of(Evaluator& in, const tp::Operation& op, const Index& index) {
  Place place;
  ir::Expr offset = 0;
  if (through_view(op)) {
    const tp::Type& cut = in.type(op.operand("view"));
    if (cut.kind != tp::Kind::partition_view)
      in.refuse(op, fmt::format("expected a partition view, found a {}", tp::name(cut.kind)));
    const View of = in.view(op.operand("view"));
    const std::vector<tp::ValueId> tiles = op.operand_list("index");
    Index in_view(of.shape.size(), 0);
    for (std::size_t d = 0; d < tiles.size(); ++d) {
      const auto dim = static_cast<std::size_t>(cut.dim_map[d]);
      const ir::Expr tile = in.scalar(tiles[d]);
      in_view[dim] = in.elements.simplify(tile * cut.tile[d] + index[d]);
      // A tile number outside the view is an error of the program. So a loaded tile number is assumed to be inside.
      if (cut.tile[d] == 1 && names_loaded(tile)) continue;
      place.condition = {ir::ExprOp::land, place.condition, ir::less(in_view[dim], of.shape[dim])};
    }
    place.condition = in.elements.simplify(place.condition);
    const Array& array = in.arrays[static_cast<std::size_t>(of.array)];
    if (of.shape == array.shape && of.strides == array.strides && of.offset.is_constant(0)) {
      place.at = std::move(in_view);
      return place;
    }
    offset = of.offset;
    for (std::size_t d = 0; d < in_view.size(); ++d) offset = offset + in_view[d] * of.strides[d];
    place.at = find_index(in, op, array, offset, conjuncts(place.condition));
    return place;
  }
  const Element pointer = in.at(op.operand(pointers_of(op)), index);
  if (op.has("mask")) {
    const Element mask = in.at(op.operand("mask"), index);
    place.mask = mask.value;
    if (mask.value == ValueId::none) place.condition = in.elements.simplify(mask.index);
  }
  place.at =
      find_index(in, op, in.arrays[static_cast<std::size_t>(pointer.array)], pointer.index, conjuncts(place.condition));
  return place;
}

std::vector<NamedRaiser> memory_raisers() {
  return {{"get_index_space_shape", index_space},
          {"get_tensor_shape", tensor_shape},
          {"load_ptr_tko", load},
          {"load_view_tko", load},
          {"offset", offset}};
}

}  // namespace deplo::rules::raising
