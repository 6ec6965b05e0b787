// interpolate: nearest, linear and cubic, one dimension after the other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/torch/operations/given.h"
#include "ir/torch/operations/windows/window.h"

namespace deplo::ir::torch {
namespace {

/// How one dimension is resized. `scale`: the distance in the argument between neighbouring results. With aligned
/// corners, this is (extent - 1) / (places - 1).
struct Step {
  std::size_t dim;
  std::int64_t extent, places;
  double scale;
  bool corners;
};

// PyTorch multiplies in float32. If integer arithmetic gives the same places, the kernel computes them; otherwise they
// are a constant.
Id nearest(const Given& g, Id x, const Step& s, bool exact) {
  const auto scale = static_cast<float>(s.scale);
  const auto place = [&](std::int64_t i) {
    const float at = exact ? (static_cast<float>(i) + 0.5F) * scale : static_cast<float>(i) * scale;
    return std::min(static_cast<std::int64_t>(std::floor(at)), s.extent - 1);
  };
  const std::int64_t twice = exact ? 1 : 0;
  bool whole = true;
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < s.places; ++i) {
    all.push_back(place(i));
    whole &= all.back() == (2 * i + twice) * s.extent / (2 * s.places);
  }
  if (!whole) return g.select(x, s.dim, list_of(g, all));
  const Id doubled = g.range(twice * s.extent, (2 * s.places + twice) * s.extent, 2 * s.extent);
  return g.select(x, s.dim, g.call("floor_divide", {doubled}, {{"divisor", 2 * s.places}}));
}

/// Returns the places of the results in the argument. Negative places become 0 unless `below_zero` is set.
Id places(const Given& g, const Step& s, bool below_zero) {
  const Id number = g.to(g.range(0, s.places), DType::f32);
  if (s.corners) return g.apply("mul", number, s.scale);
  const Id at = g.apply("sub", g.apply("mul", g.apply("add", number, 0.5), s.scale), 0.5);
  return below_zero ? at : g.apply("maximum", at, 0.0);
}

Id clamped(const Given& g, Id index, std::int64_t extent) {
  return g.call("minimum", {g.call("maximum", {index, g.whole(0)}), g.whole(extent - 1)});
}

Id linear(const Given& g, Id x, const Step& s) {
  const Id at = places(g, s, false);
  const Id low = clamped(g, g.to(at, DType::i32), s.extent);
  const Id high = clamped(g, g.call("add", {low, g.whole(1)}), s.extent);
  const Id fraction = g.apply("sub", at, g.to(low, DType::f32));
  const Id weight = g.to(g.along(fraction, s.dim, g.rank(x)), g.dtype(x));
  const Id first = g.apply("mul", g.select(x, s.dim, low), g.apply("sub", 1.0, weight));
  return g.apply("add", first, g.apply("mul", g.select(x, s.dim, high), weight));
}

Id cubic(const Given& g, Id x, const Step& s) {
  const Id at = places(g, s, true);
  // Adding 1 before the conversion makes it round down, because the places begin above -1.
  const Id low = g.call("sub", {g.to(g.apply("add", at, 1.0), DType::i32), g.whole(1)});
  const Id t = g.apply("sub", at, g.to(low, DType::f32));
  const std::array<Id, 4> weights = cubic_weights(g, t);
  Id sum = -1;
  for (std::int64_t i = 0; i < 4; ++i) {
    const Id index = clamped(g, g.call("add", {low, g.whole(i - 1)}), s.extent);
    const Id weight = g.to(g.along(weights[static_cast<std::size_t>(i)], s.dim, g.rank(x)), g.dtype(x));
    const Id part = g.apply("mul", g.select(x, s.dim, index), weight);
    sum = sum < 0 ? part : g.apply("add", sum, part);
  }
  return sum;
}

/// The weight of an element at a distance from the place of a result, in PyTorch's antialiasing.
double filter_weight(double distance, bool is_cubic) {
  constexpr double a = -0.5;
  const double d = std::abs(distance);
  if (!is_cubic) return std::max(1 - d, 0.0);
  if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? (((d - 5) * d + 8) * d - 4) * a : 0;
}

/// Resizes with antialiasing: if the result is smaller, more elements count for each of its places. The result is a
/// product with a table of all weights.
Id antialiased(const Given& g, Id x, const Step& s, bool is_cubic) {
  const double stretch = std::max(s.scale, 1.0), support = (is_cubic ? 2 : 1) * stretch;
  if (s.extent > max_pairs / s.places) g.refuse(fmt::format("at most {} weights with antialias", max_pairs), x);
  std::vector<float> table(static_cast<std::size_t>(s.extent * s.places));
  for (std::int64_t i = 0; i < s.places; ++i) {
    const double centre = s.scale * (static_cast<double>(i) + 0.5);  // with aligned corners, too
    const std::int64_t first = std::max(static_cast<std::int64_t>(centre - support + 0.5), std::int64_t{0});
    const std::int64_t end = std::min(static_cast<std::int64_t>(centre + support + 0.5), s.extent);
    const auto weight = [&](std::int64_t j) {
      return filter_weight((static_cast<double>(j) - centre + 0.5) / stretch, is_cubic);
    };
    double total = 0;
    for (std::int64_t j = first; j < end; ++j) total += weight(j);
    for (std::int64_t j = first; j < end; ++j)
      table[static_cast<std::size_t>(j * s.places + i)] = static_cast<float>(weight(j) / total);
  }
  const Id weights = g.to(g.reshape(g.list(std::move(table)), {s.extent, s.places}), g.dtype(x));
  const Attributes last = {{"dim0", static_cast<std::int64_t>(s.dim)}, {"dim1", std::int64_t{-1}}};
  return g.call("transpose", {g.call("matmul", {g.call("transpose", {x}, last), weights})}, last);
}

Id resized(const Given& g, Id x, const std::string& mode, const std::vector<Step>& steps, bool antialias) {
  const bool of_bytes = g.dtype(x) == DType::u8 && mode.starts_with("nearest");
  if (!is_float(g.dtype(x)) && !of_bytes) g.refuse("floating-point numbers, or uint8 with mode='nearest'", x);
  const bool is_linear = mode == "linear" || mode == "bilinear" || mode == "trilinear";
  for (const Step& s : steps) {
    if (s.places < 1 || s.extent < 1) g.refuse("sizes of at least 1", x);
    if (s.places == s.extent && s.scale == 1) continue;
    if (antialias)
      x = antialiased(g, x, s, !is_linear);
    else
      x = is_linear ? linear(g, x, s) : mode == "bicubic" ? cubic(g, x, s) : nearest(g, x, s, mode == "nearest-exact");
  }
  return x;
}

double scale_of(std::int64_t extent, std::int64_t places, double factor, bool corners) {
  if (corners) return places > 1 ? static_cast<double>(extent - 1) / static_cast<double>(places - 1) : 0;
  return factor > 0 ? 1 / factor : static_cast<double>(extent) / static_cast<double>(places);
}

// In expressions

void check_mode(const python::Call& c, const std::string& mode, std::size_t dims) {
  constexpr std::array<std::pair<std::string_view, std::size_t>, 7> modes = {{{"nearest", 0},
                                                                              {"nearest-exact", 0},
                                                                              {"area", 0},
                                                                              {"linear", 1},
                                                                              {"bilinear", 2},
                                                                              {"bicubic", 2},
                                                                              {"trilinear", 3}}};
  for (const auto& [name, of] : modes)
    if (mode == name && (of == 0 || of == dims)) return;
  c.fail("mode", fmt::format("'nearest', 'nearest-exact', 'area', 'linear', 'bilinear', 'bicubic' or 'trilinear', "
                             "for {} dimensions",
                             dims));
}

std::vector<double> factors_of(const python::Call& c, std::size_t dims) {
  const python::Value& given = c.value("scale_factor");
  std::vector<double> factors;
  if (const auto* list = given.as<python::List>())
    for (const python::Value& item : *list->items) factors.push_back(python::to_number(item).value_or(0));
  else
    factors.assign(dims, c.number("scale_factor"));
  if (factors.size() != dims || std::ranges::any_of(factors, [](double f) { return !(f > 0 && f < 0x1p31); }))
    c.fail("scale_factor", fmt::format("a number above 0, or {} of them", dims));
  return factors;
}

python::Value call_interpolate(const python::Call& c) {
  const Given g(c);
  const Id x = g.tensor("input");
  if (g.rank(x) < 3 || g.rank(x) > 5) g.refuse("an input (N, C, L…)", x);
  const std::size_t dims = g.rank(x) - 2;
  const std::string mode = g.text("mode", "nearest");
  check_mode(c, mode, dims);
  if (c.given("size") == c.given("scale_factor")) c.fail("size", "either size or scale_factor");
  const bool antialias = c.has("antialias") && c.truth("antialias");
  if (antialias && mode != "bilinear" && mode != "bicubic") c.fail("antialias", "False except in bilinear and bicubic");
  const bool corners = g.flag("align_corners", false), again = g.flag("recompute_scale_factor", false);
  const std::vector<double> factors = c.given("scale_factor") ? factors_of(c, dims) : std::vector<double>(dims, 0);
  const Shape sizes = c.given("size") ? g.integers("size", dims, 1) : Shape(dims, 0);
  std::vector<Step> steps;
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t extent = g.shape(x)[d + 2];
    const std::int64_t places =
        factors[d] > 0 ? static_cast<std::int64_t>(std::floor(static_cast<double>(extent) * factors[d])) : sizes[d];
    if (places < 1) c.fail("size", "sizes of at least 1");
    steps.push_back({d + 2, extent, places, scale_of(extent, places, again ? 0 : factors[d], corners), corners});
  }
  if (mode != "area") return results_of(resized(g, x, mode, steps, antialias));
  Shape places;
  for (const Step& s : steps) places.push_back(s.places);
  return results_of(adaptive_pool(g, x, places, true));
}

// In `.pt2` files, the size is that of the stated result.
template <auto& mode, bool antialias = false>
std::vector<Id> read_upsample(pt2::Call& call) {
  const Given g(call);
  const Id x = g.tensor("input");
  const std::vector<double> factors = call.numbers("scale_factors");
  const Shape size = call.output_type().shape;
  const bool corners = call.flag("align_corners", false);
  call.ignore({"output_size"});
  std::vector<Step> steps;
  for (std::size_t d = 2; d < g.rank(x); ++d) {
    static constexpr std::array<std::string_view, 3> names = {"scales_w", "scales_h", "scales_d"};
    const std::string_view name = g.rank(x) == 3 ? "scales" : names[std::min<std::size_t>(g.rank(x) - 1 - d, 2)];
    const double factor = d - 2 < factors.size() ? factors[d - 2] : call.number(name, 0);
    steps.push_back({d, g.shape(x)[d], size[d], scale_of(g.shape(x)[d], size[d], factor, corners), corners});
  }
  return {resized(g, x, mode, steps, antialias)};
}

constexpr char nearest_mode[] = "nearest", exact_mode[] = "nearest-exact", linear_mode[] = "linear",
               cubic_mode[] = "bicubic";

constexpr std::string_view interpolate_signature =
    "input, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None, "
    "antialias=False";
constexpr std::string_view module =
    "size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None";

}  // namespace

std::array<Id, 4> cubic_weights(const Given& g, Id t) {
  constexpr double a = -0.75;
  const auto near = [&](Id d) {  // ((a + 2) d - (a + 3)) d² + 1
    const Id factor = g.apply("sub", g.apply("mul", d, a + 2), a + 3);
    return g.apply("add", g.apply("mul", g.apply("mul", factor, d), d), 1.0);
  };
  const auto far = [&](Id d) {  // ((a d - 5 a) d + 8 a) d - 4 a
    const Id first = g.apply("add", g.apply("mul", g.apply("sub", g.apply("mul", d, a), 5 * a), d), 8 * a);
    return g.apply("sub", g.apply("mul", first, d), 4 * a);
  };
  return {far(g.apply("add", t, 1.0)), near(t), near(g.apply("sub", 1.0, t)), far(g.apply("sub", 2.0, t))};
}

// clang-format off
Composites interpolations() {
  return {
      {{"interpolate", in_functional, interpolate_signature, call_interpolate},
       {"Upsample", stateless_module, module, nullptr, {}, "interpolate"},
       {"upsample", in_functional, "input, size=None, scale_factor=None, mode='nearest', align_corners=None",
        call_interpolate}},
      {{"aten.upsample_nearest1d", read_upsample<nearest_mode>},
       {"aten.upsample_nearest2d", read_upsample<nearest_mode>},
       {"aten.upsample_nearest3d", read_upsample<nearest_mode>},
       {"aten._upsample_nearest_exact1d", read_upsample<exact_mode>},
       {"aten._upsample_nearest_exact2d", read_upsample<exact_mode>},
       {"aten._upsample_nearest_exact3d", read_upsample<exact_mode>},
       {"aten.upsample_linear1d", read_upsample<linear_mode>}, {"aten.upsample_bilinear2d", read_upsample<linear_mode>},
       {"aten.upsample_trilinear3d", read_upsample<linear_mode>},
       {"aten.upsample_bicubic2d", read_upsample<cubic_mode>},
       {"aten._upsample_bilinear2d_aa", read_upsample<linear_mode, true>},
       {"aten._upsample_bicubic2d_aa", read_upsample<cubic_mode, true>}}};
}
// clang-format on

}  // namespace deplo::ir::torch
