// Padding beyond the borders, and windows around each place.
//   pad(T, pad (pairs of before and after, the last dimension first), mode="constant", value=0)
//   windows(T, kernel, stride, dilation): (…, L…) → (…, number of windows…, elements of a window)
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/torch/operations/given.h"
#include "ir/torch/operations/windows/window.h"

namespace deplo::ir::torch {
namespace {

using tensor::coordinate;
using tensor::identity;

// pad

constexpr AttributeSpec pad_attributes[] = {{"pad", Kind::integers, Required{}},
                                            {"mode", Kind::text, std::string_view("constant")},
                                            {"value", Kind::number, 0.0}};

// The numbers of elements that are added before and after those of a dimension. A negative number removes elements.
struct Margin {
  std::int64_t before = 0, behind = 0;
};

Margin margin(const Node& node, std::size_t rank, std::size_t dim) {
  const Shape& pad = node.integers("pad");
  const std::size_t from_end = rank - 1 - dim;
  return 2 * from_end < pad.size() ? Margin{pad[2 * from_end], pad[2 * from_end + 1]} : Margin{};
}

void check_margin(const Inference& call, std::size_t dim, const Margin& m) {
  const std::string& mode = call.node().text("mode");
  const std::int64_t extent = call.shape(0)[dim], max_margin = std::max(m.before, m.behind);
  for (const std::int64_t pad : {m.before, m.behind})
    if (pad < -max_elements || pad > max_elements) call.expected("padding from -2^40 to 2^40", std::to_string(pad));
  if (mode == "reflect" && max_margin >= extent && max_margin > 0)
    call.expected(fmt::format("padding below the extent {} of dimension {} to reflect", extent, dim),
                  std::to_string(max_margin));
  if (mode == "circular" && max_margin > extent)
    call.expected(fmt::format("padding of at most the extent {} of dimension {}", extent, dim),
                  std::to_string(max_margin));
  if (mode == "replicate" && extent == 0 && max_margin > 0) call.expected("elements to repeat", print(call.shape(0)));
  if (mode != "constant" && std::min(m.before, m.behind) < 0) call.expected("padding of at least 0", mode);
  if (extent + m.before + m.behind < 0)
    call.expected(fmt::format("padding that does not make dimension {} negative", dim), print(call.shape(0)));
}

TensorType infer_pad(const Inference& call) {
  const std::string& mode = call.node().text("mode");
  if (mode != "constant" && mode != "reflect" && mode != "replicate" && mode != "circular")
    call.expected("mode 'constant', 'reflect', 'replicate' or 'circular'", "'" + mode + "'");
  const Shape& pad = call.node().integers("pad");
  if (pad.size() % 2 != 0 || pad.size() > 2 * call.shape(0).size())
    call.expected("a pair of numbers for each padded dimension", print_list(pad));
  TensorType type = call.type(0);
  for (std::size_t d = 0; d < type.shape.size(); ++d) {
    const Margin m = margin(call.node(), type.shape.size(), d);
    check_margin(call, d, m);
    type.shape[d] += m.before + m.behind;
  }
  return type;
}

// Returns the place in the argument that a place of the result reads, or -1 if it is outside of the argument.
std::int64_t source(std::int64_t place, const Margin& m, std::int64_t extent, std::string_view mode) {
  std::int64_t from = place - m.before;
  if (mode == "constant") return from >= 0 && from < extent ? from : -1;
  if (mode == "replicate") return std::clamp<std::int64_t>(from, 0, extent - 1);
  if (mode == "circular") return (from + extent) % extent;
  from = std::abs(from);
  return std::min(from, 2 * (extent - 1) - from);
}

Values evaluate_pad(const Operands& o) {
  const Shape& shape = o.shape(0);
  const Shape strides = row_major_strides(shape);
  const std::string& mode = o.node.text("mode");
  Values result;
  result.reserve(o.result_count());
  for_each_index(o.result(), std::array{row_major_strides(o.result())}, [&](std::size_t flat) {
    std::int64_t from = 0, rest = static_cast<std::int64_t>(flat);
    for (std::size_t d = shape.size(); d-- > 0;) {
      const std::int64_t at = source(rest % o.result()[d], margin(o.node, shape.size(), d), shape[d], mode);
      from = at < 0 || from < 0 ? -1 : from + at * strides[d];
      rest /= o.result()[d];
    }
    result.push_back(from < 0 ? o.node.number("value") : o.value(0)[static_cast<std::size_t>(from)]);
  });
  return result;
}

Expr source(const Expr& place, const Margin& m, std::int64_t extent, std::string_view mode) {
  const Expr from = place - m.before;
  if (mode == "circular") return (from + extent) % extent;
  if (mode == "reflect") {
    const Expr right = Expr(ExprOp::max, from, 0 - from);
    // The clamp makes it provable that the index is in range.
    return Expr(ExprOp::max, min(min(right, 2 * (extent - 1) - right), extent - 1), 0);
  }
  return Expr(ExprOp::max, min(from, extent - 1), 0);
}

int decompose_pad(Emitter& e, const TensorCall& call) {
  const Shape& shape = call.shape();
  const Ranges ranges = tensor::coordinate_ranges(shape);
  const std::string& mode = call.node.text("mode");
  Coordinates coordinates;
  Expr inside = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const Margin m = margin(call.node, shape.size(), d);
    const std::int64_t extent = e.extent(call.args[0], static_cast<std::int64_t>(d));
    const Expr place = shape[d] == 1 ? Expr(0) : coordinate(d);
    coordinates.push_back(simplify(source(place, m, extent, mode), ranges));
    if (mode == "constant") inside = both(inside, within(place - m.before, extent));
  }
  const int x = call.args[0];
  return guarded(e, x, shape, std::move(coordinates), inside, call.node.number("value"), "pad");
}

Id pad(const Given& g) {
  const Id x = g.tensor("input");
  Attributes attributes = {{"pad", g.integers("pad", Shape{})}, {"mode", g.text("mode", "constant")}};
  if (g.has("value")) attributes.emplace("value", g.number("value", 0));
  return g.call("pad", {x}, std::move(attributes));
}

template <auto& mode>
std::vector<Id> read_padding(pt2::Call& call) {
  const Id x = call.tensor("self");
  return call.node({x}, {{"pad", call.integers("padding")}, {"mode", std::string(mode)}});
}

constexpr char reflect[] = "reflect", replicate[] = "replicate";

// windows

constexpr AttributeSpec windows_attributes[] = {{"kernel", Kind::integers, Required{}},
                                                {"stride", Kind::integers, Required{}},
                                                {"dilation", Kind::integers, Required{}}};

TensorType infer_windows(const Inference& call) {
  const Node& node = call.node();
  const Shape &kernel = node.integers("kernel"), &stride = node.integers("stride"),
              &dilation = node.integers("dilation");
  TensorType type = call.type(0);
  if (kernel.empty() || kernel.size() > type.shape.size() || stride.size() != kernel.size() ||
      dilation.size() != kernel.size())
    call.expected("a kernel, a stride and a dilation for each of the last dimensions");
  const std::size_t first = type.shape.size() - kernel.size();
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    if (std::min({kernel[d], stride[d], dilation[d]}) < 1 || std::max({kernel[d], dilation[d]}) > max_elements)
      call.expected("a kernel, stride and dilation of at least 1", print_list(kernel));
    const std::int64_t extent = type.shape[first + d];
    if (kernel[d] > extent || (extent - 1) / dilation[d] < kernel[d] - 1)
      call.expected(fmt::format("a window of at most {} elements in dimension {}", extent, first + d),
                    fmt::format("{} with dilation {}", kernel[d], dilation[d]));
    type.shape[first + d] = (extent - dilation[d] * (kernel[d] - 1) - 1) / stride[d] + 1;
    elements *= kernel[d];
  }
  type.shape.push_back(elements);
  return type;
}

Values evaluate_windows(const Operands& o) {
  const Shape &kernel = o.node.integers("kernel"), &stride = o.node.integers("stride"),
              &dilation = o.node.integers("dilation");
  Shape places = o.result();
  places.pop_back();
  const std::size_t first = places.size() - kernel.size();
  Shape moves = row_major_strides(o.shape(0)), within(moves.begin() + static_cast<std::ptrdiff_t>(first), moves.end());
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    moves[first + d] *= stride[d];
    within[d] *= dilation[d];
  }
  Values result;
  result.reserve(o.result_count());
  for_each_index(places, std::array{moves}, [&](std::size_t begin) {
    for_each_index(kernel, std::array{within}, [&](std::size_t at) { result.push_back(o.value(0)[begin + at]); });
  });
  return result;
}

int decompose_windows(Emitter& e, const TensorCall& call) {
  const Shape &kernel = call.node.integers("kernel"), &stride = call.node.integers("stride"),
              &dilation = call.node.integers("dilation");
  Coordinates coordinates = identity(call.shape());
  const Coordinates element = unflattened(coordinates.back(), kernel);
  coordinates.pop_back();
  const std::size_t first = coordinates.size() - kernel.size();
  for (std::size_t d = 0; d < kernel.size(); ++d)
    coordinates[first + d] = simplify(coordinates[first + d] * stride[d] + element[d] * dilation[d],
                                      tensor::coordinate_ranges(call.shape()));
  return e.map(call.args[0], call.shape(), std::move(coordinates), "windows");
}

// x.unfold(dim, size, step): the windows of one dimension become a new last dimension.
Id unfold_dimension(const Given& g) {
  const Id x = g.tensor("input");
  if (g.rank(x) == 0) g.refuse("a tensor of at least one dimension", x);
  const std::size_t dim = g.dim(g.integer("dimension", 0), g.rank(x)), last = g.rank(x) - 1;
  Shape back;
  const Id windows = g.call(
      "windows", {moved_last(g, x, dim)},
      {{"kernel", Shape{g.integer("size", 1)}}, {"stride", Shape{g.integer("step", 1)}}, {"dilation", Shape{1}}});
  for (std::size_t d = 0; d <= last; ++d)
    back.push_back(static_cast<std::int64_t>(d < dim ? d : d == dim ? last : d - 1));
  back.push_back(static_cast<std::int64_t>(last) + 1);
  return g.permute(windows, back);
}

// (N, C, H, W) → (N, C * elements of a window, number of windows)
Id unfold(const Given& g) {
  Id x = g.tensor("input");
  const bool batched = g.rank(x) == 4;
  if (!batched && g.rank(x) != 3) g.refuse("an input (N, C, H, W) or (C, H, W)", x);
  const Shape kernel = g.integers("kernel_size", 2, 1), padding = g.integers("padding", 2, 0);
  if (!batched) x = g.unsqueeze(x, 0);
  const Id padded =
      padding == Shape{0, 0} ? x : g.call("pad", {x}, {{"pad", Shape{padding[1], padding[1], padding[0], padding[0]}}});
  const Id windows =
      g.call("windows", {padded},
             {{"kernel", kernel}, {"stride", g.integers("stride", 2, 1)}, {"dilation", g.integers("dilation", 2, 1)}});
  const Shape shape = g.shape(windows);
  const Id moved = g.permute(windows, {0, 1, 4, 2, 3});
  Shape flat = {shape[0], shape[1] * shape[4], shape[2] * shape[3]};
  if (!batched) flat.erase(flat.begin());
  return g.reshape(moved, flat);
}

}  // namespace

Coordinates unflattened(const Expr& flat, const Shape& shape) {
  Coordinates result;
  std::int64_t stride = element_count(shape);
  bool outermost = true;
  for (const std::int64_t extent : shape) {
    stride /= extent;
    const Expr whole = stride == 1 ? flat : flat / stride;
    result.push_back(extent == 1 ? Expr(0) : outermost ? whole : whole % extent);
    outermost &= extent == 1;
  }
  return result;
}

Expr both(const Expr& a, const Expr& b) {
  if (a.is_constant(1)) return b;
  return b.is_constant(1) ? a : Expr(ExprOp::land, a, b);
}

Expr within(const Expr& place, std::int64_t extent) { return both(less(-1, place), less(place, extent)); }

int guarded(Emitter& e, int x, const Shape& shape, Coordinates coordinates, const Expr& inside, double otherwise,
            std::string_view suffix) {
  const Expr condition = simplify(inside, tensor::coordinate_ranges(shape));
  if (condition.is_constant(1)) return e.map(x, shape, std::move(coordinates), suffix);
  tensor::IndexMap map;
  map.branches.push_back({0, std::move(coordinates), condition});
  map.branches.push_back({1, {}, 1});
  const int filler = e.fill(e.scalar(otherwise, e.dtype(x), "outside"), {}, "filler");
  return e.branches({x, filler}, {e.dtype(x), shape}, std::move(map), suffix);
}

// clang-format off
std::vector<Operation> window_operations() {
  return {
      {"pad", 1, 1, pad_attributes, infer_pad, evaluate_pad, decompose_pad,
       {{"pad", in_functional, "input, pad, mode='constant', value=None", call_made<pad>}},
       {{"aten.pad", read_made<pad>}, {"aten.constant_pad_nd", read_made<pad>},
        {"aten.reflection_pad1d", read_padding<reflect>}, {"aten.reflection_pad2d", read_padding<reflect>},
        {"aten.reflection_pad3d", read_padding<reflect>}, {"aten.replication_pad1d", read_padding<replicate>},
        {"aten.replication_pad2d", read_padding<replicate>}, {"aten.replication_pad3d", read_padding<replicate>}}},
      {"windows", 1, 1, windows_attributes, infer_windows, evaluate_windows, decompose_windows,
       {{"unfold", as_method, "input, dimension, size, step", call_made<unfold_dimension>},
        {"unfold", in_functional, "input, kernel_size, dilation=1, padding=0, stride=1", call_made<unfold>, "Unfold"}},
       {{"aten.unfold", read_made<unfold_dimension>}, {"aten.im2col", read_made<unfold>}}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
