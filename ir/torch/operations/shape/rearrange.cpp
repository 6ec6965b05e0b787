// Rearrangements composed of index maps, slices and selections: roll, flip, meshgrid, diagonals, pixel_shuffle, …
#include <fmt/format.h>

#include <algorithm>

#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace {

std::int64_t signed_dim(std::size_t dim) { return static_cast<std::int64_t>(dim); }

Id flip(const Given& g) {
  Id x = g.tensor("input");
  std::vector<std::size_t> dims;
  for (const std::int64_t d : g.integers("dims", Shape{})) {
    dims.push_back(g.dim(d, g.rank(x)));
    if (std::ranges::count(dims, dims.back()) > 1) g.fail("dims", "each dimension once");
  }
  for (const std::size_t d : dims)
    if (const std::int64_t n = g.shape(x)[d]; n > 1) x = g.select(x, d, g.range(n - 1, -1, -1));
  return x;
}

Id flip_dim(const Given& g, std::size_t min_rank, std::size_t dim) {
  const Id x = g.tensor("input");
  if (g.rank(x) < min_rank) g.refuse(fmt::format("a tensor of at least {} dimensions", min_rank), x);
  return g.select(x, dim, g.range(g.shape(x)[dim] - 1, -1, -1));
}
Id fliplr(const Given& g) { return flip_dim(g, 2, 1); }
Id flipud(const Given& g) { return flip_dim(g, 1, 0); }

Id rolled(const Given& g, Id x, std::size_t dim, std::int64_t shift) {
  const std::int64_t n = g.shape(x)[dim];
  const std::int64_t begin = n == 0 ? 0 : ((-shift) % n + n) % n;
  if (begin == 0) return x;
  return g.select(x, dim, g.call("remainder", {g.range(begin, begin + n)}, {{"divisor", n}}));
}

Id roll(const Given& g) {
  Id x = g.tensor("input");
  const Shape shifts = g.integers("shifts", Shape{}), dims = g.integers("dims", Shape{});
  if (dims.empty()) {
    if (shifts.size() != 1) g.fail("shifts", "one number if no dims are given");
    const Shape shape = g.shape(x);
    return g.reshape(rolled(g, g.reshape(x, {element_count(shape)}), 0, shifts[0]), shape);
  }
  if (shifts.size() != dims.size()) g.fail("shifts", "a number for each of dims");
  for (std::size_t i = 0; i < dims.size(); ++i) x = rolled(g, x, g.dim(dims[i], g.rank(x)), shifts[i]);
  return x;
}

// Tensor i varies along dimension i. With indexing 'xy', the first two dimensions are swapped.
std::vector<Id> meshgrid(const Given& g) {
  std::vector<Id> tensors = g.tensors("tensors");
  const std::string indexing = g.text("indexing", "ij");
  if (indexing != "ij" && indexing != "xy") g.fail("indexing", "'ij' or 'xy'");
  const bool swaps = indexing == "xy" && tensors.size() > 1;
  if (swaps) std::swap(tensors[0], tensors[1]);
  Shape shape;
  for (const Id t : tensors) {
    if (g.rank(t) > 1) g.refuse("tensors of at most one dimension", t);
    shape.push_back(element_count(g.shape(t)));
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i] = g.expand(g.along(tensors[i], i, shape.size()), shape);
  if (swaps) std::swap(tensors[0], tensors[1]);
  return tensors;
}

std::vector<Id> broadcast_tensors(const Given& g) {
  std::vector<Id> tensors = g.tensors("tensors");
  Shape shape;
  for (const Id t : tensors) shape = broadcast("broadcast_tensors", shape, g.shape(t));
  for (Id& t : tensors) t = g.expand(t, shape);
  return tensors;
}

// Sets all elements to 0 except the elements (…, i, i + offset) of the last two dimensions.
Id only_diagonal(const Given& g, Id x, std::int64_t offset) {
  return g.call("tril", {g.call("triu", {x}, {{"diagonal", offset}})}, {{"diagonal", offset}});
}

/// (…, n) → (…, n + |offset|, n + |offset|), with x on a diagonal and zeros elsewhere.
Id embedded(const Given& g, Id x, std::int64_t offset) {
  const std::int64_t more = std::abs(offset);
  if (more > 0) x = g.call("pad", {x}, {{"pad", Shape{0, more}}});
  Shape shape = g.shape(x);
  const Id rows = g.unsqueeze(x, offset < 0 ? -2 : -1);
  shape.push_back(shape.back());
  return only_diagonal(g, g.expand(rows, shape), offset);
}

Id diag(const Given& g) {
  const Id x = g.tensor("input");
  const std::int64_t offset = g.integer("diagonal", 0);
  if (g.rank(x) == 1) return embedded(g, x, offset);
  if (g.rank(x) != 2) g.refuse("a tensor of one or two dimensions", x);
  return diagonal_of(g, x, offset, 0, 1);
}

Id diagonal(const Given& g) {
  const Id x = g.tensor("input");
  return diagonal_of(g, x, g.integer("offset", 0), g.dim(g.integer("dim1", 0), g.rank(x)),
                     g.dim(g.integer("dim2", 1), g.rank(x)));
}

Id diag_embed(const Given& g) {
  const Id x = g.tensor("input");
  if (g.integer("dim1", -2) != -2 || g.integer("dim2", -1) != -1) g.fail("dim1", "-2, and -1 for dim2");
  return embedded(g, x, g.integer("offset", 0));
}

Id trace(const Given& g) {
  const Id x = g.tensor("input");
  if (g.rank(x) != 2) g.refuse("a matrix", x);
  return g.call("sum", {diagonal_of(g, x, 0, 0, 1)});
}

/// Reshapes the last three dimensions of x to `parts`, permutes the parts by `order`, and reshapes them to `result`.
Id rearranged(const Given& g, Id x, const Shape& parts, const Shape& order, const Shape& result) {
  const Shape shape = g.shape(x);
  Shape apart(shape.begin(), shape.end() - 3), whole = apart, dims;
  for (std::size_t d = 0; d < apart.size(); ++d) dims.push_back(signed_dim(d));
  for (const std::int64_t d : order) dims.push_back(d + signed_dim(apart.size()));
  apart.insert(apart.end(), parts.begin(), parts.end());
  whole.insert(whole.end(), result.begin(), result.end());
  return g.reshape(g.permute(g.reshape(x, apart), dims), whole);
}

Id pixel_shuffle(const Given& g) {
  const Id x = g.tensor("input");
  const std::int64_t r = g.integer("upscale_factor", 1);
  const Shape s = g.shape(x);
  if (r < 1) g.fail("upscale_factor", "at least 1");
  if (s.size() < 3 || s.end()[-3] % (r * r) != 0) g.refuse(fmt::format("channels divisible by {}", r * r), x);
  const std::int64_t c = s.end()[-3] / (r * r), h = s.end()[-2], w = s.back();
  return rearranged(g, x, {c, r, r, h, w}, {0, 3, 1, 4, 2}, {c, h * r, w * r});
}

Id pixel_unshuffle(const Given& g) {
  const Id x = g.tensor("input");
  const std::int64_t r = g.integer("downscale_factor", 1);
  const Shape s = g.shape(x);
  if (r < 1) g.fail("downscale_factor", "at least 1");
  if (s.size() < 3 || s.end()[-2] % r != 0 || s.back() % r != 0)
    g.refuse(fmt::format("a height and a width divisible by {}", r), x);
  const std::int64_t c = s.end()[-3], h = s.end()[-2] / r, w = s.back() / r;
  return rearranged(g, x, {c, h, r, w, r}, {0, 2, 4, 1, 3}, {c * r * r, h, w});
}

Id channel_shuffle(const Given& g) {
  const Id x = g.tensor("input");
  const std::int64_t groups = g.integer("groups", 1);
  Shape s = g.shape(x);
  if (s.size() < 3 || groups < 1 || s[1] % groups != 0)
    g.refuse(fmt::format("channels divisible by {} groups", groups), x);
  Shape apart = s;
  apart[1] = groups;
  apart.insert(apart.begin() + 2, s[1] / groups);
  return g.reshape(g.call("transpose", {g.reshape(x, apart)}, {{"dim0", std::int64_t{1}}, {"dim1", std::int64_t{2}}}),
                   s);
}

Id movedim(const Given& g) {
  const Id x = g.tensor("input");
  const Shape from = g.integers("source", Shape{}), to = g.integers("destination", Shape{});
  const std::size_t rank = g.rank(x);
  if (from.size() != to.size()) g.fail("source", "as many dimensions as destination has");
  Shape order(rank, -1);
  std::vector<bool> moved(rank, false);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t a = g.dim(from[i], rank), b = g.dim(to[i], rank);
    if (moved[a] || order[b] >= 0) g.fail("source", "each dimension once");
    order[b] = signed_dim(a);
    moved[a] = true;
  }
  std::size_t next = 0;
  for (std::int64_t& place : order) {
    if (place >= 0) continue;
    while (moved[next]) ++next;
    place = signed_dim(next++);
  }
  return g.permute(x, order);
}

// x.repeat(2, 3) of shape (a, b): (1, a, 1, b) → (2, a, 3, b) → (2a, 3b)
Id repeated(const Given& g, Id x, Shape repeats) {
  Shape extents(repeats.size() - g.rank(x), 1), apart, wide, whole;
  const Shape shape = g.shape(x);
  extents.insert(extents.end(), shape.begin(), shape.end());
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d] < 0) g.refuse("repeats of at least 0", x);
    if (repeats[d] != 1) {
      apart.push_back(1);
      wide.push_back(repeats[d]);
    }
    apart.push_back(extents[d]);
    wide.push_back(extents[d]);
    whole.push_back(repeats[d] * extents[d]);
  }
  if (apart.size() <= max_dimensions) return g.reshape(g.expand(g.reshape(x, apart), wide), whole);
  x = g.reshape(x, extents);
  for (std::size_t d = 0; d < repeats.size(); ++d)
    if (repeats[d] != 1)
      x = g.call("cat", std::vector<Id>(static_cast<std::size_t>(repeats[d]), x), {{"dim", signed_dim(d)}});
  return x;
}

Id repeat(const Given& g) {
  const Id x = g.tensor("input");
  const Shape repeats = g.integers("repeats", Shape{});
  if (repeats.size() < g.rank(x)) g.fail("repeats", "a number for each dimension");
  return repeated(g, x, repeats);
}

Id tile(const Given& g) {
  const Id x = g.tensor("input");
  Shape repeats = g.integers("dims", Shape{});
  if (repeats.size() < g.rank(x)) repeats.insert(repeats.begin(), g.rank(x) - repeats.size(), 1);
  return repeated(g, x, repeats);
}

// Differences of neighbouring elements, taken n times.
Id diff(const Given& g) {
  Id x = g.tensor("input");
  if (g.rank(x) == 0) g.refuse("a tensor of at least one dimension", x);
  const std::size_t dim = g.dim(g.integer("dim", -1), g.rank(x));
  const std::int64_t times = g.integer("n", 1);
  if (times < 0) g.fail("n", "at least 0");
  std::vector<Id> parts = {x};
  if (g.has("prepend")) parts.insert(parts.begin(), g.tensor("prepend"));
  if (g.has("append")) parts.push_back(g.tensor("append"));
  if (parts.size() > 1) x = g.call("cat", parts, {{"dim", signed_dim(dim)}});
  for (std::int64_t i = 0; i < times; ++i) {
    const std::int64_t n = g.shape(x)[dim];
    if (n == 0) return x;
    const Id later = g.slice(x, dim, 1, n), earlier = g.slice(x, dim, 0, n - 1);
    x = g.apply(g.dtype(x) == DType::boolean ? "ne" : "sub", later, earlier);
  }
  return x;
}

}  // namespace

Id diagonal_of(const Given& g, Id x, std::int64_t offset, std::size_t dim1, std::size_t dim2) {
  if (dim1 == dim2) g.refuse("two different dimensions", x);
  Shape order;
  for (std::size_t d = 0; d < g.rank(x); ++d)
    if (d != dim1 && d != dim2) order.push_back(signed_dim(d));
  order.insert(order.end(), {signed_dim(dim1), signed_dim(dim2)});
  const Id moved = g.permute(x, order);
  Shape flat = g.shape(moved);
  const std::int64_t rows = flat.end()[-2], columns = flat.back();
  const std::int64_t count = std::max<std::int64_t>(
      0, std::min(rows + std::min<std::int64_t>(offset, 0), columns - std::max<std::int64_t>(offset, 0)));
  flat.pop_back();
  flat.back() = rows * columns;
  const std::int64_t begin = count == 0 ? 0 : offset < 0 ? -offset * columns : offset;
  const std::int64_t end = count == 0 ? 0 : begin + (count - 1) * (columns + 1) + 1;
  return g.call("slice", {g.reshape(moved, flat)},  // a chain of views, because a diagonal shares memory with x
                {{"dim", signed_dim(flat.size() - 1)}, {"start", begin}, {"end", end}, {"step", columns + 1}});
}

// clang-format off
Composites rearrangements() {
  return composites_of(
      {made<broadcast_tensors>("aten.broadcast_tensors", in_torch, "*tensors"),
       made<channel_shuffle>("aten.channel_shuffle", in_functional | in_torch, "input, groups", "ChannelShuffle"),
       made<diag>("aten.diag", either, "input, diagonal=0"),
       made<diag_embed>("aten.diag_embed", either, "input, offset=0, dim1=-2, dim2=-1"),
       made<diagonal>("aten.diagonal", either, "input, offset=0, dim1=0, dim2=1"),
       made<diff>("aten.diff", either, "input, n=1, dim=-1, prepend=None, append=None"),
       made<along_dimension<flip>>("aten.flip", either, "input, *dims"),
       made<fliplr>("aten.fliplr", either, "input"), made<flipud>("aten.flipud", either, "input"),
       made<meshgrid>("aten.meshgrid", in_torch, "*tensors, indexing=None"),
       {{"moveaxis", either, "input, source, destination", call_made<along_dimension<movedim>>}},
       made<along_dimension<movedim>>("aten.movedim", either, "input, source, destination"),
       made<pixel_shuffle>("aten.pixel_shuffle", in_functional | in_torch, "input, upscale_factor", "PixelShuffle"),
       made<pixel_unshuffle>("aten.pixel_unshuffle", in_functional | in_torch,
         "input, downscale_factor", "PixelUnshuffle"),
       made<repeat>("aten.repeat", as_method, "input, *repeats"),
       made<roll>("aten.roll", either, "input, shifts, dims=None"),
       made<tile>("aten.tile", either, "input, *dims"),
       made<trace>("aten.trace", either, "input")},
      {{"aten.diagonal_copy", read_made<diagonal>}});
}
// clang-format on

}  // namespace deplo::ir::torch
