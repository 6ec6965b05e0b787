// aten operations that arrange, pick, split and join elements.
#include <array>
#include <limits>

#include "core/error.h"
#include "ir/torch/pt2/call.h"

namespace deplo::ir::torch::pt2 {
namespace {

using std::int64_t;
constexpr int64_t all = std::numeric_limits<int64_t>::max();

// Views: the file states the resulting shape.
std::vector<Id> view(Call& call, std::string_view) {
  if (call.has("dtype")) call.fail("dtype", "None");
  call.ignore({"size", "shape", "start_dim", "end_dim", "dim", "sizes"});
  return {call.reshape(call.tensor("self"), call.output_type().shape)};
}

std::vector<Id> transpose(Call& call, std::string_view) {
  const Id x = call.tensor("self");
  return {call.add("transpose", {x}, {{"dim0", call.integer("dim0")}, {"dim1", call.integer("dim1")}})};
}

// t (at most two dimensions), mT (at least two)
std::vector<Id> transpose_last(Call& call, std::string_view) {
  const Id x = call.tensor("self");
  return {call.rank(x) < 2 ? x : call.add("transpose", {x}, {{"dim0", int64_t{-2}}, {"dim1", int64_t{-1}}})};
}

std::vector<Id> permute(Call& call, std::string_view) {
  const Id x = call.tensor("self");
  return {call.add("permute", {x}, {{"dims", call.integers("dims")}})};
}

std::vector<Id> expand(Call& call, std::string_view) {
  call.ignore({"size", "implicit", "other"});
  return {call.expand(call.tensor("self"), call.output_type().shape)};
}

std::vector<Id> unsqueeze(Call& call, std::string_view) {
  const Id x = call.tensor("self");
  return {call.add("unsqueeze", {x}, {{"dim", call.integer("dim")}})};
}

std::vector<Id> slice(Call& call, std::string_view) {
  const Id x = call.tensor("self");
  const int64_t dim = call.integer("dim", 0), start = call.integer("start", 0), end = call.integer("end", all);
  return {call.slice(x, dim, start, end, call.integer("step", 1))};
}

std::vector<Id> narrow(Call& call, std::string_view) {
  const Id x = call.tensor("self");
  const int64_t dim = call.integer("dim"), start = call.integer("start"), length = call.integer("length");
  if (start < 0 || length < 0 || start > all - length) call.fail("start", "a start of at least 0, inside the tensor");
  return {call.slice(x, dim, start, start + length)};
}

std::vector<Id> select(Call& call, std::string_view) {
  const Id x = call.tensor("self");
  return {call.add("select", {x}, {{"dim", call.integer("dim")}, {"index", call.integer("index")}})};
}

std::vector<Id> join(Call& call, std::string_view op) {
  std::vector<Id> parts = call.tensors("tensors");
  if (parts.empty()) call.fail("tensors", "at least one tensor");
  return {call.add(op, std::move(parts), {{"dim", call.integer("dim", 0)}})};
}

// split, chunk: the file states the parts' shapes.
std::vector<Id> split(Call& call, std::string_view) {
  call.ignore({"split_size", "split_sizes", "chunks", "sections", "indices"});
  const Id x = call.tensor("self");
  const int64_t dim = call.integer("dim", 0), wrapped = dim < 0 ? dim + call.rank(x) : dim;
  std::vector<Id> parts;
  int64_t start = 0;
  for (std::size_t i = 0; i < call.outputs().size(); ++i) {
    const Shape& shape = call.output_type(i).shape;
    if (wrapped < 0 || wrapped >= static_cast<int64_t>(shape.size())) call.fail("dim", "a dimension of the parts");
    const int64_t end = start + shape[static_cast<std::size_t>(wrapped)];
    if (end > most_elements) call.fail("self", "parts that fit");
    parts.push_back(call.slice(x, dim, start, end));
    start = end;
  }
  return parts;
}

std::vector<Id> unbind(Call& call, std::string_view) {
  const Id x = call.tensor("self");
  const int64_t dim = call.integer("dim", 0);
  std::vector<Id> parts;
  for (std::size_t i = 0; i < call.outputs().size(); ++i)
    parts.push_back(call.add("select", {x}, {{"dim", dim}, {"index", static_cast<int64_t>(i)}}));
  return parts;
}

// repeat(2, 3) of (a, b): (1, a, 1, b) → (2, a, 3, b) → (2a, 3b)
std::vector<Id> repeat(Call& call, std::string_view) {
  const Id x = call.tensor("self");
  const std::vector<int64_t> repeats = call.integers("repeats");
  if (static_cast<int64_t>(repeats.size()) < call.rank(x)) call.fail("repeats", "one number per dimension");
  Shape extents(repeats.size() - call.shape(x).size(), 1), apart, wide;
  extents.insert(extents.end(), call.shape(x).begin(), call.shape(x).end());
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d] != 1) apart.push_back(1), wide.push_back(repeats[d]);
    apart.push_back(extents[d]), wide.push_back(extents[d]);
  }
  return {call.reshape(call.expand(call.reshape(x, apart), wide), call.output_type().shape)};
}

// (a, b) of dim 0: (a, 1, b) → (a, repeats, b) → (a * repeats, b)
std::vector<Id> repeat_interleave(Call& call, std::string_view) {
  call.ignore({"output_size"});
  const Id x = call.tensor("self");
  const int64_t repeats = call.integer("repeats"), dim = call.integer("dim");
  const int64_t wrapped = dim < 0 ? dim + call.rank(x) : dim;
  if (wrapped < 0 || wrapped >= call.rank(x)) call.fail("dim", "a dimension of the tensor");
  Shape apart = call.shape(x);
  apart.insert(apart.begin() + wrapped + 1, 1);
  Shape wide = apart;
  wide[static_cast<std::size_t>(wrapped) + 1] = repeats;
  return {call.reshape(call.expand(call.reshape(x, apart), wide), call.output_type().shape)};
}

std::vector<Id> embedding(Call& call, std::string_view) {
  call.ignore({"padding_idx", "scale_grad_by_freq", "sparse"});
  const Id weight = call.tensor("weight");
  return {call.add("embedding", {weight, call.tensor("indices")})};
}

std::vector<Id> gather(Call& call, std::string_view) {
  call.ignore({"sparse_grad"});
  const Id x = call.tensor("self");
  return {call.add("gather", {x, call.tensor("index")}, {{"dim", call.integer("dim")}})};
}

// x[indices]: rows of the first dimension, which is an embedding of the rest made flat.
std::vector<Id> rows_of(Call& call, Id x, Id indices) {
  Shape flat = {call.rank(x) > 0 ? call.shape(x)[0] : 0, 1};
  for (std::size_t d = 1; d < call.shape(x).size(); ++d) flat[1] *= call.shape(x)[d];
  const Id picked = call.add("embedding", {call.reshape(x, flat), indices});
  return {call.reshape(picked, call.output_type().shape)};
}

std::vector<Id> index(Call& call, std::string_view) {
  const Id x = call.tensor("self");
  const std::vector<std::optional<Id>> indices = call.optional_tensors("indices");
  if (indices.size() != 1 || !indices[0]) call.fail("indices", "one tensor, for the first dimension");
  return rows_of(call, x, *indices[0]);
}

std::vector<Id> index_select(Call& call, std::string_view) {
  const Id x = call.tensor("self"), indices = call.tensor("index");
  if (call.integer("dim") != 0) call.fail("dim", "0");
  return rows_of(call, x, indices);
}

std::vector<Id> triangle(Call& call, std::string_view op) {
  const Id x = call.tensor("self");
  return {call.add(op, {x}, {{"diagonal", call.integer("diagonal", 0)}})};
}

constexpr auto rows = std::to_array<Row>({
    {"aten.cat", join, "cat"},
    {"aten.chunk", split, ""},
    {"aten.embedding", embedding, ""},
    {"aten.expand", expand, ""},
    {"aten.expand_as", expand, ""},
    {"aten.flatten", view, ""},
    {"aten.gather", gather, ""},
    {"aten.index", index, ""},
    {"aten.index_select", index_select, ""},
    {"aten.mT", transpose_last, ""},
    {"aten.narrow", narrow, ""},
    {"aten.permute", permute, ""},
    {"aten.repeat", repeat, ""},
    {"aten.repeat_interleave", repeat_interleave, ""},
    {"aten.reshape", view, ""},
    {"aten.select", select, ""},
    {"aten.slice", slice, ""},
    {"aten.split", split, ""},
    {"aten.split_with_sizes", split, ""},
    {"aten.squeeze", view, ""},
    {"aten.stack", join, "stack"},
    {"aten.t", transpose_last, ""},
    {"aten.transpose", transpose, ""},
    {"aten.tril", triangle, "tril"},
    {"aten.triu", triangle, "triu"},
    {"aten.unbind", unbind, ""},
    {"aten.unflatten", view, ""},
    {"aten._unsafe_view", view, ""},
    {"aten.unsqueeze", unsqueeze, ""},
    {"aten.view", view, ""},
});

}  // namespace

std::span<const Row> shape_rows() { return rows; }

}  // namespace deplo::ir::torch::pt2
