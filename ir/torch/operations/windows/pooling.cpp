// Pooling reduces the windows of a padded tensor. Adaptive pooling has windows of different lengths, and pools one
// dimension after the other.
#include <fmt/format.h>

#include <algorithm>

#include "ir/torch/operations/given.h"
#include "ir/torch/operations/windows/window.h"

namespace deplo::ir::torch {
namespace {

// Returns the number of pooled dimensions, which is a digit of the name: "max_pool2d" pools two.
std::size_t dims_of(const Given& g) { return static_cast<std::size_t>(g.name()[g.name().find_first_of("123")] - '0'); }

/// The windows of a pooling along each of the last `dims` dimensions.
struct Pool {
  Id x = 0;
  std::size_t dims = 0;
  Shape kernel = {}, stride = {}, padding = {}, dilation = {}, places = {};

  std::size_t first(const Given& g) const { return g.rank(x) - dims; }
  std::int64_t count() const { return element_count(kernel); }
};

/// If a dimension has only one window, clips the window at the end of the padded dimension.
void clip_window(const Given& g, Pool& p, std::size_t d) {
  const std::int64_t extent = g.shape(p.x)[p.first(g) + d];
  const std::int64_t within = (extent + 2 * p.padding[d] - 1) / p.dilation[d] + 1;
  if (p.places[d] == 1) p.kernel[d] = std::min(p.kernel[d], std::max<std::int64_t>(within, 1));
}

/// Returns the number of windows. With `ceil`, a window may end beyond the border, unless it begins there.
std::int64_t window_count(const Given& g, const Pool& p, std::size_t d, bool ceil) {
  const std::int64_t extent = g.shape(p.x)[p.first(g) + d], padding = p.padding[d], stride = p.stride[d];
  const std::int64_t rest = extent + 2 * padding - p.dilation[d] * (p.kernel[d] - 1) - 1;
  const std::int64_t beyond = ceil ? stride - 1 : 0;  // how far beyond the border a window may end
  if (rest + beyond < 0)
    g.refuse(fmt::format("at least one window of {} elements in each dimension", p.kernel[d]), p.x);
  std::int64_t count = (rest + beyond) / stride + 1;
  if (ceil && (count - 1) * stride >= extent + padding) --count;
  return count;
}

void check_input(const Given& g, Id x, std::size_t dims) {
  g.require_float(x);
  if (g.rank(x) != dims + 1 && g.rank(x) != dims + 2)
    g.refuse(fmt::format("an input of {} or {} dimensions", dims + 1, dims + 2), x);
}

Pool pool_of(const Given& g) {
  Pool p = {.x = g.tensor("input"), .dims = dims_of(g)};
  check_input(g, p.x, p.dims);
  p.kernel = g.integers("kernel_size", p.dims, 0);
  const bool strided = g.has("stride") && !g.integers("stride", Shape{}).empty();
  p.stride = strided ? g.integers("stride", p.dims, 1) : p.kernel;
  p.padding = g.integers("padding", p.dims, 0);
  p.dilation = g.integers("dilation", p.dims, 1);
  const bool ceil = g.flag("ceil_mode", false);
  for (std::size_t d = 0; d < p.dims; ++d) {
    if (std::min({p.kernel[d], p.stride[d], p.dilation[d]}) < 1) g.fail("kernel_size", "sizes of at least 1");
    if (p.padding[d] < 0 || p.padding[d] > p.kernel[d] / 2)
      g.fail("padding", fmt::format("at least 0 and at most half of the kernel {}", p.kernel[d]));
    p.places.push_back(window_count(g, p, d, ceil));
    clip_window(g, p, d);
  }
  return p;
}

/// Returns the padding with which the last window fits.
Shape margins(const Given& g, const Pool& p) {
  Shape pad;
  for (std::size_t d = p.dims; d-- > 0;) {
    const std::int64_t reach = (p.places[d] - 1) * p.stride[d] + p.dilation[d] * (p.kernel[d] - 1) + 1;
    pad.insert(pad.end(), {p.padding[d], reach - p.padding[d] - g.shape(p.x)[p.first(g) + d]});
  }
  return pad;
}

/// Returns the windows of x as (…, places…, elements of a window). The padding around x has the value `outside`.
Id windows(const Given& g, Id x, const Pool& p, const Shape& pad, double outside) {
  const bool pads = std::ranges::any_of(pad, [](std::int64_t n) { return n != 0; });
  const Id padded = pads ? g.call("pad", {x}, {{"pad", pad}, {"value", outside}}) : x;
  return g.call("windows", {padded}, {{"kernel", p.kernel}, {"stride", p.stride}, {"dilation", p.dilation}});
}

Id over_windows(const Given& g, std::string_view op, Id windows) {
  return g.call(op, {windows}, {{"dims", Shape{-1}}});
}

/// Whether to pool in two kernels (see `pooled`). This pays if the tensor is large and neighbouring windows of a line
/// are too far apart to be the lanes of a vector. A CPU still reads lanes that are 2 apart as vectors. With windows 4
/// apart, one kernel took 0.8 of the time of two; with windows 3, 5, 8 and 11 apart, it took 1.1 to 2.7 times as long
/// (docs/performance.md, "Depthwise convolutions").
bool is_pooled_by_lines(const Given& g, const Pool& p) {
  constexpr std::int64_t elements = 1 << 16;
  const bool apart = p.stride.back() > 2 && p.stride.back() != 4;
  return p.dims > 1 && apart && p.kernel.back() > 1 && p.count() > p.kernel.back() &&
         element_count(g.shape(p.x)) >= elements;
}

/// Reduces the windows of x. In two kernels, they are first reduced over all dimensions but the last, in which
/// neighbouring results lie next to each other, and then along the last dimension.
Id pooled(const Given& g, std::string_view op, Id x, const Pool& p, const Shape& pad, double outside) {
  if (!is_pooled_by_lines(g, p)) return over_windows(g, op, windows(g, x, p, pad, outside));
  Pool lines = p, along = p;
  Shape of_lines = pad, of_along(pad.size(), 0);
  for (std::size_t d = 0; d + 1 < p.dims; ++d) along.kernel[d] = along.stride[d] = along.dilation[d] = 1;
  lines.kernel.back() = lines.stride.back() = lines.dilation.back() = 1;
  // `pad` begins with the last dimension.
  std::swap_ranges(of_lines.begin(), of_lines.begin() + 2, of_along.begin());
  const Id reduced = over_windows(g, op, windows(g, x, lines, of_lines, outside));
  return over_windows(g, op, windows(g, reduced, along, of_along, outside));
}

/// Returns, for each window, the row-major index in x (without its padding) of the window's element number `element`.
Id numbers_of(const Given& g, const Pool& p, Id element) {
  const Shape shape = g.shape(element);
  Id flat = -1;
  std::int64_t inner = p.count();
  for (std::size_t d = 0; d < p.dims; ++d) {
    inner /= p.kernel[d];
    Id within = inner == 1 ? element : g.call("floor_divide", {element}, {{"divisor", inner}});
    if (d > 0) within = g.call("remainder", {within}, {{"divisor", p.kernel[d]}});
    if (p.dilation[d] != 1) within = g.call("mul", {within, g.whole(p.dilation[d])});
    const Id begins = g.range(-p.padding[d], p.places[d] * p.stride[d] - p.padding[d], p.stride[d]);
    const Id place = g.apply("add", within, g.along(begins, p.first(g) + d, shape.size()));
    const std::int64_t extent = g.shape(p.x)[p.first(g) + d];
    const Id before = flat < 0 ? flat : g.call("mul", {flat, g.whole(extent)});
    flat = before < 0 ? place : g.apply("add", before, place);
  }
  return flat;
}

/// Returns the element of each window that is the maximum: the last NaN, or else the first element that equals the
/// maximum and is not padding.
Id chosen_elements(const Given& g, const Pool& p, Id elements, Id maxima) {
  const std::int64_t count = g.shape(elements).back();
  const Id place = g.range(0, count);
  Id hit = g.apply("eq", elements, g.unsqueeze(maxima, -1));
  if (std::ranges::any_of(margins(g, p), [](std::int64_t n) { return n > 0; })) {
    Pool ones = p;
    ones.x = g.full(g.shape(p.x), 1.0, DType::f32);
    hit = g.apply("logical_and", hit, g.apply("ne", windows(g, ones.x, ones, margins(g, p), 0), 0.0));
  }
  const Id first = over_windows(g, "amin", g.call("where", {hit, place, g.whole(count - 1)}));
  if (!is_float(g.dtype(elements))) return first;
  const Id is_nan = g.apply("ne", elements, elements);
  const Id last = over_windows(g, "amax", g.call("where", {is_nan, place, g.whole(-1)}));
  return g.call("where", {g.call("lt", {last, g.whole(0)}), first, last});
}

std::vector<Id> max_and_indices(const Given& g) {
  const Pool p = pool_of(g);
  const Id elements = windows(g, p.x, p, margins(g, p), -infinity), maxima = over_windows(g, "amax", elements);
  return {maxima, numbers_of(g, p, chosen_elements(g, p, elements, maxima))};
}

Id max_pool(const Given& g) {
  const Pool p = pool_of(g);
  return pooled(g, "amax", p.x, p, margins(g, p), -infinity);
}

python::Value call_max_pool(const python::Call& call) {
  const Given g(call);
  return g.truth("return_indices", false) ? results_of(max_and_indices(g)) : results_of(max_pool(g));
}

std::vector<Id> read_max_pool_with_indices(pt2::Call& call) {
  return call.is_read(1) ? max_and_indices(Given(call)) : std::vector<Id>{max_pool(Given(call))};
}

/// Returns the number of elements of each window that count: those of x and, with `with_padding`, those of the padding
/// on both sides.
Id counts(const Given& g, const Pool& p, bool with_padding) {
  Shape extents(g.rank(p.x), 1);
  Pool ones = p;
  Shape pad = margins(g, p);
  for (std::size_t d = 0; d < p.dims; ++d) {
    std::int64_t& extent = extents[p.first(g) + d];
    extent = g.shape(p.x)[p.first(g) + d];
    if (!with_padding) continue;
    extent += 2 * p.padding[d];
    pad[2 * (p.dims - 1 - d)] -= p.padding[d];
    pad[2 * (p.dims - 1 - d) + 1] -= p.padding[d];
  }
  ones.x = g.full(extents, 1.0, g.dtype(p.x));
  return over_windows(g, "sum", windows(g, ones.x, ones, pad, 0));
}

Id avg_pool(const Given& g) {
  const Pool p = pool_of(g);
  const Shape pad = margins(g, p);
  const Id sum = pooled(g, "sum", p.x, p, pad, 0);
  const bool with_padding = g.flag("count_include_pad", true);
  if (g.has("divisor_override")) {
    if (g.integer("divisor_override", 1) == 0) g.fail("divisor_override", "a number other than 0");
    return g.apply("div", sum, static_cast<double>(g.integer("divisor_override", 1)));
  }
  bool whole = true;  // whether all elements of every window count
  for (std::size_t d = 0; d < p.dims; ++d) {
    const std::int64_t before = pad[2 * (p.dims - 1 - d)], behind = pad[2 * (p.dims - 1 - d) + 1];
    whole &= with_padding ? behind <= p.padding[d] : before == 0 && behind <= 0;
  }
  return whole ? g.apply("div", sum, static_cast<double>(p.count())) : g.apply("div", sum, counts(g, p, with_padding));
}

/// (sum of x^p)^(1/p). As in PyTorch, the root of a negative sum is NaN.
Id lp_pool(const Given& g) {
  const Pool p = pool_of(g);
  const double power = g.number("norm_type", 2);
  const Id raised = g.apply("pow", p.x, power);
  const Id sum = pooled(g, "sum", raised, p, Shape(2 * p.dims, 0), 0);
  return g.apply("pow", sum, 1 / power);
}

// Adaptive pooling: window i of n goes from floor(i * extent / n) to ceil((i + 1) * extent / n).

Shape wanted_places(const Given& g, Id x, std::size_t dims) {
  check_input(g, x, dims);
  const Shape shape = g.shape(x), extents(shape.end() - static_cast<std::ptrdiff_t>(dims), shape.end());
  const Shape places = g.integers_or("output_size", extents);
  for (const std::int64_t n : places)
    if (n < 0) g.fail("output_size", "sizes of at least 0");
  return places;
}

/// The windows of one dimension, which becomes two dimensions. Short windows are filled up with `outside`.
struct Adaptive {
  Id windows, lengths;
};

Adaptive adaptive_windows(const Given& g, Id x, std::size_t dim, std::int64_t places, double outside) {
  const std::int64_t extent = g.shape(x)[dim];
  std::int64_t longest = 0;
  const auto begin = [&](std::int64_t i) { return i * extent / places; };
  const auto end = [&](std::int64_t i) { return ((i + 1) * extent + places - 1) / places; };
  for (std::int64_t i = 0; i < places; ++i) longest = std::max(longest, end(i) - begin(i));
  const Id begins = g.call("floor_divide", {g.range(0, places * extent, extent)}, {{"divisor", places}});
  const std::int64_t first_end = extent + places - 1;
  const Id ends =
      g.call("floor_divide", {g.range(first_end, first_end + places * extent, extent)}, {{"divisor", places}});
  const Id lengths = g.apply("sub", ends, begins);
  const Id element = g.range(0, longest);
  const Id at = g.apply("add", g.reshape(begins, {places, 1}), element);
  const Id flat = g.reshape(g.call("minimum", {at, g.whole(extent - 1)}), {places * longest});
  const Id picked = g.call("index_select", {x, flat}, {{"dim", static_cast<std::int64_t>(dim)}});
  Shape shape = g.shape(x), along(shape.size() + 1, 1);
  shape[dim] = places;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dim) + 1, longest);
  along[dim] = places;
  along[dim + 1] = longest;
  const Id counts = g.apply("lt", element, g.reshape(lengths, {places, 1}));
  const Id windows = g.reshape(picked, shape);
  return {g.call("where", {g.reshape(counts, along), windows, g.scalar(outside)}), lengths};
}

}  // namespace

Id adaptive_pool(const Given& g, Id x, const Shape& places, bool mean) {
  const std::size_t dims = places.size(), first = g.rank(x) - std::min(dims, g.rank(x));
  if (std::ranges::count(places, 0) > 0) {  // the result has no elements
    Shape shape = g.shape(x);
    std::ranges::copy(places, shape.begin() + static_cast<std::ptrdiff_t>(first));
    return g.full(shape, 0.0, g.dtype(x));
  }
  for (std::size_t d = 0; d < dims; ++d) {
    const std::size_t dim = first + d;
    const std::int64_t extent = g.shape(x)[dim];
    if (extent == 0) g.refuse("elements to pool", x);
    if (extent == places[d]) continue;
    Shape split = g.shape(x);
    split[dim] = places[d];
    split.insert(split.begin() + static_cast<std::ptrdiff_t>(dim) + 1, extent / places[d]);
    const Attributes along = {{"dims", Shape{static_cast<std::int64_t>(dim) + 1}}};
    if (extent % places[d] == 0) {
      x = g.call(mean ? "mean" : "amax", {g.reshape(x, split)}, along);
      continue;
    }
    const Adaptive a = adaptive_windows(g, x, dim, places[d], mean ? 0 : -infinity);
    x = g.call(mean ? "sum" : "amax", {a.windows}, along);
    if (mean) x = g.apply("div", x, g.to(g.along(a.lengths, dim, g.rank(x)), g.dtype(x)));
  }
  return x;
}

namespace {

Id adaptive(const Given& g, bool mean) {
  const Id x = g.tensor("input");
  return adaptive_pool(g, x, wanted_places(g, x, dims_of(g)), mean);
}

Id adaptive_avg_pool(const Given& g) { return adaptive(g, true); }

Id adaptive_max_pool(const Given& g) {
  if (g.truth("return_indices", false)) g.fail("return_indices", "False (no other value is supported)");
  return adaptive(g, false);
}

constexpr std::string_view maximum =
    "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False";
constexpr std::string_view max_module =
    "kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False";
constexpr std::string_view average =
    "input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None";
constexpr std::string_view average_1d =
    "input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True";
constexpr std::string_view power = "input, norm_type, kernel_size, stride=None, ceil_mode=False";
constexpr std::string_view adaptive_average = "input, output_size";
constexpr std::string_view adaptive_maximum = "input, output_size, return_indices=False";

}  // namespace

// clang-format off
Composites poolings() {
  constexpr unsigned both = in_functional | in_torch;
  return composites_of(
      {made<adaptive_avg_pool>("aten.adaptive_avg_pool1d", both, adaptive_average, "AdaptiveAvgPool1d"),
       made<adaptive_avg_pool>("aten.adaptive_avg_pool2d", in_functional, adaptive_average, "AdaptiveAvgPool2d"),
       made<adaptive_avg_pool>("aten.adaptive_avg_pool3d", in_functional, adaptive_average, "AdaptiveAvgPool3d"),
       made<adaptive_max_pool>("aten.adaptive_max_pool1d", in_functional, adaptive_maximum, "AdaptiveMaxPool1d"),
       made<adaptive_max_pool>("aten.adaptive_max_pool2d", in_functional, adaptive_maximum, "AdaptiveMaxPool2d"),
       made<adaptive_max_pool>("aten.adaptive_max_pool3d", in_functional, adaptive_maximum, "AdaptiveMaxPool3d"),
       made<avg_pool>("aten.avg_pool1d", both, average_1d, "AvgPool1d"),
       made<avg_pool>("aten.avg_pool2d", in_functional, average, "AvgPool2d"),
       made<avg_pool>("aten.avg_pool3d", in_functional, average, "AvgPool3d"),
       {{"lp_pool1d", in_functional, power, call_made<lp_pool>, "LPPool1d"}},
       {{"lp_pool2d", in_functional, power, call_made<lp_pool>, "LPPool2d"}},
       {{"lp_pool3d", in_functional, power, call_made<lp_pool>, "LPPool3d"}},
       {{"max_pool1d", both, maximum, call_max_pool}}, {{"max_pool2d", both, maximum, call_max_pool}},
       {{"max_pool3d", both, maximum, call_max_pool}},
       {{"MaxPool1d", stateless_module, max_module, nullptr, {}, "max_pool1d"}},
       {{"MaxPool2d", stateless_module, max_module, nullptr, {}, "max_pool2d"}},
       {{"MaxPool3d", stateless_module, max_module, nullptr, {}, "max_pool3d"}}},
      {{"aten._adaptive_avg_pool2d", read_made<adaptive_avg_pool>},
       {"aten._adaptive_avg_pool3d", read_made<adaptive_avg_pool>}, {"aten.max_pool1d", read_made<max_pool>},
       {"aten.max_pool2d", read_made<max_pool>}, {"aten.max_pool3d", read_made<max_pool>},
       {"aten.max_pool1d_with_indices", read_max_pool_with_indices},
       {"aten.max_pool2d_with_indices", read_max_pool_with_indices},
       {"aten.max_pool3d_with_indices", read_max_pool_with_indices}});
}
// clang-format on

}  // namespace deplo::ir::torch
