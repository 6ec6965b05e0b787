// Functions that rearrange, join and split.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {
namespace {

Value transpose(const Call& c) {
  const Id x = c.tensor("input");
  return c.node({x}, {{"dim0", c.integer("dim0")}, {"dim1", c.integer("dim1")}});
}

Value transpose_matrix(const Call& c) {
  const Id x = c.tensor("input");
  if (c.type(x).shape.size() > 2)
    throw Error(fmt::format("t: expected at most two dimensions, found {}", print(c.type(x))));
  if (c.type(x).shape.size() < 2) return {Tensor{x}};
  return c.node({x}, {{"dim0", std::int64_t{0}}, {"dim1", std::int64_t{1}}});
}

Value permute(const Call& c) { return c.node({c.tensor("input")}, {{"dims", c.integers("dims")}}); }
Value reshape(const Call& c) { return c.node({c.tensor("input")}, {{"shape", c.integers("shape")}}); }
Value expand(const Call& c) { return c.node({c.tensor("input")}, {{"shape", c.integers("size")}}); }
Value shape_of_other(const Call& c) {
  const Id x = c.tensor("input");
  return c.node({x}, {{"shape", c.type(c.tensor("other")).shape}});
}

Value flatten(const Call& c) {
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

Value unflatten(const Call& c) {
  const Id x = c.tensor("input");
  Shape shape = c.type(x).shape, sizes = c.integers("sizes");
  const std::size_t dim = c.dim("dim", shape.size());
  std::int64_t rest = shape[dim];  // what the -1 stands for
  for (const std::int64_t size : sizes)
    if (size != -1) rest = size < 1 || rest % size != 0 ? 0 : rest / size;
  const auto unknown = std::ranges::count(sizes, -1);
  if (unknown > 1 || rest == 0 || (unknown == 0 && rest != 1))
    c.fail("sizes", fmt::format("extents whose product is {}, at most one of them -1", shape[dim]));
  std::ranges::replace(sizes, -1, rest);
  const auto at = shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim));
  shape.insert(at, sizes.begin(), sizes.end());
  return c.node({x}, {{"shape", shape}});
}

Value unsqueeze(const Call& c) { return c.node({c.tensor("input")}, {{"dim", c.integer("dim")}}); }

Value squeeze(const Call& c) {
  Attributes attributes;
  if (c.given("dim")) attributes.emplace("dims", c.integers("dim"));
  return c.node({c.tensor("input")}, std::move(attributes));
}

Value join(const Call& c) { return c.node(c.tensors("tensors"), {{"dim", c.integer("dim")}}); }

// Slices of these extents, one after the other.
Value pieces(const Call& c, Id x, std::size_t dim, const Shape& extents) {
  Values out;
  std::int64_t start = 0;
  for (const std::int64_t extent : extents) {
    out.push_back(c.node({x}, {{"dim", static_cast<std::int64_t>(dim)}, {"start", start}, {"end", start + extent}}));
    start += extent;
  }
  return make_list(std::move(out), true);
}

Value pieces_of(const Call& c, Id x, std::size_t dim, std::int64_t extent) {
  const std::int64_t whole = c.type(x).shape[dim], count = (whole - 1) / extent + 1;
  if (count > static_cast<std::int64_t>(most_nodes))
    throw Error(fmt::format("{}: expected at most {} pieces, found {}", c.name, most_nodes, count));
  Shape extents(static_cast<std::size_t>(count), extent);
  extents.back() = whole - extent * (count - 1);
  return pieces(c, x, dim, extents);
}

Value split(const Call& c) {
  const Id x = c.tensor("input");
  const std::size_t dim = c.dim("dim", c.type(x).shape.size());
  if (!c.value("split_size").as<List>()) {
    if (c.integer("split_size") < 1) c.fail("split_size", "at least 1");
    return pieces_of(c, x, dim, c.integer("split_size"));
  }
  const Shape extents = c.integers("split_size");
  std::int64_t left = c.type(x).shape[dim];
  for (const std::int64_t extent : extents) left = extent < 1 || extent > left ? -1 : left - extent;
  if (left != 0) c.fail("split_size", fmt::format("extents whose sum is {}", c.type(x).shape[dim]));
  return pieces(c, x, dim, extents);
}

Value chunk(const Call& c) {
  const Id x = c.tensor("input");
  const std::size_t dim = c.dim("dim", c.type(x).shape.size());
  const std::int64_t chunks = c.integer("chunks");
  if (chunks < 1) c.fail("chunks", "at least 1");
  return pieces_of(c, x, dim, (c.type(x).shape[dim] - 1) / chunks + 1);
}

Value unbind(const Call& c) {
  const Id x = c.tensor("input");
  const std::size_t dim = c.dim("dim", c.type(x).shape.size());
  const std::int64_t count = c.type(x).shape[dim];
  if (count > static_cast<std::int64_t>(most_nodes))
    throw Error(fmt::format("unbind: expected at most {} pieces, found {}", most_nodes, count));
  Values out;
  for (std::int64_t i = 0; i < count; ++i)
    out.push_back(c.node({x}, {{"dim", static_cast<std::int64_t>(dim)}, {"index", i}}));
  return make_list(std::move(out), true);
}

Value narrow(const Call& c) {
  const Id x = c.tensor("input");
  const Shape& shape = c.type(x).shape;
  const std::size_t dim = c.dim("dim", shape.size());
  const std::int64_t start = c.integer("start"), length = c.integer("length");
  if (start < 0 || start >= shape[dim]) c.fail("start", fmt::format("0 to {}", shape[dim] - 1));
  if (length < 1 || length > shape[dim] - start) c.fail("length", fmt::format("1 to {}", shape[dim] - start));
  return c.node({x}, {{"dim", static_cast<std::int64_t>(dim)}, {"start", start}, {"end", start + length}});
}

Value select(const Call& c) {
  return c.node({c.tensor("input")}, {{"dim", c.integer("dim")}, {"index", c.integer("index")}});
}

// (…, n, …) → (…, n, 1, …) → (…, n, repeats, …) → (…, n * repeats, …)
Value repeat_interleave(const Call& c) {
  const Id x = c.tensor("input");
  Shape shape = c.type(x).shape;
  const std::size_t dim = c.dim("dim", shape.size());
  const std::int64_t repeats = c.integer("repeats");
  if (repeats < 1 || repeats > most_elements / shape[dim]) c.fail("repeats", "at least 1 and not too many");
  const Id apart = c.session.call("unsqueeze", {x}, {{"dim", static_cast<std::int64_t>(dim) + 1}});
  Shape wide = shape;
  wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(dim) + 1, repeats);
  shape[dim] *= repeats;
  return c.node({c.session.call("expand", {apart}, {{"shape", wide}})}, {{"shape", shape}});
}

Value triangle(const Call& c) { return c.node({c.tensor("input")}, {{"diagonal", c.integer("diagonal")}}); }

Value size(const Call& c) {
  const Shape& shape = c.type(c.tensor("input")).shape;
  return c.given("dim") ? Value{shape[c.dim("dim", shape.size())]} : make_tuple(shape);
}
Value rank(const Call& c) { return {static_cast<std::int64_t>(c.type(c.tensor("input")).shape.size())}; }
Value count(const Call& c) { return {element_count(c.type(c.tensor("input")).shape)}; }

constexpr unsigned kBoth = kTorch | kMethod;

// clang-format off
constexpr std::array kFunctions = {
    Function{"transpose", kBoth, "input, dim0, dim1", transpose},
    Function{"swapaxes", kBoth, "input, dim0, dim1", transpose, "transpose"},
    Function{"t", kBoth, "input", transpose_matrix, "transpose"},
    Function{"permute", kBoth, "input, *dims", permute},
    Function{"reshape", kBoth, "input, *shape", reshape},
    Function{"view", kMethod, "input, *shape", reshape, "reshape"},
    Function{"view_as", kMethod, "input, other", shape_of_other, "reshape"},
    Function{"reshape_as", kMethod, "input, other", shape_of_other, "reshape"},
    Function{"flatten", kBoth, "input, start_dim=0, end_dim=-1", flatten, "reshape"},
    Function{"unflatten", kBoth, "input, dim, sizes", unflatten, "reshape"},
    Function{"unsqueeze", kBoth, "input, dim", unsqueeze},
    Function{"squeeze", kBoth, "input, dim=None", squeeze},
    Function{"expand", kMethod, "input, *size", expand},
    Function{"expand_as", kMethod, "input, other", shape_of_other, "expand"},
    Function{"broadcast_to", kBoth, "input, size", expand, "expand"},
    Function{"cat", kTorch, "tensors, dim=0", join},
    Function{"concat", kTorch, "tensors, dim=0", join, "cat"},
    Function{"stack", kTorch, "tensors, dim=0", join},
    Function{"split", kBoth, "input, split_size, dim=0", split, "slice"},
    Function{"chunk", kBoth, "input, chunks, dim=0", chunk, "slice"},
    Function{"unbind", kBoth, "input, dim=0", unbind, "select"},
    Function{"narrow", kBoth, "input, dim, start, length", narrow, "slice"},
    Function{"select", kBoth, "input, dim, index", select},
    Function{"repeat_interleave", kBoth, "input, repeats, dim", repeat_interleave, "reshape"},
    Function{"triu", kBoth, "input, diagonal=0", triangle},
    Function{"tril", kBoth, "input, diagonal=0", triangle},
    Function{"size", kMethod, "input, dim=None", size},
    Function{"dim", kMethod, "input", rank},
    Function{"numel", kBoth, "input", count},
};
// clang-format on

}  // namespace

std::span<const Function> shape_functions() { return kFunctions; }

}  // namespace deplo::ir::torch::python
