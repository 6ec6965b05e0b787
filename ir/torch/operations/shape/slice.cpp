// Operations that pick elements along a dimension.
//   slice(T, dim, start=0, end=max, step=1 (≥ 1))   select(T, dim, index)
#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "ir/torch/operations/family.h"

namespace deplo::ir::torch {
namespace {

using tensor::identity;

// slice

constexpr AttributeSpec slice_attributes[] = {{"dim", Kind::integer, Required{}},
                                              {"start", Kind::integer, std::int64_t{0}},
                                              {"end", Kind::integer, Computed{}},
                                              {"step", Kind::integer, std::int64_t{1}}};

// Clamps the bound of a slice as Python does.
std::int64_t clamp_bound(std::int64_t bound, std::int64_t extent) {
  return std::clamp<std::int64_t>(bound < 0 ? std::max(bound, -extent) + extent : bound, 0, extent);
}

TensorType infer_slice(const Inference& call) {
  const Node& node = call.node();
  const std::int64_t dim = call.normalise_dim("dim", call.rank(0));
  const std::int64_t extent = call.shape(0)[static_cast<std::size_t>(dim)], step = node.integer("step");
  const std::int64_t start = clamp_bound(node.integer("start"), extent);
  const std::int64_t end = call.has("end") ? clamp_bound(node.integer("end"), extent) : extent;
  if (step < 1) call.expected("a step of at least 1", std::to_string(step));
  const std::int64_t count = start >= end ? 0 : 1 + (end - start - 1) / step;
  call.set("start", start);
  // If there is at most one element, the step has no effect. It may be huge.
  call.set("end", count <= 1 ? start + count : end);
  call.set("step", count <= 1 ? 1 : step);
  TensorType type = call.type(0);
  type.shape[static_cast<std::size_t>(dim)] = count;
  return type;
}

Values evaluate_slice(const Operands& o) {
  Shape strides = row_major_strides(o.shape(0));
  std::int64_t& stride = strides[dim_of(o.node)];
  const std::int64_t start = o.node.integer("start") * stride;
  stride *= o.node.integer("step");
  return strided(o, strides, start);
}

int decompose_slice(Emitter& e, const TensorCall& call) {
  const std::size_t dim = dim_of(call.node);
  Coordinates coordinates = identity(call.shape());
  coordinates[dim] = simplify(coordinates[dim] * call.node.integer("step") + call.node.integer("start"));
  return e.map(call.args[0], call.shape(), std::move(coordinates), "map");
}

// Returns consecutive slices of these extents.
python::Value pieces(const python::Call& c, Id x, std::size_t dim, const Shape& extents) {
  python::Values out;
  std::int64_t start = 0;
  for (const std::int64_t extent : extents) {
    out.push_back(c.node({x}, {{"dim", static_cast<std::int64_t>(dim)}, {"start", start}, {"end", start + extent}}));
    start += extent;
  }
  return make_list(std::move(out));
}

python::Value pieces_of(const python::Call& c, Id x, std::size_t dim, std::int64_t extent) {
  const std::int64_t whole = c.type(x).shape[dim], count = whole == 0 ? 1 : (whole - 1) / extent + 1;
  if (count > static_cast<std::int64_t>(python::max_nodes))
    throw Error(fmt::format("{}: expected at most {} pieces, found {}", c.name, python::max_nodes, count));
  Shape extents(static_cast<std::size_t>(count), extent);
  extents.back() = whole - extent * (count - 1);
  return pieces(c, x, dim, extents);
}

python::Value call_split(const python::Call& c) {
  const Id x = c.tensor("input");
  const std::size_t dim = c.dim("dim", c.type(x).shape.size());
  if (!c.value("split_size").as<python::List>()) {
    if (c.integer("split_size") < 1) c.fail("split_size", "at least 1");
    return pieces_of(c, x, dim, c.integer("split_size"));
  }
  const Shape extents = c.integers("split_size");
  std::int64_t left = c.type(x).shape[dim];
  for (const std::int64_t extent : extents) left = extent < 0 || extent > left ? -1 : left - extent;
  if (left != 0) c.fail("split_size", fmt::format("extents whose sum is {}", c.type(x).shape[dim]));
  return pieces(c, x, dim, extents);
}

python::Value call_chunk(const python::Call& c) {
  const Id x = c.tensor("input");
  const std::size_t dim = c.dim("dim", c.type(x).shape.size());
  const std::int64_t chunks = c.integer("chunks");
  if (chunks < 1) c.fail("chunks", "at least 1");
  const std::int64_t whole = c.type(x).shape[dim];
  if (whole == 0 && chunks <= static_cast<std::int64_t>(python::max_nodes))
    return pieces(c, x, dim, Shape(static_cast<std::size_t>(chunks), 0));
  return pieces_of(c, x, dim, (whole - 1) / chunks + 1);
}

python::Value call_narrow(const python::Call& c) {
  const Id x = c.tensor("input");
  const Shape& shape = c.type(x).shape;
  const std::size_t dim = c.dim("dim", shape.size());
  std::int64_t start = c.integer("start");
  const std::int64_t length = c.integer("length");
  if (start < -shape[dim] || start > shape[dim]) c.fail("start", fmt::format("{} to {}", -shape[dim], shape[dim]));
  if (start < 0) start += shape[dim];  // counts from the end
  if (length < 0 || length > shape[dim] - start) c.fail("length", fmt::format("0 to {}", shape[dim] - start));
  return c.node({x}, {{"dim", static_cast<std::int64_t>(dim)}, {"start", start}, {"end", start + length}});
}

std::vector<Id> read_slice(pt2::Call& call) {
  const Id x = call.tensor("self");
  const std::int64_t dim = call.integer("dim", 0), start = call.integer("start", 0), end = call.integer("end", no_end);
  return {call.slice(x, dim, start, end, call.integer("step", 1))};
}

std::vector<Id> read_narrow(pt2::Call& call) {
  const Id x = call.tensor("self");
  const std::int64_t dim = call.integer("dim"), length = call.integer("length");
  const std::int64_t wrapped = dim < 0 ? dim + call.rank(x) : dim;
  if (wrapped < 0 || wrapped >= call.rank(x)) call.fail("dim", "a dimension of the tensor");
  const std::int64_t extent = call.shape(x)[static_cast<std::size_t>(wrapped)];
  std::int64_t start = call.integer("start");
  if (start < 0) start += extent;  // counts from the end
  if (start < 0 || length < 0 || start > extent || length > extent - start)
    call.fail("start", "a start and a length inside the tensor");
  return {call.slice(x, dim, start, start + length)};
}

// The file states the parts' shapes.
std::vector<Id> read_parts(pt2::Call& call, std::int64_t dim) {
  call.ignore({"split_size", "split_sizes", "chunks", "sections", "indices"});
  const Id x = call.tensor("self");
  const std::int64_t wrapped = dim < 0 ? dim + call.rank(x) : dim;
  std::vector<Id> parts;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < call.outputs().size(); ++i) {
    const Shape& shape = call.output_type(i).shape;
    if (wrapped < 0 || wrapped >= static_cast<std::int64_t>(shape.size())) call.fail("dim", "a dimension of the parts");
    const std::int64_t end = start + shape[static_cast<std::size_t>(wrapped)];
    if (end > max_elements) call.fail("self", "parts that fit");
    parts.push_back(call.slice(x, dim, start, end));
    start = end;
  }
  return parts;
}

std::vector<Id> read_split(pt2::Call& call) { return read_parts(call, call.integer("dim", 0)); }
std::vector<Id> read_hsplit(pt2::Call& call) { return read_parts(call, call.rank(call.tensor("self")) == 1 ? 0 : 1); }
std::vector<Id> read_dsplit(pt2::Call& call) { return read_parts(call, 2); }

// select

constexpr AttributeSpec select_attributes[] = {{"dim", Kind::integer, Required{}},
                                               {"index", Kind::integer, Required{}}};

TensorType infer_select(const Inference& call) {
  TensorType type = call.type(0);
  const std::int64_t dim = call.normalise_dim("dim", call.rank(0));
  const std::int64_t extent = type.shape[static_cast<std::size_t>(dim)];
  if (extent == 0) call.expected(fmt::format("elements along dimension {}", dim), print(type));
  call.normalise_dim("index", extent);
  type.shape.erase(type.shape.begin() + dim);
  return type;
}

Values evaluate_select(const Operands& o) {
  Shape strides = row_major_strides(o.shape(0));
  const std::int64_t dim = o.node.integer("dim");
  const std::int64_t start = o.node.integer("index") * strides[static_cast<std::size_t>(dim)];
  strides.erase(strides.begin() + dim);
  return strided(o, strides, start);
}

int decompose_select(Emitter& e, const TensorCall& call) {
  Coordinates coordinates = identity(call.shape());
  coordinates.insert(coordinates.begin() + call.node.integer("dim"), call.node.integer("index"));
  return e.map(call.args[0], call.shape(), std::move(coordinates), "map");
}

python::Value call_unbind(const python::Call& c) {
  const Id x = c.tensor("input");
  const std::size_t dim = c.dim("dim", c.type(x).shape.size());
  const std::int64_t count = c.type(x).shape[dim];
  if (count > static_cast<std::int64_t>(python::max_nodes))
    throw Error(fmt::format("unbind: expected at most {} pieces, found {}", python::max_nodes, count));
  python::Values out;
  for (std::int64_t i = 0; i < count; ++i)
    out.push_back(c.node({x}, {{"dim", static_cast<std::int64_t>(dim)}, {"index", i}}));
  return make_list(std::move(out));
}

std::vector<Id> read_unbind(pt2::Call& call) {
  const Id x = call.tensor("self");
  const std::int64_t dim = call.integer("dim", 0);
  std::vector<Id> parts;
  for (std::size_t i = 0; i < call.outputs().size(); ++i)
    parts.push_back(call.add("select", {x}, {{"dim", dim}, {"index", static_cast<std::int64_t>(i)}}));
  return parts;
}

}  // namespace

// clang-format off
std::vector<Operation> slice_operations() {
  return {
      {"select", 1, 1, select_attributes, infer_select, evaluate_select, decompose_select,
       {{"select", either, "input, dim, index", call_plain}, {"unbind", either, "input, dim=0", call_unbind}},
       {{"aten.select", read_plain}, {"aten.unbind", read_unbind}}},
      {"slice", 1, 1, slice_attributes, infer_slice, evaluate_slice, decompose_slice,
       {{"split", either, "input, split_size, dim=0", call_split},
        {"chunk", either, "input, chunks, dim=0", call_chunk},
        {"narrow", either, "input, dim, start, length", call_narrow}},
       {{"aten.slice", read_slice}, {"aten.narrow", read_narrow}, {"aten.chunk", read_split},
        {"aten.split", read_split},
        {"aten.split_with_sizes", read_split}, {"aten.tensor_split", read_split}, {"aten.vsplit", read_split},
        {"aten.hsplit", read_hsplit}, {"aten.dsplit", read_dsplit}}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
