// Operations that join tensors.
//   cat(T…, dim=0)   stack(T…, dim=0)
#include <fmt/format.h>

#include <utility>

#include "ir/torch/operations/family.h"

namespace deplo::ir::torch {
namespace {

using tensor::identity;

constexpr AttributeSpec join_attributes[] = {{"dim", Kind::integer, std::int64_t{0}}};

DType promote_all(const Inference& call) {
  DType dtype = call.dtype(0);
  for (std::size_t i = 1; i < call.size(); ++i) dtype = promote_types(dtype, call.dtype(i));
  return dtype;
}

// A tensor of shape (0,) can be joined with tensors of any shape.
TensorType infer_cat(const Inference& call) {
  const auto counts = [&](std::size_t i) { return call.shape(i) != Shape{0}; };
  std::size_t first = 0;
  while (first + 1 < call.size() && !counts(first)) ++first;
  TensorType type = {promote_all(call), call.shape(first)};
  const auto dim = static_cast<std::size_t>(call.normalise_dim("dim", call.rank(first)));
  for (std::size_t i = first + 1; i < call.size(); ++i) {
    if (!counts(i)) continue;
    Shape other = call.shape(i);
    if (other.size() != type.shape.size()) call.expected("tensors of one rank");
    const std::int64_t extent = std::exchange(other[dim], call.shape(first)[dim]);
    if (other != call.shape(first)) call.expected(fmt::format("shapes that are equal except in dimension {}", dim));
    type.shape[dim] += extent;
    check_type(call.op(), type);  // before the sum could overflow
  }
  return type;
}

TensorType infer_stack(const Inference& call) {
  for (std::size_t i = 1; i < call.size(); ++i)
    if (call.shape(i) != call.shape(0)) call.expected("tensors of one shape");
  TensorType type = {promote_all(call), call.shape(0)};
  const std::int64_t dim = call.normalise_dim("dim", call.rank(0) + 1);
  type.shape.insert(type.shape.begin() + dim, static_cast<std::int64_t>(call.size()));
  return type;
}

// cat and stack both interleave blocks of the arguments. A block holds the elements along `dim` and all later
// dimensions.
Values evaluate_join(const Operands& o) {
  const auto dim = static_cast<std::ptrdiff_t>(o.node.integer("dim"));
  std::vector<std::ptrdiff_t> blocks;
  for (std::size_t i = 0; i < o.size(); ++i)
    blocks.push_back(element_count(Shape(o.shape(i).begin() + dim, o.shape(i).end())));
  const std::int64_t outer = element_count(Shape(o.result().begin(), o.result().begin() + dim));
  Values result;
  result.reserve(o.result_count());
  for (std::int64_t row = 0; row < outer; ++row)
    for (std::size_t i = 0; i < o.size(); ++i) {
      const auto begin = o.value(i).begin() + row * blocks[i];
      result.insert(result.end(), begin, begin + blocks[i]);
    }
  return result;
}

Expr clamp(const Expr& e, std::int64_t extent, const Ranges& ranges) {
  return simplify(Expr(ExprOp::max, min(e, extent - 1), 0), ranges);
}

// Joins the arguments along `dim`. Each argument is a branch of the index map. `extents`: the arguments' extents along
// `dim`. `own`: whether the arguments have this dimension.
int joined(Emitter& e, const TensorCall& call, const Dims& extents, bool own) {
  const std::size_t dim = dim_of(call.node);
  const Ranges ranges = tensor::coordinate_ranges(call.shape());
  tensor::IndexMap map;
  std::vector<int> args;
  std::int64_t begin = 0;
  for (std::size_t a = 0; a < call.args.size(); ++a) {
    Coordinates coordinates = identity(call.shape());
    const Expr along = coordinates[dim];
    const auto place = coordinates.begin() + static_cast<std::ptrdiff_t>(dim);
    if (own)
      *place = clamp(along - begin, extents[a], ranges);
    else
      coordinates.erase(place);
    begin += extents[a];
    const Expr condition = a + 1 == call.args.size() ? Expr(1) : simplify(less(along, begin), ranges);
    map.branches.push_back({static_cast<int>(a), std::move(coordinates), condition});
    args.push_back(e.convert(call.args[a], call.dtype()));
    if (e.as_scalar(args.back()) != nullptr) args.back() = e.fill(args.back(), {}, "item");
  }
  return e.add({call.node.name, call.node.type, std::move(map), std::move(args)});
}

int decompose_cat(Emitter& e, const TensorCall& call) {
  Dims extents;
  for (const int a : call.args) extents.push_back(e.extent(a, call.node.integer("dim")));
  return joined(e, call, extents, true);
}

int decompose_stack(Emitter& e, const TensorCall& call) { return joined(e, call, Dims(call.args.size(), 1), false); }

python::Value call_join(const python::Call& c) { return c.node(c.tensors("tensors"), {{"dim", c.integer("dim")}}); }

std::vector<Id> read_join(pt2::Call& call) {
  std::vector<Id> parts = call.tensors("tensors");
  if (parts.empty()) call.fail("tensors", "at least one tensor");
  return call.node(std::move(parts), {{"dim", call.integer("dim", 0)}});
}

}  // namespace

// clang-format off
std::vector<Operation> join_operations() {
  return {
      {"cat", 1, any_number, join_attributes, infer_cat, evaluate_join, decompose_cat,
       {{"cat", in_torch, "tensors, dim=0", call_join}, {"concat", in_torch, "tensors, dim=0", call_join}},
       {{"aten.cat", read_join}}},
      {"stack", 1, any_number, join_attributes, infer_stack, evaluate_join, decompose_stack,
       {{"stack", in_torch, "tensors, dim=0", call_join}},
       {{"aten.stack", read_join}}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
