// grid_sample and affine_grid: an image is read at positions between its elements.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/text/text.h"
#include "ir/torch/operations/given.h"
#include "ir/torch/operations/windows/window.h"

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
  std::string padding;  // what is outside of the image: 'zeros', or the elements at the 'border' or by 'reflection'
  bool aligned = false;
};

Id limited(const Given& g, Id x, std::int64_t extent) {
  return g.apply("minimum", g.apply("maximum", x, 0.0), static_cast<double>(extent - 1));
}

/// Reflects coordinates at the borders until they are inside. The borders are the first and the last element or, if
/// the corners are not aligned, half an element further.
Id reflected(const Given& g, Id x, std::int64_t extent, bool aligned) {
  const double low = aligned ? 0 : -0.5, span = static_cast<double>(aligned ? extent - 1 : extent);
  if (span == 0) return g.apply("mul", x, 0.0);
  const Id size = g.apply("abs", g.apply("sub", x, low));
  const Id turns = floor_of(g, g.apply("div", size, span));
  const Id rest = g.apply("sub", size, g.apply("mul", turns, span));
  const Id even = g.apply("mul", floor_of(g, g.apply("mul", turns, 0.5)), 2.0);
  return g.apply("add", g.where(g.apply("eq", turns, even), rest, g.apply("sub", span, rest)), low);
}

/// Moves coordinates along a dimension of the image to its inside, unless the outside is 0.
Id moved_inside(const Given& g, const Image& image, Id x, std::size_t dim) {
  if (image.padding == "zeros") return x;
  const std::int64_t extent = image.shape[dim];
  return limited(g, image.padding == "border" ? x : reflected(g, x, extent, image.aligned), extent);
}

/// Returns the elements at whole coordinates (N, places), multiplied by weights (N, places), as (N, C, places).
Id picked(const Given& g, const Image& image, Id x, Id y, Id weight) {
  const std::int64_t height = image.shape[2], width = image.shape[3];
  const auto is_inside = [&](Id v, std::int64_t extent) {
    return g.apply("logical_and", g.apply("ge", v, 0.0), g.apply("le", v, static_cast<double>(extent - 1)));
  };
  if (image.padding == "zeros") {
    const Id inside = g.apply("logical_and", is_inside(x, width), is_inside(y, height));
    weight = g.call("where", {inside, weight, g.scalar(0)});
  }
  const Id place =
      g.apply("add", g.apply("mul", limited(g, y, height), static_cast<double>(width)), limited(g, x, width));
  const std::int64_t count = g.shape(place)[1];
  const Id index = g.reshape(g.to(place, DType::i32), {image.shape[0], 1, count});
  const Id elements = g.call("gather", {image.flat, g.expand(index, {image.shape[0], image.shape[1], count})},
                             {{"dim", std::int64_t{2}}});
  return g.apply("mul", elements, g.reshape(weight, {image.shape[0], 1, count}));
}

Id bilinear(const Given& g, const Image& image, Id x, Id y) {
  const Id left = floor_of(g, x), top = floor_of(g, y);
  const Id right = g.apply("add", left, 1.0), bottom = g.apply("add", top, 1.0);
  const Id dx = g.apply("sub", x, left), dy = g.apply("sub", y, top);
  const Id ex = g.apply("sub", 1.0, dx), ey = g.apply("sub", 1.0, dy);
  const Id first = g.apply("add", picked(g, image, left, top, g.apply("mul", ex, ey)),
                           picked(g, image, right, top, g.apply("mul", dx, ey)));
  const Id second = g.apply("add", picked(g, image, left, bottom, g.apply("mul", ex, dy)),
                            picked(g, image, right, bottom, g.apply("mul", dx, dy)));
  return g.apply("add", first, second);
}

Id bicubic(const Given& g, const Image& image, Id x, Id y) {
  const Id left = floor_of(g, x), top = floor_of(g, y);
  const std::array<Id, 4> across = cubic_weights(g, g.apply("sub", x, left)),
                          down = cubic_weights(g, g.apply("sub", y, top));
  Id sum = -1;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      const Id column = moved_inside(g, image, g.apply("add", left, static_cast<double>(j) - 1), 3);
      const Id row = moved_inside(g, image, g.apply("add", top, static_cast<double>(i) - 1), 2);
      const Id part = picked(g, image, column, row, g.apply("mul", across[j], down[i]));
      sum = sum < 0 ? part : g.apply("add", sum, part);
    }
  return sum;
}

/// Returns a mode, which expressions give by its name and files by its number.
std::string mode_of(const Given& g, std::string_view text, std::string_view number,
                    const std::vector<std::string>& modes) {
  if (!g.is_text(text) && !g.has(number)) return modes[0];
  if (!g.is_text(text)) {
    const std::int64_t mode = g.integer(number, 0);
    if (mode < 0 || mode >= std::ssize(modes)) g.fail(number, fmt::format("a number from 0 to {}", modes.size() - 1));
    return modes[static_cast<std::size_t>(mode)];
  }
  std::string mode = g.text(text, modes[0]);
  if (std::ranges::find(modes, mode) == modes.end()) g.fail(text, fmt::format("'{}'", join(modes, "', '")));
  return mode;
}

Id grid_sample(const Given& g, const std::string& mode, const std::string& padding) {
  const Id x = g.tensor("input"), grid = g.tensor("grid");
  const Shape shape = g.shape(x), places = g.shape(grid);
  if (shape.size() != 4 || places.size() != 4 || places[3] != 2)
    g.refuse("an image (N, C, H, W) and a grid (N, H, W, 2)", x);
  const bool aligned = g.flag("align_corners", false);
  const std::int64_t count = places[1] * places[2];
  const Image image = {g.reshape(x, {shape[0], shape[1], shape[2] * shape[3]}), shape, padding, aligned};
  const auto coordinate = [&](std::int64_t which, std::size_t dim) {
    const Id one = g.reshape(g.slice(grid, 3, which, which + 1), {shape[0], count});
    const Id at = unnormalised(g, one, shape[dim], aligned);
    return mode == "bicubic" ? at : moved_inside(g, image, at, dim);
  };
  const Id across = coordinate(0, 3), down = coordinate(1, 2);
  const auto nearest = [&] {
    const Shape weights = {shape[0], count};
    return picked(g, image, round_of(g, across), round_of(g, down), g.full(weights, 1, g.dtype(x)));
  };
  const Id values = mode == "nearest"   ? nearest()
                    : mode == "bicubic" ? bicubic(g, image, across, down)
                                        : bilinear(g, image, across, down);
  return g.reshape(values, {shape[0], shape[1], places[1], places[2]});
}

Id sample(const Given& g) {
  return grid_sample(g, mode_of(g, "mode", "interpolation_mode", {"bilinear", "nearest", "bicubic"}),
                     mode_of(g, "padding_mode", "padding_mode", {"zeros", "border", "reflection"}));
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
    const Id places = g.to(g.range(0, count), g.dtype(theta));
    const double step = aligned ? 2 / std::max(n - 1, 1.0) : 2 / n,
                 first = aligned ? (count == 1 ? 0 : -1) : -1 + 1 / n;
    return g.apply("add", g.apply("mul", places, step), first);
  };
  const Shape plane = {size[2], size[3], 1};
  const Id x = g.expand(g.reshape(line(size[3]), {1, size[3], 1}), plane);
  const Id y = g.expand(g.reshape(line(size[2]), {size[2], 1, 1}), plane);
  const Id one = g.full(plane, 1.0, g.dtype(theta));
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
