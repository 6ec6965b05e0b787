// Elements put where indices say.
//   scatter(T, T index, T source, dim)   scatter_add(T, T index, T source, dim)
#include <fmt/format.h>

#include <array>
#include <utility>

#include "ir/torch/operations/family.h"

namespace deplo::ir::torch {
namespace {

constexpr AttributeSpec scatter_attributes[] = {{"dim", Kind::integer, Required{}}};

// Each place asks each index whether it is meant: beyond 2^26 pairs a gather is the better way to say it.
constexpr std::int64_t most_pairs = std::int64_t{1} << 26;

TensorType infer_scatter(const Inference& call) {
  if (!is_integer(call.dtype(1))) call.expected("indices of integers");
  if (call.dtype(0) != call.dtype(2) || call.dtype(0) == DType::boolean) call.expected("numbers of one dtype");
  if (call.rank(0) == 0) call.expected("a tensor of at least one dimension");
  const auto dim = static_cast<std::size_t>(call.normalise_dim("dim", call.rank(0)));
  Shape sources = call.shape(0);
  if (call.rank(1) == call.rank(0)) sources[dim] = call.shape(1)[dim];
  if (call.shape(1) != sources || call.shape(2) != sources)
    call.expected(fmt::format("an index and a source of one shape, the tensor's but in dimension {}", dim));
  const std::int64_t pairs = call.shape(0)[dim] * sources[dim];
  if (pairs > most_pairs)
    call.expected(fmt::format("at most {} pairs of a place and an index, as each is compared with each", most_pairs),
                  std::to_string(pairs));
  return call.type(0);
}

template <bool adds>
Values evaluate_scatter(const Operands& o) {
  const auto dim = static_cast<std::size_t>(o.node.integer("dim"));
  Shape strides = row_major_strides(o.result());
  const auto stride = static_cast<std::size_t>(std::exchange(strides[dim], 0));
  Values result = o.value(0);
  for_each_index(o.shape(1), std::array{row_major_strides(o.shape(1)), strides}, [&](std::size_t i, std::size_t to) {
    double& element = result[to + checked_index(o, o.value(1)[i], o.result()[dim]) * stride];
    element = adds ? element + o.value(2)[i] : o.value(2)[i];
  });
  return result;
}

/// The pairs of a place of the result and an index, which is the second.
struct Meant {
  Pairs pairs;
  int hit;  // whether the index is the place

  Meant(Emitter& e, const TensorCall& call) : pairs(pairs_of(e, call)) {
    const int index = pairs.at_second(e.index(call.args[1]), "index");
    hit = e.elementwise(Op::equal, {index, e.coordinate(pairs.first(), {DType::i32, pairs.space()}, "place")}, "hit");
  }
  static Pairs pairs_of(Emitter& e, const TensorCall& call) {
    const std::int64_t dim = call.node.integer("dim");
    return {e, call.shape(), static_cast<std::size_t>(dim), e.extent(call.args[1], dim)};
  }
};

// out[t] = x[t] + sum over i of (source[i] where index[i] == t): in an order that does not depend on threads.
int decompose_scatter_add(Emitter& e, const TensorCall& call) {
  const DType t = accumulation_type(call.dtype());
  const Meant meant(e, call);
  const int source = meant.pairs.at_second(e.convert(call.args[2], t), "source");
  const int part = e.elementwise(Op::select, {meant.hit, source, e.scalar(0, t, "zero")}, "part");
  const int sum = meant.pairs.reduce(Op::add, part);
  return e.convert(e.elementwise(Op::add, {e.convert(call.args[0], t), sum}, "ew"), call.dtype());
}

// The last index that is the place wins, as in a loop over them.
int decompose_scatter(Emitter& e, const TensorCall& call) {
  const Meant meant(e, call);
  const int from = e.coordinate(meant.pairs.second(), {DType::i32, meant.pairs.space()}, "from");
  const int none = e.scalar(-1, DType::i32, "none");
  const int last = meant.pairs.reduce(Op::maximum, e.elementwise(Op::select, {meant.hit, from, none}, "chosen"));
  const std::int64_t dim = call.node.integer("dim");
  tensor::Coordinates at = tensor::identity(call.shape());
  at[static_cast<std::size_t>(dim)] = index_below(e.extent(call.args[1], dim));
  const int value = e.gather(e.convert(call.args[2], call.dtype()), last, call.shape(), std::move(at), "value");
  const int kept = e.elementwise(Op::equal, {last, none}, "kept");
  return e.elementwise(Op::select, {kept, e.convert(call.args[0], call.dtype()), value}, "ew");
}

// In expressions

// A number is put everywhere.
Id source_of(const python::Call& c, std::string_view parameter, Id x, Id index) {
  if (is_tensor(c.value(parameter))) return c.tensor(parameter);
  return c.session.call("full", {},
                        {{"shape", c.type(index).shape}, {"value", c.number(parameter)}, {"dtype", c.type(x).dtype}});
}

python::Value call_scatter(const python::Call& c) {
  const Id x = c.tensor("input"), index = c.tensor("index");
  const std::string_view source = c.given("src") ? "src" : "value";
  return c.node({x, index, source_of(c, source, x, index)}, {{"dim", c.integer("dim")}});
}

// Rows of the source go to, or (scatter_add) are added to, the rows of x that the index, of one dimension, names.
Id scatter_rows(const Caller& c, std::string_view op, Id x, std::int64_t dim, Id index, Id source) {
  const Shape shape = c.node(source).type.shape, &places = c.node(index).type.shape;
  const auto wrapped = static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(shape.size()) : dim);
  if (places.size() != 1 || wrapped >= shape.size() || places[0] != shape[wrapped])
    throw Error(
        fmt::format("{}: expected an index of one dimension with an element for each row of the source {}, found {}",
                    op, print(shape), print(places)));
  Shape column(shape.size(), 1);
  column[wrapped] = places[0];
  const Id spread = c.call("expand", {c.call("reshape", {index}, {{"shape", column}})}, {{"shape", shape}});
  return c.call(op, {x, spread, source}, {{"dim", dim}});
}

python::Value call_index_add(const python::Call& c) {
  const Id x = c.tensor("input"), index = c.tensor("index");
  Id source = c.tensor("source");
  if (const auto* one = c.value("alpha").as<std::int64_t>(); !one || *one != 1)
    source = c.session.call("mul", {source, c.operand("alpha", 1)});
  return {python::Tensor{scatter_rows(caller_of(c), c.op, x, c.integer("dim"), index, source)}};
}

// In `.pt2` files

std::vector<Id> read_scatter(pt2::Call& call) {
  const Id x = call.tensor("self"), index = call.tensor("index");
  const std::int64_t dim = call.integer("dim");
  if (call.has("src")) return call.node({x, index, call.tensor("src")}, {{"dim", dim}});
  const double number = call.number("value", 0);
  const Id source = call.add("full", {}, {{"shape", call.shape(index)}, {"value", number}, {"dtype", call.dtype(x)}});
  return call.node({x, index, source}, {{"dim", dim}});
}

std::vector<Id> index_add(pt2::Call& call, Id x) {
  const Id index = call.tensor("index");
  Id source = call.tensor("source");
  const std::int64_t dim = call.integer("dim");
  if (call.number("alpha", 1) != 1) source = call.add("mul", {source, call.operand("alpha")});
  return {scatter_rows(caller_of(call), call.op, x, dim, index, source)};
}

std::vector<Id> read_index_add(pt2::Call& call) { return index_add(call, call.tensor("self")); }
std::vector<Id> read_index_add_in_place(pt2::Call& call) { return index_add(call, call.overwritten("self")); }

// What core ATen has for index_add.
std::vector<Id> read_index_put(pt2::Call& call) {
  const Id x = call.tensor("self");
  const std::vector<std::optional<Id>> indices = call.optional_tensors("indices");
  if (indices.size() != 1 || !indices[0] || call.rank(*indices[0]) != 1)
    call.fail("indices", "one tensor of one dimension, for the first dimension");
  Shape rows = call.shape(x);
  rows[0] = call.shape(*indices[0])[0];
  const Id source = call.expand(call.tensor("values"), rows);
  const std::string_view op = call.flag("accumulate", false) ? "scatter_add" : "scatter";
  const Caller c = caller_of(call);
  Id index = *indices[0];
  if (may_be_negative(c, index)) {  // counted from the end
    const Id from_end = c.call("add", {index, c.scalar(static_cast<double>(call.shape(x).at(0)), DType::i32)}, {});
    index = c.call("where", {c.call("lt", {index, c.scalar(0, DType::i32)}, {}), from_end, index}, {});
  }
  return {scatter_rows(c, op, x, 0, index, source)};
}

}  // namespace

// clang-format off
std::vector<Operation> scatter_operations() {
  return {
      {"scatter", 3, 3, scatter_attributes, infer_scatter, evaluate_scatter<false>, decompose_scatter,
       {{"scatter", either, "input, dim, index, src=None, *, value=None", call_scatter}},
       {{"aten.scatter", read_scatter}, {"aten.index_put", read_index_put}}},
      {"scatter_add", 3, 3, scatter_attributes, infer_scatter, evaluate_scatter<true>, decompose_scatter_add,
       {{"scatter_add", either, "input, dim, index, src", call_scatter},
        {"index_add", either, "input, dim, index, source, *, alpha=1", call_index_add}},
       {{"aten.scatter_add", read_scatter}, {"aten.index_add", read_index_add},
        {"aten.index_add_", read_index_add_in_place}}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
