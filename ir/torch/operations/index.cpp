// Elements looked up or dropped by their indices.
//   embedding(T weight, T indices)   gather(T, T index, dim)   triu tril(T, diagonal=0)
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "ir/torch/operations/family.h"

namespace deplo::ir::torch {
namespace {

using tensor::coordinate;
using tensor::identity;

// triu, tril

constexpr AttributeSpec triangle_attributes[] = {{"diagonal", Kind::integer, std::int64_t{0}}};

TensorType infer_triangle(const Inference& call) {
  const Shape& shape = call.shape(0);
  if (shape.size() < 2) call.expected("a tensor of at least two dimensions");
  // What lies beyond these keeps or drops as much.
  call.set("diagonal", std::clamp(call.node().integer("diagonal"), -shape.end()[-2], shape.end()[-1]));
  return call.type(0);
}

template <bool upper>
Values evaluate_triangle(const Operands& o) {
  const std::int64_t rows = o.result().end()[-2], columns = o.result().back(), diagonal = o.node.integer("diagonal");
  Values result = o.value(0);
  std::int64_t position = 0;
  for (double& value : result) {
    const std::int64_t i = position / columns % rows, j = position % columns;
    if (upper ? j - i < diagonal : j - i > diagonal) value = 0;
    ++position;
  }
  return result;
}

// x where the condition on its last two coordinates holds, else 0.
int where_in_triangle(Emitter& e, const TensorCall& call, const Expr& condition) {
  const int x = call.args[0];
  const int mask = e.coordinate(condition, {DType::boolean, call.shape()}, "mask");
  if (call.dtype() == DType::boolean) return e.elementwise(Op::logical_and, {mask, x}, "ew");
  return e.elementwise(Op::select, {mask, x, e.scalar(0, call.dtype(), "zero")}, "ew");
}

Expr row(const TensorCall& call) { return coordinate(call.shape().size() - 2); }
Expr column(const TensorCall& call) { return coordinate(call.shape().size() - 1); }

// row + diagonal <= column
int decompose_triu(Emitter& e, const TensorCall& call) {
  return where_in_triangle(e, call, less(row(call) + (call.node.integer("diagonal") - 1), column(call)));
}

// column <= row + diagonal
int decompose_tril(Emitter& e, const TensorCall& call) {
  return where_in_triangle(e, call, less(column(call), row(call) + (call.node.integer("diagonal") + 1)));
}

// embedding, gather

void check_index(const Inference& call, std::size_t arg) {
  if (call.dtype(arg) != DType::i32) call.expected("indices of dtype int32");
}

std::size_t checked_index(const Operands& o, double index, std::int64_t extent) {
  if (!(index >= 0 && index < static_cast<double>(extent)))
    throw Error(
        fmt::format("{} ({}): expected an index from 0 to {}, found {}", o.node.name, o.node.op, extent - 1, index));
  return static_cast<std::size_t>(index);
}

// x[coordinates], where one of them is the value of `indices`, which has the shape of the result.
int gathered(Emitter& e, const TensorCall& call, int x, int indices, Coordinates coordinates) {
  return e.add({call.node.name, call.node.type, tensor::IndexMap{{{0, std::move(coordinates), 1}}}, {x, indices}});
}

// Bad indices are kept in range: the reference refuses them, a kernel must not read elsewhere.
Expr index_below(std::int64_t extent) { return min(Expr(ExprOp::max, var("g1"), 0), extent - 1); }

TensorType infer_embedding(const Inference& call) {
  check_index(call, 1);
  if (call.rank(0) != 2) call.expected("a weight of two dimensions");
  TensorType type = {call.dtype(0), call.shape(1)};
  type.shape.push_back(call.shape(0)[1]);
  return type;
}

Values evaluate_embedding(const Operands& o) {
  const auto width = static_cast<std::size_t>(o.shape(0)[1]);
  Values result;
  result.reserve(o.result_count());
  for (const double index : o.value(1)) {
    const std::size_t picked = checked_index(o, index, o.shape(0)[0]);
    const double* from = o.value(0).data() + picked * width;
    result.insert(result.end(), from, from + width);
  }
  return result;
}

// out[…, d] = weight[indices[…], d]
int decompose_embedding(Emitter& e, const TensorCall& call) {
  const int weight = call.args[0], indices = e.convert(call.args[1], DType::i32);
  Coordinates place = identity(call.shape());
  const Expr last = place.back();
  place.pop_back();
  const int spread = e.map(indices, call.shape(), std::move(place), "indices");
  return gathered(e, call, weight, spread, {index_below(e.extent(weight, 0)), last});
}

python::Value call_embedding(const python::Call& c) {
  const Id weight = c.tensor("weight");
  return c.node({weight, c.tensor("input")});
}

std::vector<Id> read_embedding(pt2::Call& call) {
  call.ignore({"padding_idx", "scale_grad_by_freq", "sparse"});
  const Id weight = call.tensor("weight");
  return call.node({weight, call.tensor("indices")});
}

// x[indices]: rows of the first dimension, which is an embedding of the rest made flat.
std::vector<Id> rows_of(pt2::Call& call, Id x, Id indices) {
  Shape flat = {call.rank(x) > 0 ? call.shape(x)[0] : 0, 1};
  for (std::size_t d = 1; d < call.shape(x).size(); ++d) flat[1] *= call.shape(x)[d];
  const Id picked = call.add("embedding", {call.reshape(x, flat), indices});
  return {call.reshape(picked, call.output_type().shape)};
}

std::vector<Id> read_index(pt2::Call& call) {
  const Id x = call.tensor("self");
  const std::vector<std::optional<Id>> indices = call.optional_tensors("indices");
  if (indices.size() != 1 || !indices[0]) call.fail("indices", "one tensor, for the first dimension");
  return rows_of(call, x, *indices[0]);
}

std::vector<Id> read_index_select(pt2::Call& call) {
  const Id x = call.tensor("self"), indices = call.tensor("index");
  if (call.integer("dim") != 0) call.fail("dim", "0");
  return rows_of(call, x, indices);
}

constexpr AttributeSpec gather_attributes[] = {{"dim", Kind::integer, Required{}}};

TensorType infer_gather(const Inference& call) {
  check_index(call, 1);
  const auto dim = static_cast<std::size_t>(call.normalise_dim("dim", call.rank(0)));
  if (call.rank(1) != call.rank(0)) call.expected("an index of as many dimensions as the tensor");
  for (std::size_t i = 0; i < call.shape(0).size(); ++i)
    if (i != dim && call.shape(1)[i] > call.shape(0)[i])
      call.expected(fmt::format("an index no larger than the tensor but in dimension {}", dim));
  return {call.dtype(0), call.shape(1)};
}

Values evaluate_gather(const Operands& o) {
  const auto dim = static_cast<std::size_t>(o.node.integer("dim"));
  Shape strides = row_major_strides(o.shape(0));
  const auto stride = static_cast<std::size_t>(std::exchange(strides[dim], 0));
  Values result;
  result.reserve(o.result_count());
  for_each_index(o.result(), std::array{row_major_strides(o.result()), strides}, [&](std::size_t i, std::size_t from) {
    result.push_back(o.value(0)[from + checked_index(o, o.value(1)[i], o.shape(0)[dim]) * stride]);
  });
  return result;
}

int decompose_gather(Emitter& e, const TensorCall& call) {
  const int x = call.args[0], indices = e.convert(call.args[1], DType::i32);
  Coordinates coordinates = identity(call.shape());
  const std::int64_t dim = call.node.integer("dim");
  coordinates[static_cast<std::size_t>(dim)] = index_below(e.extent(x, dim));
  return gathered(e, call, x, indices, std::move(coordinates));
}

python::Value call_gather(const python::Call& c) {
  const Id x = c.tensor("input"), index = c.tensor("index");
  return {python::Tensor{pick(caller_of(c), x, index, c.integer("dim"))}};
}

std::vector<Id> read_gather(pt2::Call& call) {
  call.ignore({"sparse_grad"});
  const Id x = call.tensor("self");
  return {pick(caller_of(call), x, call.tensor("index"), call.integer("dim"))};
}

}  // namespace

Id pick(const Caller& c, Id x, Id index, std::int64_t dim) {
  const Node softmax = c.node(x);
  Shape rows = softmax.type.shape, picked = c.node(index).type.shape;
  const auto wrapped = static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(rows.size()) : dim);
  if (wrapped < rows.size() && picked.size() == rows.size()) rows[wrapped] = picked[wrapped] = 0;
  if (softmax.op != "log_softmax" || softmax.integer("dim") != static_cast<std::int64_t>(wrapped) || rows != picked)
    return c.call("gather", {x, index}, {{"dim", dim}});
  const Id logits = softmax.args[0];
  const Attributes along = {{"dims", Shape{dim}}, {"keepdim", true}};
  const Id most = c.call("amax", {logits}, along);
  const Id sum = c.call("sum", {c.call("exp", {c.call("sub", {logits, most}, {})}, {})}, along);
  const Id shifted = c.call("sub", {c.call("gather", {logits, index}, {{"dim", dim}}), most}, {});
  return c.call("sub", {shifted, c.call("log", {sum}, {})}, {});
}

// clang-format off
std::vector<Operation> index_operations() {
  return {
      {"embedding", 2, 2, {}, infer_embedding, evaluate_embedding, decompose_embedding,
       {{"embedding", in_functional, "input, weight, padding_idx=None", call_embedding}},
       {{"aten.embedding", read_embedding}, {"aten.index", read_index}, {"aten.index_select", read_index_select}}},
      {"gather", 2, 2, gather_attributes, infer_gather, evaluate_gather, decompose_gather,
       {{"gather", either, "input, dim, index", call_gather}},
       {{"aten.gather", read_gather}}},
      {"tril", 1, 1, triangle_attributes, infer_triangle, evaluate_triangle<false>, decompose_tril,
       {{"tril", either, "input, diagonal=0", call_plain}},
       {{"aten.tril", read_plain}}},
      {"triu", 1, 1, triangle_attributes, infer_triangle, evaluate_triangle<true>, decompose_triu,
       {{"triu", either, "input, diagonal=0", call_plain}},
       {{"aten.triu", read_plain}}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
