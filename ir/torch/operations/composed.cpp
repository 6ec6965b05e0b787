// Functions composed of other operations, which compare pairs of positions, or join and take elements.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/torch/operations/given.h"
#include "ir/types/integers.h"

namespace deplo::ir::torch {
namespace composed {
namespace {

Id reduced(const Given& g, std::string_view op, Id x, std::int64_t dim) {
  return g.call(op, {x}, {{"dims", Shape{dim}}});
}
Id moved_back(const Given& g, Id x, std::size_t dim) {
  const auto last = static_cast<std::int64_t>(g.rank(x)) - 1;
  Shape order;
  for (std::int64_t d = 0; d < last; ++d) order.push_back(d);
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(dim), last);
  return g.permute(x, order);
}

// Returns the median, which is the lower of two middle elements, and its index. In a line with NaN, the median is the
// first NaN. Without `dim`, returns only the median of all elements.
std::vector<Id> median(const Given& g) {
  Id x = g.tensor("input");
  const bool all = !g.has("dim");
  if (all) x = g.reshape(x, {element_count(g.shape(x))});
  const std::size_t dim = all ? 0 : g.dim(g.integer("dim", 0), g.rank(x));
  const std::int64_t count = g.shape(x)[dim], along = static_cast<std::int64_t>(dim);
  if (count == 0) g.refuse("at least one element", x);
  const Id order = g.call("argsort", {x}, {{"dim", along}});
  Id middle = g.slice(order, dim, (count - 1) / 2, (count - 1) / 2 + 1);
  if (is_float(g.dtype(x))) {
    const Id greatest = g.call("amax", {x}, {{"dims", Shape{along}}, {"keepdim", true}});  // NaN, if there is one
    const Id place = extreme_index(g, g.node(greatest));
    middle = g.where(g.apply("eq", greatest, greatest), middle, place);
  }
  const Id value = g.call("gather", {x, middle}, {{"dim", along}});
  const bool kept = !all && g.flag("keepdim", false);
  const auto shaped = [&](Id id) { return kept ? id : g.call("squeeze", {id}, {{"dims", Shape{along}}}); };
  if (all) return {shaped(value)};
  return {shaped(value), shaped(middle)};
}

// The cross product of vectors of three elements. Without `dim`, torch.cross takes the first dimension of this extent.
Id cross(const Given& g) {
  const Id a = g.tensor("input"), b = g.tensor("other");
  std::int64_t along = g.integer("dim", -1);
  if (!g.has("dim") && !g.name().ends_with("linalg_cross")) {
    const Shape shape = broadcast(std::string(g.name()), g.shape(a), g.shape(b));
    if (const auto three = std::ranges::find(shape, 3); three != shape.end()) along = three - shape.begin();
  }
  const std::size_t dim = g.dim(along, g.rank(a));
  if (g.shape(a)[dim] != 3) g.refuse("vectors of 3 elements", a);
  const auto turned = [&](Id x, std::int64_t by) {
    return g.call("cat", {g.slice(x, dim, by, 3), g.slice(x, dim, 0, by)}, {{"dim", static_cast<std::int64_t>(dim)}});
  };
  return g.apply("sub", g.apply("mul", turned(a, 1), turned(b, 2)), g.apply("mul", turned(a, 2), turned(b, 1)));
}

// The distances between all pairs of a row of x1 and a row of x2.
Id cdist(const Given& g) {
  g.ignore({"compute_mode"});
  const Id a = g.unsqueeze(g.tensor("x1"), -2), b = g.unsqueeze(g.tensor("x2"), -3);
  const double p = g.number("p", 2);
  if (p < 0) g.fail("p", "a number of at least 0");
  return norm_of_last(g, g.apply("sub", a, b), p);
}

Id fmod(const Given& g) {
  const Id x = g.tensor("input"), divisor = g.operand("other");
  if (!is_float(g.dtype(x)) && !is_float(g.dtype(divisor))) return whole_remainder(g, x, divisor, false);
  return remainder_towards_zero(g, x, divisor);
}

Id scatter_reduce(const Given& g) {
  const Id x = g.tensor("input");
  return scatter_reduced(g, {x, g.tensor("index"), g.tensor("src"), g.dim(g.integer("dim", 0), g.rank(x))},
                         g.text("reduce", ""), g.flag("include_self", true));
}

// Reduces the source elements that go to the same position. Without the old elements, these are replaced.
Id reduced_at(const Given& g, const Scatter& s, const std::string& by, bool with_self) {
  if (g.shape(s.index) != g.shape(s.source)) g.refuse("an index no larger than the source", s.index);
  if (is_narrow_integer(g.dtype(s.x))) {  // which may lack the number that stands for "none"
    const Scatter words = {g.to(s.x, DType::i32), s.index, g.to(s.source, DType::i32), s.dim};
    return g.to(reduced_at(g, words, by, with_self), g.dtype(s.x));
  }
  const std::string op = by == "mean" ? "sum" : by;
  const DType dtype = g.dtype(s.x);
  const double end = is_float(dtype) ? infinity : dtype == DType::i64 ? max_exact_integer - 1 : 0x1p31 - 1;
  const double neutral = op == "sum" ? 0 : op == "prod" ? 1 : op == "amax" ? -end : end;
  const Id none = g.scalar(neutral, is_float(dtype) ? DType::f32 : DType::i64);
  const Id target = moved_last(g, s.x, s.dim), places = g.unsqueeze(moved_last(g, s.index, s.dim), -2);
  const Id values = g.unsqueeze(moved_last(g, s.source, s.dim), -2);
  const Id hits = g.apply("eq", places, g.unsqueeze(g.range(0, g.shape(target).back()), 1));
  const Id sent = reduced(g, op, g.where(hits, values, none), -1);
  const std::string_view join = op == "sum" ? "add" : op == "prod" ? "mul" : op == "amax" ? "maximum" : "minimum";
  Id result = with_self ? g.apply(join, target, sent) : sent;
  const Id count = reduced(g, "sum", g.to(hits, g.dtype(s.x)), -1);
  if (by == "mean") result = g.apply("div", result, with_self ? g.apply("add", count, 1.0) : count);
  if (!with_self) result = g.where(g.apply("gt", count, 0.0), result, target);
  return moved_back(g, result, s.dim);
}

// take: returns the elements whose flat indices, in row-major order, are given.
Id take(const Given& g) {
  const Id x = g.tensor("input"), index = g.tensor("index");
  return pick_by_tensors(g, g.reshape(x, {element_count(g.shape(x))}), {index});
}

// masked_select and nonzero, of a mask that depends on no input.

Id masked_select(const Given& g) {
  const Id x = g.tensor("input"), mask = g.tensor("mask");
  const Shape shape = broadcast("masked_select", g.shape(x), g.shape(mask));
  return pick_by_tensors(g, g.expand(x, shape), {g.expand(mask, shape)});
}

Id nonzero(const Given& g) {
  const Id x = g.tensor("input");
  std::vector<Id> columns;
  for (const std::optional<Id>& places : without_masks(g, {g.apply("ne", x, 0.0)})) columns.push_back(*places);
  return g.call("stack", columns, {{"dim", std::int64_t{1}}});
}

// Wherever the mask is true, takes the next element of the source, in row-major order.
Id masked_scatter(const Given& g) {
  const Id x = g.tensor("input"), source = g.tensor("source");
  const Id mask = g.expand(g.tensor("mask"), g.shape(x));
  const std::int64_t count = element_count(g.shape(source));
  if (count == 0) g.refuse("a source with elements", source);
  return g.where(mask, next_rows(g, mask, g.reshape(source, {count})), x);
}

Id take_along_dim(const Given& g) {
  const Id x = g.tensor("input"), index = g.tensor("indices");
  if (!g.has("dim") || g.rank(index) != g.rank(x))
    g.fail("dim", "a dimension, and indices with as many dimensions as the input");
  const std::size_t dim = g.dim(g.integer("dim", 0), g.rank(x));
  Shape wide = g.shape(x), whole = g.shape(index);
  for (std::size_t d = 0; d < wide.size(); ++d)
    if (d != dim) whole[d] = wide[d] = std::max(wide[d], whole[d]);
  return g.call("gather", {g.expand(x, wide), g.expand(index, whole)}, {{"dim", static_cast<std::int64_t>(dim)}});
}

Id index_fill(const Given& g) {
  const Id x = g.tensor("input"), index = g.tensor("index");
  const std::size_t dim = g.dim(g.integer("dim", 0), g.rank(x));
  const Id places = counted_from_start(g, g.reshape(index, {element_count(g.shape(index))}), g.shape(x)[dim]);
  const Id hits = g.apply("eq", g.unsqueeze(g.range(0, g.shape(x)[dim]), 1), places);
  const Id hit = reduced(g, "amax", g.to(hits, DType::i32), -1);
  return g.where(g.to(g.along(hit, dim, g.rank(x)), DType::boolean), g.to(g.operand("value"), g.dtype(x)), x);
}

// The logarithm of the cumulative sums of exponentials.
Id logcumsumexp(const Given& g) {
  const Id x = g.tensor("input");
  g.require_float(x);
  const std::size_t dim = g.dim(g.integer("dim", 0), g.rank(x));
  const Id line = moved_last(g, x, dim), place = g.range(0, g.shape(line).back());
  const Id seen = g.apply("le", place, g.unsqueeze(place, 1));
  const Id parts = g.where(seen, g.unsqueeze(line, -2), g.scalar(-infinity));
  return moved_back(g, reduced(g, "logsumexp", parts, -1), dim);
}

// Returns the variance or the standard deviation, and the mean.
template <bool deviation>
std::vector<Id> moments(const Given& g) {
  const Id x = g.tensor("input");
  const double correction = g.has("correction") ? g.number("correction", 1) : g.flag("unbiased", true) ? 1 : 0;
  if (correction != 0 && correction != 1) g.fail("correction", "0 or 1");
  Attributes along = {{"keepdim", g.flag("keepdim", false)}};
  if (g.has("dim")) along.emplace("dims", g.integers("dim", Shape{}));
  const Id mean = g.call("mean", {x}, along);
  along.emplace("correction", static_cast<std::int64_t>(correction));
  const Id variance = g.call("var", {x}, along);
  return {deviation ? g.apply("sqrt", variance) : variance, mean};
}

Id kron(const Given& g) {
  const Id a = g.tensor("input"), b = g.tensor("other");
  Shape left = g.shape(a), right = g.shape(b), first, second, whole;
  const std::size_t rank = std::max(left.size(), right.size());
  left.insert(left.begin(), rank - left.size(), 1);
  right.insert(right.begin(), rank - right.size(), 1);
  for (std::size_t d = 0; d < rank; ++d) {
    first.insert(first.end(), {left[d], 1});
    second.insert(second.end(), {1, right[d]});
    whole.push_back(left[d] * right[d]);
  }
  return g.reshape(g.apply("mul", g.reshape(a, first), g.reshape(b, second)), whole);
}

// Rotates by k quarter turns in the plane of two dimensions, from the first dimension towards the second.
Id rot90(const Given& g) {
  const Id x = g.tensor("input");
  const Shape dims = g.integers("dims", Shape{0, 1});
  if (dims.size() != 2) g.fail("dims", "two dimensions");
  const std::size_t a = g.dim(dims[0], g.rank(x)), b = g.dim(dims[1], g.rank(x));
  if (a == b) g.fail("dims", "two dimensions");
  const std::int64_t turns = (g.integer("k", 1) % 4 + 4) % 4;
  const auto flipped = [&](Id v, std::size_t dim) {
    const std::int64_t count = g.shape(v)[dim];
    const Id place = g.apply("sub", g.whole(count - 1), g.range(0, count));
    return g.call("index_select", {v, place}, {{"dim", static_cast<std::int64_t>(dim)}});
  };
  const auto swapped = [&](Id v) {
    return g.call("transpose", {v}, {{"dim0", static_cast<std::int64_t>(a)}, {"dim1", static_cast<std::int64_t>(b)}});
  };
  if (turns == 0) return x;
  if (turns == 2) return flipped(flipped(x, a), b);
  return turns == 1 ? flipped(swapped(x), a) : flipped(swapped(x), b);
}

// |input| with the sign of `other`. -0 is negative; a NaN counts as positive.
Id copysign(const Given& g) {
  const Id x = g.tensor("input"), other = g.operand("other");
  const Node sign = g.node(other);
  const bool floats = is_float(sign.type.dtype);
  const DType common = promote(g.node(x), sign), result = is_float(common) ? common : DType::f32;
  const Id size = g.apply("abs", g.to(x, result)), opposite = g.apply("neg", size);
  if (sign.kind == Node::Kind::scalar) return std::signbit(sign.value) ? opposite : size;
  return g.where(floats ? is_negative(g, other) : g.apply("lt", other, 0.0), opposite, size);
}

Id ravel(const Given& g) {
  const Id x = g.tensor("input");
  return g.reshape(x, {element_count(g.shape(x))});
}

// hstack, vstack, dstack, column_stack

Id at_least(const Given& g, Id x, std::size_t rank) {
  const Shape shape = g.shape(x);
  if (shape.size() >= rank) return x;
  if (rank == 1) return g.reshape(x, {1});
  if (rank == 2) return g.reshape(x, {1, element_count(shape)});
  Shape deep = shape.size() == 2 ? shape : Shape{1, element_count(shape)};
  deep.push_back(1);
  return g.reshape(x, deep);
}

template <std::size_t rank>
Id stacked(const Given& g) {
  std::vector<Id> parts = g.tensors("tensors");
  for (Id& part : parts) part = at_least(g, part, rank);
  const std::int64_t dim = rank == 3 ? 2 : rank == 2 ? 0 : g.rank(parts[0]) == 1 ? 0 : 1;
  return g.call("cat", parts, {{"dim", dim}});
}

// col2im: adds up the windows of F.unfold where they overlap. This is a transposed convolution whose input channels are
// the elements of a window.
Id fold(const Given& g) {
  const Id x = g.tensor("input");
  const Shape size = g.integers("output_size", 2, 1), kernel = g.integers("kernel_size", 2, 1);
  const Shape dilation = g.integers("dilation", 2, 1), padding = g.integers("padding", 2, 0),
              stride = g.integers("stride", 2, 1);
  const bool batched = g.rank(x) == 3;
  if (!batched && g.rank(x) != 2) g.refuse("columns (N, C * elements, L)", x);
  const Shape columns = g.shape(x);
  const std::int64_t elements = kernel[0] * kernel[1], all = columns[columns.size() - 2],
                     batch = batched ? columns[0] : 1;
  if (elements < 1 || all % elements != 0) g.refuse(fmt::format("channels times {} elements", elements), x);
  Shape places, out_padding;
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t reach = dilation[d] * (kernel[d] - 1) + 1;
    places.push_back((size[d] + 2 * padding[d] - reach) / std::max<std::int64_t>(stride[d], 1) + 1);
    out_padding.push_back(size[d] - ((places[d] - 1) * stride[d] - 2 * padding[d] + reach));
  }
  const Id image = g.reshape(x, {batch * (all / elements), elements, places[0], places[1]});
  const Id place = g.range(0, elements), one = g.apply("eq", place, g.unsqueeze(place, 1));
  const Id weight = g.reshape(g.to(one, g.dtype(x)), {elements, 1, kernel[0], kernel[1]});
  const Id made = g.call("convolution", {image, weight},
                         {{"stride", stride},
                          {"padding", padding},
                          {"dilation", dilation},
                          {"transposed", true},
                          {"output_padding", out_padding},
                          {"groups", std::int64_t{1}}});
  Shape whole = {batch, all / elements, size[0], size[1]};
  if (!batched) whole.erase(whole.begin());
  return g.reshape(made, whole);
}

}  // namespace
}  // namespace composed

Id scatter_reduced(const Given& g, const Scatter& s, const std::string& by, bool with_self) {
  if (by != "sum" && by != "mean" && by != "prod" && by != "amax" && by != "amin")
    g.fail("reduce", "'sum', 'mean', 'prod', 'amax' or 'amin'");
  return in_covered_part(g, s, [&](const Scatter& part) { return composed::reduced_at(g, part, by, with_self); });
}

// clang-format off
Composites composed_functions() {
  using namespace composed;
  return composites_of(
      {made<cdist>("aten.cdist", in_torch, "x1, x2, p=2.0, compute_mode=None"),
       made<copysign>("aten.copysign", either, "input, other"),
       made<cross>("aten.cross", either, "input, other, dim=None"),
       {{"cross", in_linalg, "input, other, *, dim=-1", call_made<cross>}},
       made<stacked<3>>("aten.dstack", in_torch, "tensors"), made<fmod>("aten.fmod", either, "input, other"),
       {{"fold", in_functional, "input, output_size, kernel_size, dilation=1, padding=0, stride=1",
        call_made<fold>, "Fold"}},
       made<stacked<1>>("aten.hstack", in_torch, "tensors"),
       made<kron>("aten.kron", either, "input, other"),
       made<along_dimension<logcumsumexp>>("aten.logcumsumexp", either, "input, dim"),
       made<ravel>("aten.ravel", either, "input"), made<rot90>("aten.rot90", either, "input, k=1, dims=None"),
       made<moments<true>>("aten.std_mean", in_torch,
         "input, dim=None, unbiased=True, keepdim=False, *, correction=None"),
       made<moments<false>>("aten.var_mean", in_torch,
         "input, dim=None, unbiased=True, keepdim=False, *, correction=None"),
       made<along_dimension<index_fill>>("aten.index_fill", either, "input, dim, index, value"),
       {{"median", either, "input, dim=None, keepdim=False", call_with_indices<along_dimension<median>>}},
       made<masked_scatter>("aten.masked_scatter", either, "input, mask, source"),
       made<along_dimension<scatter_reduce>>("aten.scatter_reduce", either,
         "input, dim, index, src, reduce, *, include_self=True"),
       made<take>("aten.take", either, "input, index"),
       made<take_along_dim>("aten.take_along_dim", either, "input, indices, dim=None"),
       made<stacked<2>>("aten.vstack", in_torch, "tensors")},
      {{"aten._cdist_forward", read_made<cdist>}, {"aten.col2im", read_made<fold>},
       {"aten.linalg_cross", read_made<cross>}, {"aten.masked_select", read_made<masked_select>},
       {"aten.nonzero", read_made<nonzero>}, {"aten.median", read_made<along_dimension<median>>}});
}
// clang-format on

}  // namespace deplo::ir::torch
