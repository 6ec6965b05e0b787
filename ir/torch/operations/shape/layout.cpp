// Index maps: they change the indices of the elements and compute nothing.
//   transpose(T, dim0, dim1)   permute(T, dims)   reshape(T, shape (may have one -1))   unsqueeze(T, dim)
//   squeeze(T, dims=all (only those of extent 1 are removed))   expand(T, shape (-1 keeps the extent))
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace {

using tensor::identity;

constexpr AttributeSpec shape_attributes[] = {{"shape", Kind::integers, Required{}}};

std::int64_t& at(Shape& shape, std::int64_t i) { return shape[static_cast<std::size_t>(i)]; }

// Dimension d of the result is dimension order[d] of x.
int permuted(Emitter& e, const TensorCall& call, const Dims& order) {
  const Coordinates from = identity(call.shape());
  Coordinates coordinates(order.size(), 0);
  for (std::size_t d = 0; d < order.size(); ++d) coordinates[static_cast<std::size_t>(order[d])] = from[d];
  return e.map(call.args[0], call.shape(), std::move(coordinates), "map");
}

// transpose

constexpr AttributeSpec transpose_attributes[] = {{"dim0", Kind::integer, Required{}},
                                                  {"dim1", Kind::integer, Required{}}};

TensorType infer_transpose(const Inference& call) {
  const std::int64_t a = call.normalise_dim("dim0", call.rank(0)), b = call.normalise_dim("dim1", call.rank(0));
  TensorType type = call.type(0);
  std::swap(at(type.shape, a), at(type.shape, b));
  return type;
}

Values evaluate_transpose(const Operands& o) {
  Shape strides = row_major_strides(o.shape(0));
  std::swap(at(strides, o.node.integer("dim0")), at(strides, o.node.integer("dim1")));
  return strided(o, strides);
}

int decompose_transpose(Emitter& e, const TensorCall& call) {
  Dims order(call.shape().size());
  std::iota(order.begin(), order.end(), 0);
  if (!order.empty())
    std::swap(order[static_cast<std::size_t>(call.node.integer("dim0"))],
              order[static_cast<std::size_t>(call.node.integer("dim1"))]);
  return permuted(e, call, order);
}

python::Value call_t(const python::Call& c) {
  const Id x = c.tensor("input");
  if (c.type(x).shape.size() > 2)
    throw Error(fmt::format("t: expected at most two dimensions, found {}", print(c.type(x))));
  if (c.type(x).shape.size() < 2) return {python::Tensor{x}};
  return c.node({x}, {{"dim0", std::int64_t{0}}, {"dim1", std::int64_t{1}}});
}

// Reads t (at most two dimensions) and mT (at least two).
std::vector<Id> read_t(pt2::Call& call) {
  const Id x = call.tensor("self");
  if (call.rank(x) < 2) return {x};
  return call.node({x}, {{"dim0", std::int64_t{-2}}, {"dim1", std::int64_t{-1}}});
}

// Reads swapaxes (axis0, axis1) and swapdims (dim0, dim1).
std::vector<Id> read_swapped(pt2::Call& call) {
  const bool axes = call.has("axis0");
  const std::int64_t first = call.integer(axes ? "axis0" : "dim0"), second = call.integer(axes ? "axis1" : "dim1");
  return call.node({call.tensor("self")}, {{"dim0", first}, {"dim1", second}});
}

// x.T: nearly all programs use it on two dimensions, for which it is a transpose.
std::vector<Id> read_reversed(pt2::Call& call) {
  const Id x = call.tensor("self");
  Shape dims;
  for (std::int64_t d = call.rank(x); d-- > 0;) dims.push_back(d);
  if (dims.size() == 2) return {call.add("transpose", {x}, {{"dim0", std::int64_t{0}}, {"dim1", std::int64_t{1}}})};
  return {dims.size() < 2 ? x : call.add("permute", {x}, {{"dims", dims}})};
}

// permute

constexpr AttributeSpec permute_attributes[] = {{"dims", Kind::integers, Required{}}};

TensorType infer_permute(const Inference& call) {
  const Shape dims = call.normalise_dims(call.rank(0));
  if (dims.size() != call.shape(0).size()) call.expected("each dimension once", print_list(dims));
  TensorType type = {call.dtype(0), {}};
  for (const std::int64_t dim : dims) type.shape.push_back(call.shape(0)[static_cast<std::size_t>(dim)]);
  return type;
}

Values evaluate_permute(const Operands& o) {
  Shape own = row_major_strides(o.shape(0)), strides;
  for (const std::int64_t dim : o.node.integers("dims")) strides.push_back(at(own, dim));
  return strided(o, strides);
}

int decompose_permute(Emitter& e, const TensorCall& call) { return permuted(e, call, call.node.integers("dims")); }

// reshape, and its special cases unsqueeze and squeeze, which add and remove dimensions of extent 1

// Replaces an extent of -1 so that the shape has `count` elements. Returns nullopt if no number fits, or several do.
std::optional<Shape> with_count(Shape shape, std::int64_t count) {
  std::int64_t known = 1;
  for (const std::int64_t extent : shape)
    if (extent < -1 || (extent != -1 && __builtin_mul_overflow(known, extent, &known))) return std::nullopt;
  const auto unknown = std::ranges::count(shape, -1);
  const bool fits = unknown == 0 ? known == count : unknown == 1 && known > 0 && count % known == 0;
  if (!fits) return std::nullopt;
  if (unknown == 1) std::ranges::replace(shape, -1, count / known);
  return shape;
}

TensorType infer_reshape(const Inference& call) {
  const Shape& wanted = call.node().integers("shape");
  const auto shape = with_count(wanted, element_count(call.shape(0)));
  if (!shape)
    call.expected(fmt::format("a shape of {} elements with at most one extent of -1", element_count(call.shape(0))),
                  print(wanted));
  const TensorType type = {call.dtype(0), *shape};
  call.set("shape", *shape);
  return type;
}

Values evaluate_reshape(const Operands& o) { return o.value(0); }

int decompose_reshape(Emitter& e, const TensorCall& call) { return e.reshape(call.args[0], call.shape(), "map"); }

// x.view(torch.int32) would read the bits of a float, for which kernels have no operation. A conversion between
// integers of equal width keeps the bits.
python::Value call_view(const python::Call& c) {
  const auto* shape = c.value("shape").as<python::List>();
  const auto is_dtype = [](const python::Value& item) { return item.as<DType>() != nullptr; };
  if (shape != nullptr && shape->items->size() == 1 && is_dtype(shape->items->front())) {
    const Id x = c.tensor("input");
    const DType from = c.type(x).dtype, to = *shape->items->front().as<DType>();
    if (from == to || (is_integer(from) && is_integer(to) && width(from) == width(to)))
      return {python::Tensor{c.session.cast(x, to)}};
  }
  if (shape != nullptr && std::ranges::any_of(*shape->items, is_dtype))
    c.fail("shape", "sizes (the bits of a tensor cannot be read as another type)");
  return call_plain(c);
}

// view_as, reshape_as, expand_as
python::Value call_shape_of_other(const python::Call& c) {
  const Id x = c.tensor("input");
  return c.node({x}, {{"shape", c.type(c.tensor("other")).shape}});
}

python::Value call_flatten(const python::Call& c) {
  const Id x = c.tensor("input");
  const Shape& shape = c.type(x).shape;
  if (shape.empty()) return c.node({x}, {{"shape", Shape{1}}});
  const auto first = static_cast<std::ptrdiff_t>(c.dim("start_dim", shape.size()));
  const auto last = static_cast<std::ptrdiff_t>(c.dim("end_dim", shape.size()));
  if (first > last) c.fail("end_dim", "a dimension not before start_dim");
  Shape flat(shape.begin(), shape.begin() + first);
  flat.push_back(element_count(Shape(shape.begin() + first, shape.begin() + last + 1)));
  flat.insert(flat.end(), shape.begin() + last + 1, shape.end());
  return c.node({x}, {{"shape", flat}});
}

python::Value call_unflatten(const python::Call& c) {
  const Id x = c.tensor("input");
  Shape shape = c.type(x).shape;
  const std::size_t dim = c.dim("dim", shape.size());
  const auto sizes = with_count(c.integers("sizes"), shape[dim]);
  if (!sizes) c.fail("sizes", fmt::format("extents whose product is {}, at most one of them -1", shape[dim]));
  const auto place = shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim));
  shape.insert(place, sizes->begin(), sizes->end());
  return c.node({x}, {{"shape", shape}});
}

// Views: the file states the resulting shape.
std::vector<Id> read_view(pt2::Call& call) {
  if (call.has("dtype")) call.fail("dtype", "None");
  call.ignore({"size", "shape", "start_dim", "end_dim", "dim", "sizes", "other"});
  return {call.reshape(call.tensor("self"), call.output_type().shape)};
}

// The file does not state the size of nonzero's result, which core ATen squeezes.
std::vector<Id> read_squeeze(pt2::Call& call) {
  const Id x = call.tensor("self");
  Shape shape = call.shape(x);
  const Shape dims = call.integers("dim");
  const auto rank = std::ssize(shape);
  const auto is_chosen = [&](std::int64_t dim) {
    return !call.has("dim") || std::ranges::count(dims, dim) + std::ranges::count(dims, dim - rank) > 0;
  };
  Shape kept;
  for (std::int64_t d = 0; d < rank; ++d)
    if (at(shape, d) != 1 || !is_chosen(d)) kept.push_back(at(shape, d));
  return {call.reshape(x, kept)};
}

// unsqueeze

TensorType infer_unsqueeze(const Inference& call) {
  TensorType type = call.type(0);
  const std::int64_t dim = call.normalise_dim("dim", call.rank(0) + 1);
  type.shape.insert(type.shape.begin() + dim, 1);
  return type;
}

// squeeze

constexpr AttributeSpec squeeze_attributes[] = {{"dims", Kind::integers, Computed{}}};

TensorType infer_squeeze(const Inference& call) {
  Shape dims;
  if (call.has("dims"))
    dims = call.normalise_dims(call.rank(0));
  else
    for (std::int64_t i = 0; i < call.rank(0); ++i) dims.push_back(i);
  TensorType type = call.type(0);
  std::erase_if(dims, [&](std::int64_t dim) { return at(type.shape, dim) != 1; });
  std::ranges::sort(dims);
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) type.shape.erase(type.shape.begin() + *dim);
  call.set("dims", dims);
  return type;
}

python::Value call_squeeze(const python::Call& c) {
  Attributes attributes;
  if (c.given("dim")) attributes.emplace("dims", c.integers("dim"));
  return c.node({c.tensor("input")}, std::move(attributes));
}

// expand

TensorType infer_expand(const Inference& call) {
  Shape shape = call.node().integers("shape");
  const Shape& from = call.shape(0);
  bool fits = shape.size() >= from.size();
  const std::size_t extra = fits ? shape.size() - from.size() : 0;
  for (std::size_t i = 0; fits && i < from.size(); ++i) {
    std::int64_t& extent = shape[extra + i];
    if (extent == -1) extent = from[i];
    fits = extent == from[i] || from[i] == 1;
  }
  if (!fits)
    call.expected(fmt::format("a shape that {} expands to", print(from)), print(call.node().integers("shape")));
  call.set("shape", shape);
  return {call.dtype(0), shape};
}

Values evaluate_expand(const Operands& o) { return strided(o, broadcast_strides(o.shape(0), o.result())); }

int decompose_expand(Emitter& e, const TensorCall& call) {
  if (e.as_scalar(call.args[0]) != nullptr) return e.fill(call.args[0], call.shape(), "map");
  return e.broadcast(call.args[0], call.shape());
}

python::Value call_expand(const python::Call& c) {
  return c.node({c.tensor("input")}, {{"shape", c.integers("size")}});
}

std::vector<Id> read_expand(pt2::Call& call) {
  call.ignore({"size", "implicit", "other"});
  return {call.expand(call.tensor("self"), call.output_type().shape)};
}

// Compositions of these operations

constexpr std::int64_t max_repeats = std::int64_t{1} << 24;

// For shape (a, b) and dim 0: (a, 1, b) → (a, repeats, b) → (a * repeats, b). If the repeats differ, the elements are
// selected by indices. Without an input, the result is these indices.
Id repeat_interleave(const Given& g) {
  g.ignore({"output_size"});
  const Id given = g.operand("repeats");
  const Node number = g.node(given);
  const auto known = number.kind == Node::Kind::scalar ? std::vector{number.value} : known_values(g, given);
  if (!known) g.fail("repeats", "a number, or a constant tensor (the result's shape cannot depend on data)");
  const double total = std::accumulate(known->begin(), known->end(), 0.0);
  if (std::ranges::any_of(*known, [](double n) { return n < 0; }) || total > static_cast<double>(max_repeats))
    g.fail("repeats", fmt::format("numbers of at least 0, and at most {} in all", max_repeats));
  const auto places = [&] {
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < known->size(); ++i)
      all.insert(all.end(), static_cast<std::size_t>((*known)[i]), static_cast<std::int64_t>(i));
    return list_of(g, all);
  };
  if (!g.has("input")) return places();
  Id x = g.tensor("input");
  if (!g.has("dim")) x = g.reshape(x, {element_count(g.shape(x))});
  const std::size_t dim = g.dim(g.integer("dim", 0), g.rank(x));
  const std::int64_t extent = g.shape(x)[dim];
  if (known->size() != 1) {
    if (std::ssize(*known) != extent) g.refuse(fmt::format("{} elements to repeat", known->size()), x);
    return g.select(x, dim, places());
  }
  const auto times = static_cast<std::int64_t>((*known)[0]), along = static_cast<std::int64_t>(dim);
  Shape wide = g.shape(x), whole = wide;
  wide.insert(wide.begin() + along + 1, times);
  whole[dim] = extent * times;
  return g.reshape(g.expand(g.unsqueeze(x, along + 1), wide), whole);
}

}  // namespace

// clang-format off
std::vector<Operation> layout_operations() {
  return {
      {"expand", 1, 1, shape_attributes, infer_expand, evaluate_expand, decompose_expand,
       {{"expand", as_method, "input, *size", call_expand},
        {"expand_as", as_method, "input, other", call_shape_of_other},
        {"broadcast_to", in_torch, "input, size", call_expand},
        {"broadcast_to", as_method, "input, *size", call_expand}},
       {{"aten.expand", read_expand}, {"aten.expand_as", read_expand}, {"aten.broadcast_to", read_expand}}},
      {"permute", 1, 1, permute_attributes, infer_permute, evaluate_permute, decompose_permute,
       {{"permute", either, "input, *dims", call_plain}},
       {{"aten.permute", read_plain}}},
      {"reshape", 1, 1, shape_attributes, infer_reshape, evaluate_reshape, decompose_reshape,
       {{"reshape", either, "input, *shape", call_plain},
        {"view", as_method, "input, *shape", call_view},
        {"view_as", as_method, "input, other", call_shape_of_other},
        {"reshape_as", as_method, "input, other", call_shape_of_other},
        {"flatten", either, "input, start_dim=0, end_dim=-1", call_flatten},
        {"unflatten", either, "input, dim, sizes", call_unflatten},
        {"repeat_interleave", either, "input, repeats, dim=None, *, output_size=None", call_made<repeat_interleave>}},
       {{"aten.reshape", read_view}, {"aten.view", read_view}, {"aten._unsafe_view", read_view},
        {"aten.view_as", read_view}, {"aten.reshape_as", read_view},
        {"aten.flatten", read_view}, {"aten.unflatten", read_view},
        {"aten.atleast_1d", read_view}, {"aten.atleast_2d", read_view}, {"aten.atleast_3d", read_view},
        {"aten.repeat_interleave", read_made<repeat_interleave>}}},
      {"squeeze", 1, 1, squeeze_attributes, infer_squeeze, evaluate_reshape, decompose_reshape,
       {{"squeeze", either, "input, dim=None", call_squeeze}},
       {{"aten.squeeze", read_squeeze}}},
      {"transpose", 1, 1, transpose_attributes, infer_transpose, evaluate_transpose, decompose_transpose,
       {{"transpose", either, "input, dim0, dim1", call_plain},
        {"swapaxes", either, "input, dim0, dim1", call_plain},
        {"t", either, "input", call_t}},
       {{"aten.transpose", read_plain}, {"aten.swapaxes", read_swapped}, {"aten.swapdims", read_swapped},
        {"aten.t", read_t}, {"aten.mT", read_t}, {"aten.mH", read_t}, {"aten.matrix_H", read_t},
        {"aten.adjoint", read_t}, {"aten.numpy_T", read_reversed}}},
      {"unsqueeze", 1, 1, dim_attribute, infer_unsqueeze, evaluate_reshape, decompose_reshape,
       {{"unsqueeze", either, "input, dim", call_plain}},
       {{"aten.unsqueeze", read_plain}}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
