// grid_sample, affine_grid, and torchvision's deform_conv2d and roi_align: an image is read at positions between its
// elements.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  std::optional<Id> start = {};  // (N, places): where in `flat` the image of each place starts; the default is 0
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

/// Moves coordinates along a dimension of `extent` elements to the inside of the image, unless the outside is 0.
Id moved_inside(const Given& g, const Image& image, Id x, std::int64_t extent) {
  if (image.padding == "zeros") return x;
  return limited(g, image.padding == "border" ? x : reflected(g, x, extent, image.aligned), extent);
}

Id is_inside(const Given& g, Id x, std::int64_t extent) {
  return g.apply("logical_and", g.apply("ge", x, 0.0), g.apply("le", x, static_cast<double>(extent - 1)));
}

/// Returns the elements at whole coordinates (N, places), multiplied by weights (N, places), as (N, C, places).
Id picked(const Given& g, const Image& image, Id x, Id y, Id weight) {
  const std::int64_t height = image.shape[2], width = image.shape[3];
  if (image.padding == "zeros") {
    const Id inside = g.apply("logical_and", is_inside(g, x, width), is_inside(g, y, height));
    weight = g.call("where", {inside, weight, g.scalar(0)});
  }
  const Id place =
      g.apply("add", g.apply("mul", limited(g, y, height), static_cast<double>(width)), limited(g, x, width));
  const std::int64_t count = g.shape(place)[1];
  const Id whole = g.to(place, DType::i32), from_start = image.start ? g.apply("add", whole, *image.start) : whole;
  const Id index = g.reshape(from_start, {image.shape[0], 1, count});
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
      const Id column = moved_inside(g, image, g.apply("add", left, static_cast<double>(j) - 1), image.shape[3]);
      const Id row = moved_inside(g, image, g.apply("add", top, static_cast<double>(i) - 1), image.shape[2]);
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

/// Reads a volume, whose planes follow each other in `planes.flat`. `z` has the coordinates of the planes. `read` reads
/// an image at the places in a plane.
template <class Read>
Id read_volume(const Given& g, const Image& planes, std::int64_t depth, Id z, bool nearest, Read&& read) {
  const auto in_plane = [&](Id at, Id weight) {
    if (planes.padding == "zeros") weight = g.where(is_inside(g, at, depth), weight, g.scalar(0));
    Image image = planes;
    const Id whole = g.to(limited(g, at, depth), DType::i32);
    image.start = g.apply("mul", whole, g.whole(planes.shape[2] * planes.shape[3]));
    return g.apply("mul", read(image), g.unsqueeze(weight, 1));
  };
  if (nearest) return in_plane(round_of(g, z), g.full(g.shape(z), 1, g.dtype(z)));
  const Id front = floor_of(g, z), dz = g.apply("sub", z, front);
  return g.apply("add", in_plane(front, g.apply("sub", 1.0, dz)), in_plane(g.apply("add", front, 1.0), dz));
}

Id grid_sample(const Given& g, const std::string& mode, const std::string& padding) {
  const Id x = g.tensor("input"), grid = g.tensor("grid");
  const Shape shape = g.shape(x), places = g.shape(grid);
  const std::size_t rank = shape.size();
  const bool is_volume = rank == 5 && mode != "bicubic";
  if ((rank != 4 && !is_volume) || places.size() != rank || places[0] != shape[0] ||
      places.back() != static_cast<std::int64_t>(rank) - 2)
    g.refuse(
        "an image (N, C, H, W) and a grid (N, H, W, 2), or a volume (N, C, D, H, W), a grid (N, D, H, W, 3) and a "
        "mode other than 'bicubic'",
        x);
  const bool aligned = g.flag("align_corners", false);
  const std::int64_t height = shape[rank - 2], width = shape[rank - 1];
  const Id flat = g.reshape(x, {shape[0], shape[1], (is_volume ? shape[2] : 1) * height * width});
  const Image image = {flat, {shape[0], shape[1], height, width}, padding, aligned};
  Shape result = {shape[0], shape[1]};
  result.insert(result.end(), places.begin() + 1, places.end() - 1);
  const std::int64_t count = element_count({result.begin() + 2, result.end()});
  const auto coordinate = [&](std::int64_t which, std::int64_t extent) {
    const Id one = g.reshape(g.slice(grid, static_cast<std::int64_t>(rank) - 1, which, which + 1), {shape[0], count});
    const Id at = unnormalised(g, one, extent, aligned);
    return mode == "bicubic" ? at : moved_inside(g, image, at, extent);
  };
  const Id across = coordinate(0, width), down = coordinate(1, height);
  const auto read = [&](const Image& from) {
    if (mode == "bicubic") return bicubic(g, from, across, down);
    if (mode == "bilinear") return bilinear(g, from, across, down);
    const Id ones = g.full({shape[0], count}, 1, g.dtype(x));
    return picked(g, from, round_of(g, across), round_of(g, down), ones);
  };
  if (!is_volume) return g.reshape(read(image), result);
  return g.reshape(read_volume(g, image, shape[2], coordinate(2, shape[2]), mode == "nearest", read), result);
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

/// Returns first, first + step, first + 2 step, … along dimension `dim` of `rank` dimensions.
Id steps(const Given& g, std::int64_t count, double step, double first, std::size_t dim, std::size_t rank, DType type) {
  const Id line = g.apply("add", g.apply("mul", g.to(g.range(0, count), type), step), first);
  return g.along(line, dim, rank);
}

/// The sizes of a deform_conv2d. `parts`: the groups of channels that have offsets of their own.
struct Deformed {
  Shape image, kernel, places;
  std::int64_t groups, parts;
  std::int64_t taps() const { return kernel[2] * kernel[3]; }
  std::int64_t reads() const { return taps() * places[0] * places[1]; }
};

Deformed deformed_sizes(const Given& g, Id x, Id weight, Id offset) {
  const Shape image = g.shape(x), kernel = g.shape(weight), moves = g.shape(offset);
  const std::int64_t groups = g.integer("groups", 1), parts = g.integer("offset_groups", 1);
  if (image.size() != 4 || kernel.size() != 4) g.refuse("an image (N, C, H, W) and a weight of 4 dimensions", x);
  if (groups < 1 || image[1] != kernel[1] * groups || kernel[0] % groups != 0)
    g.refuse(fmt::format("a weight (out, C / groups, h, w) for {} channels and {} groups", image[1], groups), weight);
  const std::int64_t count = 2 * parts * kernel[2] * kernel[3];
  if (parts < 1 || image[1] % parts != 0 || moves.size() != 4 || moves[0] != image[0] || moves[1] != count)
    g.refuse(fmt::format("offsets (N, {}, H, W) for {} offset_groups", count, parts), offset);
  return {image, kernel, {moves[2], moves[3]}, groups, parts};
}

/// Returns the rows (`which` is 0) or the columns (1) that the kernel's elements read, as (N * parts, reads).
Id deformed_places(const Given& g, const Deformed& sizes, Id offset, std::int64_t which) {
  const auto size = [&](const std::array<std::string_view, 2>& names, std::int64_t fallback) {
    return static_cast<double>(g.integer(names[static_cast<std::size_t>(which)], fallback));
  };
  const std::int64_t images = sizes.image[0] * sizes.parts, height = sizes.places[0], width = sizes.places[1];
  const auto d = static_cast<std::size_t>(which);
  const DType type = g.dtype(offset);
  const Id pairs = g.reshape(offset, {images, sizes.taps(), 2, height * width});
  const Id moves =
      g.reshape(g.slice(pairs, 2, which, which + 1), {images, sizes.kernel[2], sizes.kernel[3], height, width});
  const Id taps = steps(g, sizes.kernel[2 + d], size({"dilation_h", "dilation_w"}, 1), -size({"pad_h", "pad_w"}, 0),
                        1 + d, 5, type);
  const Id places = steps(g, sizes.places[d], size({"stride_h", "stride_w"}, 1), 0, 3 + d, 5, type);
  return g.reshape(g.apply("add", g.apply("add", moves, taps), places), {images, sizes.reads()});
}

/// A convolution whose kernel's elements read at offsets from their usual places. The offsets are (N, 2 * parts * taps,
/// H, W), with a row and a column for each tap; the mask (N, parts * taps, H, W) has a factor for each.
Id deform_conv2d(const Given& g) {
  const Id x = g.tensor("input"), weight = g.tensor("weight"), offset = g.tensor("offset"), mask = g.tensor("mask");
  const Deformed sizes = deformed_sizes(g, x, weight, offset);
  const std::int64_t n = sizes.image[0], channels = sizes.image[1], out = sizes.kernel[0], reads = sizes.reads();
  const Shape whole = {n * sizes.parts, channels / sizes.parts, sizes.image[2], sizes.image[3]};
  const Image image = {g.reshape(x, {whole[0], whole[1], whole[2] * whole[3]}), whole, "zeros"};
  Id values = bilinear(g, image, deformed_places(g, sizes, offset, 1), deformed_places(g, sizes, offset, 0));
  if (g.flag("use_mask", true)) values = g.apply("mul", values, g.reshape(mask, {whole[0], 1, reads}));
  const std::int64_t depth = channels / sizes.groups * sizes.taps();
  const Id columns = g.reshape(values, {n, sizes.groups, depth, sizes.places[0] * sizes.places[1]});
  const Id rows = g.reshape(weight, {1, sizes.groups, out / sizes.groups, depth});
  const Id product = g.reshape(g.apply("matmul", rows, columns), {n, out, sizes.places[0], sizes.places[1]});
  return g.apply("add", product, g.along(g.tensor("bias"), 1, 4));
}

/// Returns the rows or columns that roi_align reads, as (boxes, bins * samples). `low`, `high`: (boxes, 1) each, where
/// the boxes begin and end.
Id box_places(const Given& g, Id low, Id high, std::int64_t bins, std::int64_t samples, bool aligned) {
  const double scale = g.number("spatial_scale", 1);
  const Id begin = g.apply("sub", g.apply("mul", low, scale), aligned ? 0.5 : 0.0);
  const Id end = g.apply("sub", g.apply("mul", high, scale), aligned ? 0.5 : 0.0);
  const Id size = g.apply("sub", end, begin), used = aligned ? size : g.apply("maximum", size, 1.0);
  const double step = 1.0 / static_cast<double>(bins * samples);
  const Id part = steps(g, bins * samples, step, step / 2, 1, 2, g.dtype(low));
  return g.apply("add", begin, g.apply("mul", used, part));
}

/// boxes (K, 5): the number of an image, then x1, y1, x2 and y2 → (K, C, height, width). Each bin is the mean of
/// samples in a grid. A sample more than one element outside of the image is 0, and one nearer than that is at the
/// border.
Id roi_align(const Given& g) {
  const Id x = g.tensor("input"), boxes = g.tensor("rois");
  const Shape shape = g.shape(x), given = g.shape(boxes);
  if (shape.size() != 4 || given.size() != 2 || given[1] != 5)
    g.refuse("an image (N, C, H, W) and boxes (K, 5) with the number of an image first", boxes);
  const std::int64_t samples = g.integer("sampling_ratio", -1), count = given[0], plane = shape[2] * shape[3];
  if (samples < 1) g.fail("sampling_ratio", "at least 1 (others choose the number of samples by the sizes of boxes)");
  const std::int64_t height = g.integer("pooled_height", 1), width = g.integer("pooled_width", 1);
  const bool aligned = g.flag("aligned", false);
  const std::int64_t rows = height * samples, columns = width * samples;
  const auto column = [&](std::int64_t i) { return g.slice(boxes, 1, i, i + 1); };
  const auto spread = [&](Id id, const Shape& as) {
    return g.reshape(g.expand(g.reshape(id, as), {count, rows, columns}), {1, count * rows * columns});
  };
  const Id down = spread(box_places(g, column(2), column(4), height, samples, aligned), {count, rows, 1});
  const Id across = spread(box_places(g, column(1), column(3), width, samples, aligned), {count, 1, columns});
  const Id first = g.apply("mul", g.to(column(0), DType::i32), g.whole(plane));
  const Id flat = g.reshape(g.permute(x, {1, 0, 2, 3}), {1, shape[1], shape[0] * plane});
  const Image image = {flat, {1, shape[1], shape[2], shape[3]}, "zeros", false, spread(first, {count, 1, 1})};
  const auto is_near = [&](Id at, std::int64_t extent) {
    return g.apply("logical_and", g.apply("ge", at, -1.0), g.apply("le", at, static_cast<double>(extent)));
  };
  const Id values = bilinear(g, image, limited(g, across, shape[3]), limited(g, down, shape[2]));
  const Id near = g.apply("logical_and", is_near(down, shape[2]), is_near(across, shape[3]));
  const Id kept = g.where(g.unsqueeze(near, 1), values, g.scalar(0, g.dtype(values)));
  const Id bins = g.reshape(kept, {shape[1], count, height, samples, width, samples});
  return g.permute(g.call("mean", {bins}, {{"dims", Shape{3, 5}}}), {1, 0, 2, 3});
}

}  // namespace
}  // namespace sampling

// clang-format off
Composites samplings() {
  using namespace sampling;
  return {
      {{"affine_grid", in_functional, "theta, size, align_corners=None", call_made<affine_grid>},
       {"grid_sample", in_functional, "input, grid, mode='bilinear', padding_mode='zeros', align_corners=None",
        call_made<sample>}},
      {{"aten.affine_grid_generator", read_made<affine_grid>}, {"aten.grid_sampler", read_made<sample>},
       {"aten.grid_sampler_2d", read_made<sample>}, {"aten.grid_sampler_3d", read_made<sample>},
       {"torchvision.deform_conv2d", read_made<deform_conv2d>},
       {"torchvision.roi_align", read_made<roi_align>}}};
}
// clang-format on

}  // namespace deplo::ir::torch
