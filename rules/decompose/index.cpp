// What depends on coordinates or on indices: gathers, triangles, ranges.
#include "rules/decompose/families.h"

namespace deplo::rules {

using ir::DType;
using ir::Expr;
using ir::ExprOp;
using ir::Op;
using ir::Shape;
using ir::tensor::coordinate;

namespace {

// x[coordinates], where one of them is the value of `indices`, which has the shape of the result.
int gathered(Emitter& e, const Call& call, int x, int indices, Coordinates coordinates) {
  return e.add({call.node.name, call.node.type, ir::tensor::IndexMap{{{0, std::move(coordinates), 1}}}, {x, indices}});
}

// Bad indices are kept in range: the reference refuses them, a kernel must not read elsewhere.
Expr index_below(std::int64_t extent) { return ir::min(Expr(ExprOp::max, ir::var("g1"), 0), extent - 1); }

}  // namespace

// out[…, d] = weight[indices[…], d]
int embedding(Emitter& e, const Call& call) {
  const int weight = call.args[0], indices = e.convert(call.args[1], DType::i32);
  Coordinates at = identity(call.shape());
  const Expr column = at.back();
  at.pop_back();
  const int spread = e.map(indices, call.shape(), std::move(at), "indices");
  return gathered(e, call, weight, spread, {index_below(e.extent(weight, 0)), column});
}

int gather(Emitter& e, const Call& call) {
  const int x = call.args[0], indices = e.convert(call.args[1], DType::i32);
  Coordinates coordinates = identity(call.shape());
  const std::int64_t dim = call.node.integer("dim");
  coordinates[static_cast<std::size_t>(dim)] = index_below(e.extent(x, dim));
  return gathered(e, call, x, indices, std::move(coordinates));
}

namespace {

// x where the condition on its last two coordinates holds, else 0.
int where_in_triangle(Emitter& e, const Call& call, const Expr& condition) {
  const int x = call.args[0];
  const int mask = e.coordinate(condition, {DType::boolean, call.shape()}, "mask");
  if (call.dtype() == DType::boolean) return e.elementwise(Op::logical_and, {mask, x}, "ew");
  return e.elementwise(Op::select, {mask, x, e.scalar(0, call.dtype(), "zero")}, "ew");
}

Expr row(const Call& call) { return coordinate(call.shape().size() - 2); }
Expr column(const Call& call) { return coordinate(call.shape().size() - 1); }

}  // namespace

// row + diagonal <= column
int triu(Emitter& e, const Call& call) {
  return where_in_triangle(e, call, ir::less(row(call) + (call.node.integer("diagonal") - 1), column(call)));
}

// column <= row + diagonal
int tril(Emitter& e, const Call& call) {
  return where_in_triangle(e, call, ir::less(column(call), row(call) + (call.node.integer("diagonal") + 1)));
}

int arange(Emitter& e, const Call& call) {
  const Expr value = coordinate(0) * call.node.integer("step") + call.node.integer("start");
  return e.convert(e.coordinate(value, {DType::i32, call.shape()}, "range"), call.dtype());
}

}  // namespace deplo::rules
