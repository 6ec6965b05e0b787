// Operations that select or drop elements by their indices.
//   embedding(T weight, T indices)   index_select(T, T indices, dim=0)   gather(T, T index, dim)
//   index(T, T indices…, dims)   one_hot(T, num_classes)   triu tril(T, diagonal=0)
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/text/one_of.h"
#include "ir/torch/operations/given.h"
#include "ir/torch/operations/ops.h"

namespace deplo::ir::torch {
namespace {

using tensor::coordinate;
using tensor::identity;

// triu, tril

constexpr AttributeSpec triangle_attributes[] = {{"diagonal", Kind::integer, std::int64_t{0}}};

TensorType infer_triangle(const Inference& call) {
  const Shape& shape = call.shape(0);
  if (shape.size() < 2) call.expected("a tensor of at least two dimensions");
  // A diagonal outside of this range has the same effect as the nearest end of the range.
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

// Returns x where the condition on the last two coordinates holds, and 0 elsewhere.
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

// embedding, index_select

void check_index(const Inference& call, std::size_t arg) {
  if (call.dtype(arg) == DType::boolean)
    call.expected("indices of integers (the number of elements that a mask selects is known only at run time)");
  if (!is_index_type(call.dtype(arg))) call.expected("indices of int32 or int64");
}

// Returns the type of the result, in which the dimensions of the indices replace dimension `dim` of the tensor.
TensorType selected(const Inference& call, std::size_t dim) {
  Shape shape = call.shape(0);
  const auto at = shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim));
  shape.insert(at, call.shape(1).begin(), call.shape(1).end());
  return {call.dtype(0), shape};
}

TensorType infer_embedding(const Inference& call) {
  check_index(call, 1);
  if (call.rank(0) != 2) call.expected("a weight of two dimensions");
  return selected(call, 0);
}

// wraps: negative indices count from the end, as in x[indices]
constexpr AttributeSpec index_select_attributes[] = {{"dim", Kind::integer, std::int64_t{0}},
                                                     {"wraps", Kind::flag, false}};

TensorType infer_index_select(const Inference& call) {
  check_index(call, 1);
  if (call.rank(0) == 0) call.expected("a tensor of at least one dimension");
  return selected(call, static_cast<std::size_t>(call.normalise_dim("dim", call.rank(0))));
}

// Copies rows one after the other. A row is the contiguous block of all dimensions after `dim`.
Values evaluate_index_select(const Operands& o) {
  const std::size_t dim = dim_of(o.node);
  const auto extent = static_cast<std::size_t>(o.shape(0)[dim]);
  std::size_t rest = 1;
  for (std::size_t d = dim + 1; d < o.shape(0).size(); ++d) rest *= static_cast<std::size_t>(o.shape(0)[d]);
  Values result;
  result.reserve(o.result_count());
  for (std::size_t block = 0; block < o.value(0).size(); block += extent * rest)
    for (const double index : o.value(1)) {
      const std::size_t row = checked_index(o, index, o.shape(0)[dim], o.node.flag("wraps"));
      const auto from = o.value(0).begin() + static_cast<std::ptrdiff_t>(block + row * rest);
      result.insert(result.end(), from, from + static_cast<std::ptrdiff_t>(rest));
    }
  return result;
}

/// Returns the coordinate that the value `name` selects along a dimension. Invalid values are clamped.
Expr index_within(const std::string& name, std::int64_t extent, bool wraps) {
  const Expr index = var(name);
  return min(Expr(ExprOp::max, wraps ? index + less(index, 0) * extent : index, 0), extent - 1);
}

// out[a…, i…, b…] = x[a…, indices[i…], b…]
int select_along(Emitter& e, const TensorCall& call, std::size_t dim, bool wraps) {
  const int x = call.args[0], indices = e.index(call.args[1]);
  const Coordinates all = identity(call.shape());
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(dim);
  const auto last = first + static_cast<std::ptrdiff_t>(e.rank(indices));
  const int spread = e.map(indices, call.shape(), Coordinates(first, last), "indices");
  Coordinates place(all.begin(), first);
  const std::int64_t extent = e.extent(x, static_cast<std::int64_t>(dim));
  place.push_back(wraps ? index_within("g1", extent, true) : index_below(extent));
  place.insert(place.end(), last, all.end());
  return e.gather(x, spread, call.shape(), std::move(place), "selected");
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

int decompose_embedding(Emitter& e, const TensorCall& call) { return select_along(e, call, 0, false); }

int decompose_index_select(Emitter& e, const TensorCall& call) {
  return select_along(e, call, dim_of(call.node), call.node.flag("wraps"));
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

python::Value call_index_select(const python::Call& c) {
  const Id x = c.tensor("input"), index = c.tensor("index");
  if (c.type(index).shape.size() != 1)
    throw Error(fmt::format("index_select: expected an index of one dimension, found {}", print(c.type(index))));
  return c.node({x, index}, {{"dim", c.integer("dim")}});
}

std::vector<Id> read_index(pt2::Call& call) {
  const Id x = call.tensor("self");
  return {pick_by_tensors(caller_of(call), x, call.optional_tensors("indices"))};
}

std::vector<Id> read_index_select(pt2::Call& call) {
  const Id x = call.tensor("self"), index = call.tensor("index");
  return call.node({x, index}, {{"dim", call.integer("dim")}});
}

// index: x[i, :, j], with tensors i and j of shapes that broadcast

constexpr AttributeSpec index_attributes[] = {{"dims", Kind::integers, Required{}}, {"wraps", Kind::flag, false}};

// The broadcast shape of the index tensors, the dimensions that they index, and the place of their own dimensions in
// the result. If the indexed dimensions are adjacent, this is the place of the first one; otherwise it is the front.
struct Indexed {
  Shape shape, dims;
  std::size_t place;

  Indexed(const Node& node, const std::vector<Shape>& indices) : dims(node.integers("dims")) {
    for (const Shape& one : indices) shape = broadcast("index", shape, one);
    const bool adjacent = dims.back() - dims.front() + 1 == static_cast<std::int64_t>(dims.size());
    place = adjacent ? static_cast<std::size_t>(dims.front()) : 0;
  }
};

template <class Source>
std::vector<Shape> index_shapes(const Source& source) {
  std::vector<Shape> shapes;
  for (std::size_t i = 1; i < source.size(); ++i) shapes.push_back(source.shape(i));
  return shapes;
}

TensorType infer_index(const Inference& call) {
  const Shape dims = call.normalise_dims(call.rank(0));
  if (dims.size() + 1 != call.size() || !std::ranges::is_sorted(dims))
    call.expected("a tensor of indices for each of dims, in ascending order");
  for (std::size_t i = 1; i < call.size(); ++i) check_index(call, i);
  const Indexed indexed(call.node(), index_shapes(call));
  TensorType type = call.type(0);
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) type.shape.erase(type.shape.begin() + *dim);
  type.shape.insert(type.shape.begin() + static_cast<std::ptrdiff_t>(indexed.place), indexed.shape.begin(),
                    indexed.shape.end());
  return type;
}

Values evaluate_index(const Operands& o) {
  const Indexed indexed(o.node, index_shapes(o));
  const Shape own = row_major_strides(o.shape(0));
  Shape rest, rest_strides;
  for (std::size_t d = 0; d < own.size(); ++d)
    if (std::ranges::count(indexed.dims, static_cast<std::int64_t>(d)) == 0) {
      rest.push_back(o.shape(0)[d]);
      rest_strides.push_back(own[d]);
    }
  std::vector<std::size_t> chosen(static_cast<std::size_t>(element_count(indexed.shape)), 0);
  for (std::size_t i = 1; i < o.size(); ++i) {
    const auto dim = static_cast<std::size_t>(indexed.dims[i - 1]);
    auto to = chosen.begin();
    for_each_index(indexed.shape, std::array{broadcast_strides(o.shape(i), indexed.shape)}, [&](std::size_t at) {
      *to++ +=
          checked_index(o, o.value(i)[at], o.shape(0)[dim], o.node.flag("wraps")) * static_cast<std::size_t>(own[dim]);
    });
  }
  const auto cut = static_cast<std::ptrdiff_t>(indexed.place);
  const Shape outer(rest.begin(), rest.begin() + cut), inner(rest.begin() + cut, rest.end());
  const Shape outer_strides(rest_strides.begin(), rest_strides.begin() + cut);
  const Shape inner_strides(rest_strides.begin() + cut, rest_strides.end());
  Values result;
  result.reserve(o.result_count());
  for_each_index(outer, std::array{outer_strides}, [&](std::size_t first) {
    for (const std::size_t at : chosen)
      for_each_index(inner, std::array{inner_strides},
                     [&](std::size_t last) { result.push_back(o.value(0)[first + at + last]); });
  });
  return result;
}

int decompose_index(Emitter& e, const TensorCall& call) {
  std::vector<Shape> shapes;
  for (std::size_t i = 1; i < call.args.size(); ++i) shapes.push_back(call.arg(i).type.shape);
  const Indexed indexed(call.node, shapes);
  const Coordinates all = identity(call.shape());
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(indexed.place);
  const auto last = first + static_cast<std::ptrdiff_t>(indexed.shape.size());
  std::vector<int> indices;
  for (std::size_t i = 1; i < call.args.size(); ++i) {
    const int spread = e.broadcast(e.index(call.args[i]), indexed.shape);
    indices.push_back(e.as_scalar(spread) != nullptr
                          ? e.fill(spread, call.shape(), "indices")
                          : e.map(spread, call.shape(), Coordinates(first, last), "indices"));
  }
  Coordinates rest(all.begin(), first), place;
  rest.insert(rest.end(), last, all.end());
  auto next = rest.begin();
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(e.rank(call.args[0])); ++d) {
    const auto at = std::ranges::find(indexed.dims, d);
    if (at == indexed.dims.end())
      place.push_back(*next++);
    else
      place.push_back(index_within("g" + std::to_string(at - indexed.dims.begin() + 1), e.extent(call.args[0], d),
                                   call.node.flag("wraps")));
  }
  return e.gather(call.args[0], std::move(indices), call.shape(), std::move(place), "selected");
}

// gather

TensorType infer_gather(const Inference& call) {
  check_index(call, 1);
  const auto dim = static_cast<std::size_t>(call.normalise_dim("dim", call.rank(0)));
  if (call.rank(1) != call.rank(0)) call.expected("an index of as many dimensions as the tensor");
  for (std::size_t i = 0; i < call.shape(0).size(); ++i)
    if (i != dim && call.shape(1)[i] > call.shape(0)[i])
      call.expected(fmt::format("an index no larger than the tensor except in dimension {}", dim));
  return {call.dtype(0), call.shape(1)};
}

Values evaluate_gather(const Operands& o) {
  const std::size_t dim = dim_of(o.node);
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
  const int x = call.args[0], indices = e.index(call.args[1]);
  Coordinates coordinates = identity(call.shape());
  const std::int64_t dim = call.node.integer("dim");
  coordinates[static_cast<std::size_t>(dim)] = index_below(e.extent(x, dim));
  return e.gather(x, indices, call.shape(), std::move(coordinates), "gathered");
}

Id picked(const Given& g) {
  g.ignore({"sparse_grad"});
  const Id x = g.tensor("input"), index = g.tensor("index");
  return pick(g, x, index, g.integer("dim"));
}

// one_hot

constexpr AttributeSpec one_hot_attributes[] = {{"num_classes", Kind::integer, Required{}}};

TensorType infer_one_hot(const Inference& call) {
  check_index(call, 0);
  const std::int64_t classes = call.node().integer("num_classes");
  if (classes < 1)
    call.expected("num_classes of at least 1 (the shapes of a kernel cannot depend on data)", std::to_string(classes));
  TensorType type = {DType::i64, call.shape(0)};
  type.shape.push_back(classes);
  return type;
}

Values evaluate_one_hot(const Operands& o) {
  Values result(o.result_count(), 0);
  const std::int64_t classes = o.node.integer("num_classes");
  std::size_t row = 0;
  for (const double index : o.value(0)) {
    result[row + checked_index(o, index, classes)] = 1;
    row += static_cast<std::size_t>(classes);
  }
  return result;
}

// out[…, c] = indices[…] == c
int decompose_one_hot(Emitter& e, const TensorCall& call) {
  Coordinates row = identity(call.shape());
  const Expr last = row.back();
  row.pop_back();
  const int index = e.map(e.index(call.args[0]), call.shape(), std::move(row), "index");
  const int place = e.coordinate(last, {DType::i32, call.shape()}, "class");
  return e.convert(e.elementwise(Op::equal, {index, place}, "hit"), call.dtype());
}

/// Operations whose result is not negative if none of the arguments is negative, and if the first one is not.
constexpr auto combining = std::to_array<std::string_view>({"cat", "stack", "maximum", "add", "mul", "where"});
constexpr auto keeping = std::to_array<std::string_view>(
    {"slice", "select", "reshape", "permute", "transpose", "unsqueeze", "squeeze", "expand", "gather", "to", "index",
     "index_select", "amax", "amin", "sum", "cumsum", "floor_divide"});

}  // namespace

bool may_be_negative(const Caller& c, Id id) {
  const Node node = c.node(id);
  if (node.type.dtype == DType::boolean) return false;
  if (node.kind == Node::Kind::scalar) return node.value < 0;
  if (node.kind != Node::Kind::call)
    return !node.source.values || std::ranges::any_of(*node.source.values, [](auto x) { return x < 0; });
  if (node.op == "argsort" || node.op == "searchsorted" || node.op == "one_hot" || node.op == "remainder") return false;
  if (node.op == "full") return node.number("value") < 0;
  if (node.op == "arange") {
    const std::int64_t start = node.integer("start"), step = node.integer("step");
    return start < 0 || (step < 0 && node.integer("end") < -1);
  }
  if (is_one_of(node.op, keeping)) return may_be_negative(c, node.args[0]);
  if (!is_one_of(node.op, combining)) return true;
  const std::size_t first = node.op == "where" ? 1 : 0;
  for (std::size_t i = first; i < node.args.size(); ++i)
    if (may_be_negative(c, node.args[i])) return true;
  return false;
}

Id pick(const Caller& c, Id x, Id index, std::int64_t dim) {
  const Node softmax = c.node(x);
  Shape rows = softmax.type.shape, picked = c.shape(index);
  const auto wrapped = static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(rows.size()) : dim);
  if (wrapped < rows.size() && picked.size() == rows.size()) rows[wrapped] = picked[wrapped] = 0;
  if (softmax.op != "log_softmax" || softmax.integer("dim") != static_cast<std::int64_t>(wrapped) || rows != picked)
    return c.call("gather", {x, index}, {{"dim", dim}});
  const Id logits = softmax.args[0];
  const Attributes along = {{"dims", Shape{dim}}, {"keepdim", true}};
  const Id maximum = c.call("amax", {logits}, along);
  const Id sum = c.call("sum", {c.call("exp", {c.call("sub", {logits, maximum})})}, along);
  const Id shifted = c.call("sub", {c.call("gather", {logits, index}, {{"dim", dim}}), maximum});
  return c.call("sub", {shifted, c.call("log", {sum})});
}

Id counted_from_start(const Caller& c, Id index, std::int64_t extent) {
  const auto number = [&](std::int64_t n) { return c.whole(n, DType::i64); };
  if (!may_be_negative(c, index)) return index;
  const Id negative = c.call("lt", {index, number(0)});
  return c.call("where", {negative, c.call("add", {index, number(extent)}), index});
}

std::optional<std::vector<double>> known_values(const Caller& c, Id id) {
  constexpr std::int64_t max_known = std::int64_t{1} << 20;
  std::map<Id, Id> nodes = {{id, 0}};  // by their numbers in the graph; arguments come before
  std::int64_t elements = 0;
  for (auto next = nodes.rbegin(); next != nodes.rend(); ++next) {
    const Node& node = c.node(next->first);
    elements += element_count(node.type.shape);
    const bool unknown = node.kind == Node::Kind::input || node.kind == Node::Kind::parameter;
    if (elements > max_known || (unknown && !node.source.values)) return std::nullopt;
    for (const Id arg : node.args) nodes.emplace(arg, 0);
  }
  Graph graph;
  std::vector<Values> sources;
  for (auto& [from, to] : nodes) {
    Node& node = graph.nodes.emplace_back(c.node(from));
    for (Id& arg : node.args) arg = nodes.at(arg);
    to = static_cast<Id>(sources.size());
    sources.push_back(node.source.values ? node.source.values->doubles() : Values());
  }
  graph.outputs = {nodes.at(id)};
  return evaluate(graph, sources)[0];
}

Id list_of(const Caller& c, const std::vector<std::int64_t>& numbers) {
  const std::int64_t start = numbers.empty() ? 0 : numbers[0], step = numbers.size() < 2 ? 1 : numbers[1] - numbers[0];
  const auto count = static_cast<std::int64_t>(numbers.size());
  bool even = step != 0;
  for (std::int64_t i = 0; i < count; ++i) even &= numbers[static_cast<std::size_t>(i)] == start + i * step;
  if (!even) return c.list(numbers);
  return c.range(start, start + count * step, step);
}

std::vector<std::optional<Id>> without_masks(const Caller& c, const std::vector<std::optional<Id>>& indices) {
  std::vector<std::optional<Id>> result;
  for (const std::optional<Id>& index : indices) {
    if (!index || c.dtype(*index) != DType::boolean) {
      result.push_back(index);
      continue;
    }
    const TensorType type = c.type(*index);
    const auto mask = known_values(c, *index);
    if (!mask || type.shape.empty())
      throw Error(
          fmt::format("expected indices of integers, or a mask that is a constant (the number of elements that another "
                      "mask selects is known only at run time; torch.where(mask, x, 0) keeps the shape), found {}",
                      print(type)));
    const Shape strides = row_major_strides(type.shape);
    for (std::size_t d = 0; d < strides.size(); ++d) {
      std::vector<std::int64_t> places;
      for (std::size_t i = 0; i < mask->size(); ++i)
        if ((*mask)[i] != 0) places.push_back(static_cast<std::int64_t>(i) / strides[d] % type.shape[d]);
      result.emplace_back(list_of(c, places));
    }
  }
  return result;
}

Id pick_by_tensors(const Caller& c, Id x, const std::vector<std::optional<Id>>& given) {
  const std::vector<std::optional<Id>> indices = without_masks(c, given);
  Shape dims;
  std::vector<Id> args = {x};
  bool wraps = false;
  for (std::size_t d = 0; d < indices.size(); ++d)
    if (indices[d]) {
      dims.push_back(static_cast<std::int64_t>(d));
      args.push_back(*indices[d]);
      wraps |= may_be_negative(c, *indices[d]);
    }
  if (dims.empty()) return x;
  if (dims.size() == 1) return c.call("index_select", args, {{"dim", dims[0]}, {"wraps", wraps}});
  return c.call("index", args, {{"dims", dims}, {"wraps", wraps}});
}

// clang-format off
std::vector<Operation> index_operations() {
  return {
      {"embedding", 2, 2, {}, infer_embedding, evaluate_embedding, decompose_embedding,
       {{"embedding", in_functional, "input, weight, padding_idx=None", call_embedding}},
       {{"aten.embedding", read_embedding}}},
      {"gather", 2, 2, dim_attribute, infer_gather, evaluate_gather, decompose_gather,
       {{"gather", either, "input, dim, index", call_made<picked>}},
       {{"aten.gather", read_made<picked>}}},
      {"index", 2, any_number, index_attributes, infer_index, evaluate_index, decompose_index,
       {},
       {{"aten.index", read_index}}},
      {"index_select", 2, 2, index_select_attributes, infer_index_select, evaluate_index_select, decompose_index_select,
       {{"index_select", either, "input, dim, index", call_index_select}},
       {{"aten.index_select", read_index_select}}},
      {"one_hot", 1, 1, one_hot_attributes, infer_one_hot, evaluate_one_hot, decompose_one_hot,
       {{"one_hot", in_functional, "input, num_classes", call_plain}},
       {{"aten.one_hot", read_plain}}},
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
