// grid_sample and affine_grid: an image is read at positions between its elements.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace sampling {
namespace {

/// Converts one coordinate of all positions from the range -1 … 1 to element indices, which may have fractions.
Id unnormalised(const Given& g, Id x, std::int64_t extent, bool aligned) {
  const auto n = static_cast<double>(extent);
  if (aligned) return g.apply("mul", g.apply("add", x, 1.0), (n - 1) / 2);
  return g.apply("sub", g.apply("mul", g.apply("add", x, 1.0), n / 2), 0.5);
}

struct Image {
  Id flat;  // (N, C, H * W)
  Shape shape;
  bool zeros = true;  // whether elements outside of the image are 0
};

/// Returns the elements at whole coordinates (N, places), multiplied by weights (N, places), as (N, C, places).
Id picked(const Given& g, const Image& image, Id x, Id y, Id weight) {
  const std::int64_t height = image.shape[2], width = image.shape[3];
  const auto within = [&](Id v, std::int64_t extent) {
    return g.apply("minimum", g.apply("maximum", v, 0.0), static_cast<double>(extent - 1));
  };
  const auto is_inside = [&](Id v, std::int64_t extent) {
    return g.apply("logical_and", g.apply("ge", v, 0.0), g.apply("le", v, static_cast<double>(extent - 1)));
  };
  if (image.zeros) {
    const Id inside = g.apply("logical_and", is_inside(x, width), is_inside(y, height));
    weight = g.call("where", {inside, weight, g.scalar(0)});
  }
  const Id place = g.apply("add", g.apply("mul", within(y, height), static_cast<double>(width)), within(x, width));
  const std::int64_t count = g.shape(place)[1];
  const Id index = g.reshape(g.to(place, DType::i32), {image.shape[0], 1, count});
  const Id elements = g.call("gather", {image.flat, g.expand(index, {image.shape[0], image.shape[1], count})},
                             {{"dim", std::int64_t{2}}});
  return g.apply("mul", elements, g.reshape(weight, {image.shape[0], 1, count}));
}

Id bilinear(const Given& g, const Image& image, Id x, Id y) {
  const Id left = floor_of(g.caller(), x), top = floor_of(g.caller(), y);
  const Id right = g.apply("add", left, 1.0), bottom = g.apply("add", top, 1.0);
  const Id dx = g.apply("sub", x, left), dy = g.apply("sub", y, top);
  const Id ex = g.apply("sub", 1.0, dx), ey = g.apply("sub", 1.0, dy);
  const Id first = g.apply("add", picked(g, image, left, top, g.apply("mul", ex, ey)),
                           picked(g, image, right, top, g.apply("mul", dx, ey)));
  const Id second = g.apply("add", picked(g, image, left, bottom, g.apply("mul", ex, dy)),
                            picked(g, image, right, bottom, g.apply("mul", dx, dy)));
  return g.apply("add", first, second);
}

template <class Modes>
std::string mode_of(const Given& g, std::string_view text, std::string_view number, const Modes& modes) {
  if (g.has(text) && g.is_text(text)) return g.text(text, modes[0]);
  const std::int64_t mode = g.integer(number, 0);
  if (mode < 0 || mode >= static_cast<std::int64_t>(modes.size())) g.fail(number, "a mode");
  return std::string(modes[static_cast<std::size_t>(mode)]);
}

Id grid_sample(const Given& g, const std::string& mode, const std::string& padding) {
  const Id x = g.tensor("input"), grid = g.tensor("grid");
  const Shape shape = g.shape(x), places = g.shape(grid);
  if (shape.size() != 4 || places.size() != 4 || places[3] != 2)
    g.refuse("an image (N, C, H, W) and a grid (N, H, W, 2)", x);
  if (mode != "bilinear" && mode != "nearest") g.fail("mode", "'bilinear' or 'nearest'");
  if (padding != "zeros" && padding != "border") g.fail("padding_mode", "'zeros' or 'border'");
  const bool aligned = g.flag("align_corners", false);
  const std::int64_t count = places[1] * places[2];
  const auto coordinate = [&](std::int64_t which, std::int64_t extent) {
    const Id one = g.reshape(g.slice(grid, 3, which, which + 1), {shape[0], count});
    const Id at = unnormalised(g, one, extent, aligned);
    if (padding == "zeros") return at;
    return g.apply("minimum", g.apply("maximum", at, 0.0), static_cast<double>(extent - 1));
  };
  const Image image = {g.reshape(x, {shape[0], shape[1], shape[2] * shape[3]}), shape, padding == "zeros"};
  const Id across = coordinate(0, shape[3]), down = coordinate(1, shape[2]);
  const Id values =
      mode == "bilinear"
          ? bilinear(g, image, across, down)
          : picked(g, image, round_of(g.caller(), across), round_of(g.caller(), down),
                   g.call("full", {}, {{"shape", Shape{shape[0], count}}, {"value", 1.0}, {"dtype", g.dtype(x)}}));
  return g.reshape(values, {shape[0], shape[1], places[1], places[2]});
}

constexpr std::array<std::string_view, 3> modes = {"bilinear", "nearest", "bicubic"};
constexpr std::array<std::string_view, 3> paddings = {"zeros", "border", "reflection"};

Id sample(const Given& g) {
  return grid_sample(g, mode_of(g, "mode", "interpolation_mode", modes),
                     mode_of(g, "padding_mode", "padding_mode", paddings));
}

// theta (N, 2, 3) and the size of an image → (N, H, W, 2)
Id affine_grid(const Given& g) {
  const Id theta = g.tensor("theta");
  const Shape size = g.integers("size", Shape{});
  if (size.size() != 4 || g.shape(theta) != Shape{size[0], 2, 3})
    g.refuse("matrices (N, 2, 3) and a size (N, C, H, W)", theta);
  const bool aligned = g.flag("align_corners", false);
  const auto line = [&](std::int64_t count) {
    const auto n = static_cast<double>(count);
    const Id places = g.to(g.call("arange", {}, {{"end", count}}), g.dtype(theta));
    const double step = aligned ? 2 / std::max(n - 1, 1.0) : 2 / n,
                 first = aligned ? (count == 1 ? 0 : -1) : -1 + 1 / n;
    return g.apply("add", g.apply("mul", places, step), first);
  };
  const Shape plane = {size[2], size[3], 1};
  const Id x = g.expand(g.reshape(line(size[3]), {1, size[3], 1}), plane);
  const Id y = g.expand(g.reshape(line(size[2]), {size[2], 1, 1}), plane);
  const Id one = g.call("full", {}, {{"shape", plane}, {"value", 1.0}, {"dtype", g.dtype(theta)}});
  const Id base = g.reshape(g.call("cat", {x, y, one}, {{"dim", std::int64_t{2}}}), {size[2] * size[3], 3});
  const Id turned = g.call("transpose", {theta}, {{"dim0", std::int64_t{1}}, {"dim1", std::int64_t{2}}});
  return g.reshape(g.apply("matmul", base, turned), {size[0], size[2], size[3], 2});
}

}  // namespace
}  // namespace sampling

// clang-format off
Composites samplings() {
  using namespace sampling;
  return {
      {{"affine_grid", in_functional, "theta, size, align_corners=False", call_made<affine_grid>},
       {"grid_sample", in_functional, "input, grid, mode='bilinear', padding_mode='zeros', align_corners=False",
        call_made<sample>}},
      {{"aten.affine_grid_generator", read_made<affine_grid>}, {"aten.grid_sampler", read_made<sample>},
       {"aten.grid_sampler_2d", read_made<sample>}}};
}
// clang-format on

}  // namespace deplo::ir::torch
