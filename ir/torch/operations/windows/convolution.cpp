// convolution(T x (N, C, L…), T weight[, T bias], stride, padding, dilation, transposed=false, output_padding,
// groups=1)
//   weight: (out, C / groups, kernel…); transposed: (C, out / groups, kernel…)
// The places (positions of the result) and the kernel have one, two or three dimensions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "ir/torch/operations/given.h"
#include "ir/torch/operations/windows/window.h"

namespace deplo::ir::torch {
namespace {

constexpr AttributeSpec convolution_attributes[] = {
    {"stride", Kind::integers, Required{}},         {"padding", Kind::integers, Required{}},
    {"dilation", Kind::integers, Required{}},       {"transposed", Kind::flag, false},
    {"output_padding", Kind::integers, Computed{}}, {"groups", Kind::integer, std::int64_t{1}}};

/// A convolution's sizes. For each group and each image, a convolution is the product of a matrix (out, depth) of the
/// weight and a matrix (depth, places) of the image. The depth counts the channels of a group and the elements of the
/// kernel.
struct Sizes {
  std::int64_t batch, groups, out, channels;  // out, channels: those of one group
  Shape places, kernel, extents;              // extents of the result, of the kernel and of x
  std::int64_t depth() const { return channels * element_count(kernel); }
};

Shape behind(const Shape& shape, std::size_t first) {
  return {shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end()};
}

Sizes sizes_of(const Node& node, const Shape& x, const Shape& weight) {
  const std::int64_t groups = node.integer("groups");
  const Shape& result = node.type.shape;
  return {x[0], groups, result[1] / groups, x[1] / groups, behind(result, 2), behind(weight, 2), behind(x, 2)};
}

/// Describes where an element of the kernel reads, along one dimension. For place p of the result and element k of the
/// kernel, number = p * place + k * element + offset. The element reads x at number / step, if this is an integer
/// within the extent.
struct Read {
  std::int64_t place, element, offset, step;

  Read(const Node& node, std::size_t d) {
    const std::int64_t stride = node.integers("stride")[d], dilation = node.integers("dilation")[d],
                       padding = node.integers("padding")[d];
    const bool transposed = node.flag("transposed");
    place = transposed ? 1 : stride;
    element = transposed ? -dilation : dilation;
    offset = transposed ? padding : -padding;
    step = transposed ? stride : 1;
  }
};

void check_lists(const Inference& call, std::size_t dims) {
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  for (const std::string_view name : {"stride", "padding", "dilation", "output_padding"}) {
    const Shape& list = call.node().integers(name);
    const std::int64_t min = name == "stride" || name == "dilation" ? 1 : 0;
    const bool fits = std::ranges::all_of(list, [&](std::int64_t n) { return n >= min && n < limit; });
    if (list.size() != dims || !fits)
      call.expected(fmt::format("{} of {} numbers of at least {}", name, dims, min), print_list(list));
  }
}

void check_channels(const Inference& call, std::int64_t groups, bool transposed) {
  const Shape &x = call.shape(0), &weight = call.shape(1);
  if (groups < 1) call.expected("groups of at least 1", std::to_string(groups));
  const std::int64_t channels = transposed ? weight[0] : weight[1] * groups;
  if (x[1] != channels || channels % groups != 0 || (!transposed && weight[0] % groups != 0))
    call.expected(fmt::format("an input (N, C, L…) and a weight {} whose channels are divisible by {} groups",
                              transposed ? "(C, out / groups, kernel…)" : "(out, C / groups, kernel…)", groups));
  const std::int64_t out = transposed ? weight[1] * groups : weight[0];
  if (call.size() == 3 && call.shape(2) != Shape{out})
    call.expected(fmt::format("a bias ({},)", out), print(call.shape(2)));
}

std::int64_t result_extent(const Inference& call, std::size_t d) {
  const Node& node = call.node();
  const std::int64_t extent = call.shape(0)[d + 2], kernel = call.shape(1)[d + 2];
  const std::int64_t stride = node.integers("stride")[d], padding = node.integers("padding")[d];
  const std::int64_t reach = node.integers("dilation")[d] * (kernel - 1) + 1, more = node.integers("output_padding")[d];
  if (!node.flag("transposed")) {
    if (extent + 2 * padding < reach)
      call.expected(fmt::format("a kernel of at most {} elements in dimension {}", extent + 2 * padding, d + 2),
                    std::to_string(reach));
    return (extent + 2 * padding - reach) / stride + 1;
  }
  if (more >= std::max(stride, node.integers("dilation")[d]))
    call.expected("output_padding below stride or dilation", std::to_string(more));
  const std::int64_t result = (extent - 1) * stride - 2 * padding + reach + more;
  if (result < 1)
    call.expected(fmt::format("a result of at least one element in dimension {}", d + 2), std::to_string(result));
  return result;
}

TensorType infer_convolution(const Inference& call) {
  check_one_dtype(call, call.size());
  check_float(call);
  const std::size_t rank = call.shape(0).size();
  if (rank < 3 || rank > 5 || call.shape(1).size() != rank || element_count(call.shape(1)) == 0)
    call.expected("an input (N, C, L…) and a weight (…, …, kernel…) with one, two or three spatial dimensions");
  if (!call.has("output_padding")) call.set("output_padding", Shape(rank - 2, 0));
  check_lists(call, rank - 2);
  const bool transposed = call.node().flag("transposed");
  const std::int64_t groups = call.node().integer("groups");
  check_channels(call, groups, transposed);
  TensorType type = {call.dtype(0), {call.shape(0)[0], transposed ? call.shape(1)[1] * groups : call.shape(1)[0]}};
  for (std::size_t d = 0; d + 2 < rank; ++d) type.shape.push_back(result_extent(call, d));
  return type;
}

// Evaluation in double

/// For each element of the kernel and each place, in row-major order, returns the index of the element of x within its
/// channel, or -1 if nothing is read.
std::vector<std::int64_t> sources(const Node& node, const Sizes& s) {
  std::vector<std::int64_t> table;
  table.reserve(static_cast<std::size_t>(element_count(s.kernel) * element_count(s.places)));
  const auto count = [](const Shape& shape) { return std::array{row_major_strides(shape)}; };
  for_each_index(s.kernel, count(s.kernel), [&](std::size_t element) {
    for_each_index(s.places, count(s.places), [&](std::size_t place) {
      auto k = static_cast<std::int64_t>(element), p = static_cast<std::int64_t>(place);
      std::int64_t at = 0, stride = 1;
      for (std::size_t d = s.places.size(); d-- > 0;) {
        const Read read(node, d);
        const std::int64_t number = p % s.places[d] * read.place + k % s.kernel[d] * read.element + read.offset;
        const bool inside = number >= 0 && number % read.step == 0 && number / read.step < s.extents[d];
        at = at < 0 || !inside ? -1 : at + number / read.step * stride;
        stride *= s.extents[d];
        p /= s.places[d];
        k /= s.kernel[d];
      }
      table.push_back(at);
    });
  });
  return table;
}

/// Returns the weight of a group as a matrix (out, depth).
Values weight_of(const Operands& o, const Sizes& s, std::int64_t group) {
  const std::int64_t elements = element_count(s.kernel), count = s.out * s.depth();
  const double* from = o.value(1).data() + group * count;
  if (!o.node.flag("transposed")) return {from, from + count};
  Values result;
  for (std::int64_t out = 0; out < s.out; ++out)
    for (std::int64_t c = 0; c < s.channels; ++c)
      for (std::int64_t k = 0; k < elements; ++k) result.push_back(from[(c * s.out + out) * elements + k]);
  return result;
}

Values evaluate_convolution(const Operands& o) {
  const Sizes s = sizes_of(o.node, o.shape(0), o.shape(1));
  const std::int64_t places = element_count(s.places), image = element_count(s.extents);
  const std::vector<std::int64_t> table = sources(o.node, s);
  Values result(o.result_count()), columns(static_cast<std::size_t>(s.depth() * places));
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t g = 0; g < s.groups; ++g) {
      const double* x = o.value(0).data() + (n * s.groups + g) * s.channels * image;
      auto to = columns.begin();
      for (std::int64_t c = 0; c < s.channels; ++c)
        for (const std::int64_t at : table) *to++ = at < 0 ? 0 : x[c * image + at];
      const Values weight = weight_of(o, s, g);
      multiply(o, {weight.data(), s.out, s.depth()}, {columns.data(), s.depth(), places},
               result.data() + (n * s.groups + g) * s.out * places);
    }
  if (o.size() == 3)
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] += o.value(2)[i / static_cast<std::size_t>(places) % static_cast<std::size_t>(s.out * s.groups)];
  return result;
}

// A convolution is a sum of products over one axis, the depth: padded[n, place * stride + element * dilation, c] *
// weight[out, c, element]. The channels are the last dimension of the padded input, and out is the last dimension of
// the products. So on every target, neighbouring elements of the result share a row of the weight, whatever the images'
// sizes are.
//
// In a transposed convolution with a stride, a place reads only every stride-th element of the kernel. Which elements
// it reads depends on the place's phase, place % stride. So each phase is a convolution of its own, with stride 1 and a
// part of the kernel ("sub-pixel convolution": Shi et al., arXiv 1609.07009). Phases that read the same number of
// elements share one sum. If the stride does not divide the kernel's extent, each dimension has phases with two
// different numbers. If the stride is longer than the kernel, some phases read no elements, and they are 0.
//
// With a dilation, element k of the kernel is read by the places p with p + padding = dilation * k (mod stride). If the
// stride and the dilation have a common divisor d, only every d-th place reads anything, and the other places are 0.
// The places that read form a transposed convolution whose stride and dilation are divided by d. In its phases, k = (p
// + padding) / dilation (mod stride).

/// Returns 1 / number modulo m, by the extended Euclidean algorithm. The two numbers must be coprime.
std::int64_t inverse(std::int64_t number, std::int64_t m) {
  std::int64_t rest = m, next = number % m, factor = 0, next_factor = 1;
  while (next != 0) {
    const std::int64_t times = rest / next;
    rest = std::exchange(next, rest - times * next);
    factor = std::exchange(next_factor, factor - times * next_factor);
  }
  return (factor % m + m) % m;
}

/// Phases of a dimension that read the same number of elements of the kernel. The first elements that they read are
/// begin, begin + 1, …, begin + count - 1.
struct Run {
  std::int64_t begin, count, elements;
  std::int64_t places;  // the largest number of places in one phase
};

/// What is read for the places along one dimension.
struct Dimension {
  std::int64_t phases;
  std::int64_t first, extent;  // the range of the numbers (see Read) that windows read
  std::int64_t step;           // the difference of these numbers between neighbouring elements of x

  /// `at` returns where the window of a place reads, counted from `first`. `element` returns the element of the kernel
  /// that multiplies it. `index`: the index of a phase in the run. `part`: the number of a kernel element in the phase.
  Expr at(const Run& run, const Expr& index, const Expr& place, const Expr& part) const {
    return place * read.place + whole(run, index) + part * read.element - first;
  }
  Expr element(const Run& run, const Expr& index, const Expr& part) const {
    return first_element(run, index) + part * phases;
  }
  /// `reader` is the number of a place among the places that read anything. `is_in` returns whether the place's phase
  /// is in the run, `index_in` the index of this phase in the run, and `place_in` the place's number in the phase.
  Expr is_in(const Run& run, const Expr& reader) const {
    if (run.count == phases) return 1;
    const Expr element = first_element_at(reader);
    return both(less(run.begin - 1, element), less(element, run.begin + run.count));
  }
  Expr index_in(const Run& run, const Expr& reader) const {
    if (run.count == phases) return reader % phases;
    return Expr(ExprOp::max, min(first_element_at(reader) - run.begin, run.count - 1), 0);
  }
  Expr place_in(const Run& run, const Expr& reader) const { return min(reader / phases, run.places - 1); }

  /// `reader` returns how many places before this one read anything. `reads` returns whether this place does.
  Expr reader(const Expr& at) const { return apart == 1 ? at : Expr(ExprOp::max, at - start, 0) / apart; }
  Expr reads(const Expr& at) const { return equal(at % apart, start); }
  bool all_read() const { return apart == 1 && phases <= kernel; }

  /// Returns the runs of all phases that read anything. Phases with more elements come first.
  std::vector<Run> runs() const {
    const std::int64_t min_elements = kernel / phases, longer = kernel % phases;
    std::vector<Run> result;
    if (longer > 0) result.push_back({0, longer, min_elements + 1, max_places(0, longer)});
    if (min_elements > 0) result.push_back({longer, phases - longer, min_elements, max_places(longer, phases)});
    return result;
  }

  Dimension(const Node& node, const Sizes& s, std::size_t d) : read(node, d), kernel(s.kernel[d]) {
    keep_readers();
    // With a single phase, zeros are inserted between the elements of x.
    phases = dilation() == 1 || read.step <= max_phases ? read.step : 1;
    step = phases > 1 ? 1 : read.step;
    factor = inverse(dilation(), phases);
    readers = std::max<std::int64_t>((s.places[d] - start + apart - 1) / apart, 1);
    const std::int64_t reach = ((kernel + phases - 1) / phases - 1) * read.element;
    const std::int64_t last = (read.offset + phases - 1) / phases + (max_places(0, phases) - 1) * read.place;
    first = least_whole() + std::min<std::int64_t>(0, reach);
    extent = last + std::max<std::int64_t>(0, reach) - first + 1;
  }

 private:
  static constexpr std::int64_t max_phases = 1 << 15;  // so that a phase times `factor` is a 32-bit index
  Read read;
  std::int64_t kernel;
  std::int64_t apart = 1, start = 0;  // the places that read anything are start, start + apart, …
  std::int64_t readers;               // the number of places that read anything
  std::int64_t factor;                // 1 / dilation modulo the number of phases

  std::int64_t dilation() const { return std::abs(read.element); }
  /// Divides the stride and the dilation of a transposed convolution by their greatest common divisor.
  void keep_readers() {
    apart = std::gcd(read.step, dilation());
    start = (apart - read.offset % apart) % apart;
    read.offset = (read.offset + start) / apart;
    read.step /= apart;
    read.element /= apart;
  }
  Expr first_element_at(const Expr& reader) const {
    if (factor <= 1) return (reader + read.offset) % phases;
    return (reader % phases + read.offset % phases) * factor % phases;
  }
  /// If the run has all phases, the phases keep their order, so that neighbours in the result are neighbours in the
  /// sums.
  Expr first_element(const Run& run, const Expr& index) const {
    return run.count == phases ? first_element_at(index) : index + run.begin;
  }
  Expr phase(const Run& run, const Expr& index) const {
    return run.count == phases ? index : phase_of(index + run.begin);
  }
  /// Returns the phase of the places whose first element of the kernel is `element`.
  template <class Number>
  Number phase_of(const Number& element) const {
    return (element * (dilation() % phases) + (phases - read.offset % phases)) % phases;
  }
  /// Returns the largest number of places in a phase whose first element is in [begin, end), but at least 1.
  std::int64_t max_places(std::int64_t begin, std::int64_t end) const {
    std::int64_t min_phase = phases;
    for (std::int64_t element = begin; element < end; ++element) min_phase = std::min(min_phase, phase_of(element));
    return std::max<std::int64_t>((readers - min_phase + phases - 1) / phases, 1);
  }
  /// (phase + offset - dilation * first_element) / phases, which is an integer. No numerator is negative.
  Expr whole(const Run& run, const Expr& index) const {
    const Expr from = phase(run, index) + read.offset;
    if (phases == 1 || dilation() == 1) return from / phases;
    return (from + (phases - first_element(run, index)) * dilation()) / phases - dilation();
  }
  /// Returns a lower bound of whole() that follows from the ranges of its parts.
  std::int64_t least_whole() const {
    if (phases == 1 || dilation() == 1) return read.offset / phases;
    return (read.offset + dilation()) / phases - dilation();
  }
};

using Dimensions = std::vector<Dimension>;

/// Returns x with its channels last, and with 0 wherever windows read beyond its borders or between its elements.
int padded(Emitter& e, int x, const Dimensions& dimensions) {
  const Shape& extents = e.shape(x);
  Shape shape = {extents[0]};
  for (const Dimension& d : dimensions) shape.push_back(d.extent);
  shape.push_back(extents[1]);
  const Coordinates at = tensor::identity(shape);
  Coordinates coordinates = {at.front(), at.back()};
  Expr inside = 1;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    const std::int64_t step = dimensions[d].step, extent = extents[2 + d];
    const Expr number = at[1 + d] + dimensions[d].first;
    const Expr place = step == 1 ? number : number / step;
    if (step > 1) inside = both(inside, equal(number % step, 0));
    inside = both(inside, within(place, extent));
    coordinates.push_back(simplify(Expr(ExprOp::max, min(place, extent - 1), 0), tensor::coordinate_ranges(shape)));
  }
  return guarded(e, x, shape, std::move(coordinates), inside, 0, "padded");
}

/// The sum for one choice of runs, one run per dimension. The space of its products has the dimensions (phases…, batch,
/// places except the last…, groups, last place, out, depth). If a group has one output, as in a depthwise convolution,
/// the groups come after the last place.
struct Part {
  const Node& node;
  const Sizes& sizes;
  const Dimensions& dimensions;
  std::vector<Run> runs;
  std::size_t batch, group, out;  // the dimensions of the space with these names
  Shape extents;
  Coordinates at;
  Coordinates elements;  // coordinates in the depth: the elements of the kernel, and the channel in the group

  Part(const Node& n, const Sizes& s, const Dimensions& all, std::vector<Run> chosen)
      : node(n), sizes(s), dimensions(all), runs(std::move(chosen)), batch(all.size()) {
    group = batch + all.size() + (s.out == 1 ? 1 : 0);
    out = batch + all.size() + 2;
    Shape in_depth;
    for (const Run& run : runs) extents.push_back(run.count), in_depth.push_back(run.elements);
    in_depth.push_back(s.channels);
    extents.push_back(s.batch);
    for (const Run& run : runs) extents.push_back(run.places);
    extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(group), s.groups);
    extents.insert(extents.end(), {s.out, element_count(in_depth)});
    at = tensor::identity(extents);
    elements = unflattened(at.back(), in_depth);
  }
  std::size_t place(std::size_t d) const { return batch + 1 + d < group ? batch + 1 + d : batch + 2 + d; }
  Expr channel() const { return at[group] * sizes.channels + elements.back(); }
  Expr out_channel() const { return at[group] * sizes.out + at[out]; }

  int inputs(Emitter& e, int padded) const {
    Coordinates coordinates = {at[batch]};
    for (std::size_t d = 0; d < runs.size(); ++d)
      coordinates.push_back(dimensions[d].at(runs[d], at[d], at[place(d)], elements[d]));
    coordinates.push_back(channel());
    return map(e, padded, std::move(coordinates), "inputs");
  }
  int weights(Emitter& e, int weight) const {
    Coordinates coordinates = {out_channel(), elements.back()};
    if (node.flag("transposed")) coordinates = {channel(), at[out]};
    for (std::size_t d = 0; d < runs.size(); ++d)
      coordinates.push_back(dimensions[d].element(runs[d], at[d], elements[d]));
    return map(e, weight, std::move(coordinates), "weights");
  }
  int sums(Emitter& e, int padded, int weight) const {
    const int product = e.elementwise(Op::multiply, {inputs(e, padded), weights(e, weight)}, "ew");
    return e.reduce(Op::add, product, {static_cast<std::int64_t>(extents.size()) - 1}, "reduce");
  }
  /// Returns the branch for the elements of the result that this part computes: those at places that read anything and
  /// whose phases are in the runs. The condition selects these elements. The coordinates are those of the space, with
  /// depth 0.
  tensor::IndexMap::Branch branch(int arg, const Shape& result) const {
    const Coordinates to = tensor::identity(result);
    Coordinates sum(extents.size(), 0);
    Expr mine = 1;
    sum[batch] = to[0];
    sum[group] = to[1] / sizes.out;
    sum[out] = to[1] % sizes.out;
    for (std::size_t d = 0; d < runs.size(); ++d) {
      const Dimension& dimension = dimensions[d];
      const Expr reader = dimension.reader(to[2 + d]);
      mine = both(both(mine, dimension.reads(to[2 + d])), dimension.is_in(runs[d], reader));
      sum[d] = dimension.index_in(runs[d], reader);
      sum[place(d)] = dimension.place_in(runs[d], reader);
    }
    const Ranges ranges = tensor::coordinate_ranges(result);
    for (Expr& coordinate : sum) coordinate = simplify(coordinate, ranges);
    return {arg, std::move(sum), simplify(mine, ranges)};
  }

 private:
  int map(Emitter& e, int x, Coordinates coordinates, std::string_view suffix) const {
    for (Expr& coordinate : coordinates) coordinate = simplify(coordinate, tensor::coordinate_ranges(extents));
    return e.map(x, extents, std::move(coordinates), suffix);
  }
};

/// Returns every choice of one run per dimension.
std::vector<std::vector<Run>> choices(const Dimensions& dimensions) {
  std::vector<std::vector<Run>> result = {{}};
  for (const Dimension& dimension : dimensions) {
    std::vector<std::vector<Run>> longer;
    for (const std::vector<Run>& chosen : result)
      for (const Run& run : dimension.runs()) {
        longer.push_back(chosen);
        longer.back().push_back(run);
      }
    result = std::move(longer);
  }
  return result;
}

/// Adds the bias. `channel`: the channel of an element of x.
int with_bias(Emitter& e, const TensorCall& call, int x, const Expr& channel) {
  Coordinates place = {simplify(channel, tensor::coordinate_ranges(e.shape(x)))};
  const int bias = e.map(e.convert(call.args[2], call.dtype()), e.shape(x), std::move(place), "bias");
  return e.elementwise(Op::add, {x, bias}, "add");
}

int decompose_convolution(Emitter& e, const TensorCall& call) {
  const Sizes sizes = sizes_of(call.node, call.arg(0).type.shape, call.arg(1).type.shape);
  const DType t = call.dtype();
  Dimensions dimensions;
  for (std::size_t d = 0; d < sizes.places.size(); ++d) dimensions.emplace_back(call.node, sizes, d);
  const int x = padded(e, e.convert(call.args[0], t), dimensions), weight = e.convert(call.args[1], t);
  const bool all_read = std::ranges::all_of(dimensions, &Dimension::all_read), has_bias = call.args.size() == 3;
  tensor::IndexMap joined;
  std::vector<int> sums;
  for (std::vector<Run>& runs : choices(dimensions)) {
    const Part part(call.node, sizes, dimensions, std::move(runs));
    joined.branches.push_back(part.branch(static_cast<int>(sums.size()), call.shape()));
    const int sum = part.sums(e, x, weight);
    sums.push_back(all_read && has_bias ? with_bias(e, call, sum, part.out_channel()) : sum);
  }
  if (all_read) {
    joined.branches.back().condition = 1;
  } else {
    joined.branches.push_back({static_cast<int>(sums.size()), {}, 1});
    sums.push_back(e.fill(e.scalar(0, t, "outside"), {}, "filler"));
  }
  const int result = e.branches(std::move(sums), {t, call.shape()}, std::move(joined), "sum");
  return has_bias && !all_read ? with_bias(e, call, result, tensor::identity(call.shape())[1]) : result;
}

// In expressions and `.pt2` files

/// A call's arguments. x has a batch dimension, even if the call's input has none.
struct Arguments {
  std::size_t dims;
  Id x;
  bool batched;
  std::vector<Id> weight_and_bias;
};

// Returns the number of dimensions: a digit of the function's name or, if the name has none (`aten.convolution`), the
// weight's rank less 2.
std::size_t dims_of(const Given& g, Id weight) {
  const std::string_view name = g.name();
  const std::size_t digit = name.find_first_of("123");
  if (digit != std::string_view::npos) return static_cast<std::size_t>(name[digit] - '0');
  return std::max<std::size_t>(g.rank(weight), 3) - 2;
}

Arguments arguments(const Given& g) {
  const Id x = g.tensor("input"), weight = g.tensor("weight");
  Arguments a = {dims_of(g, weight), x, true, {weight}};
  if (g.has("bias")) a.weight_and_bias.push_back(g.tensor("bias"));
  a.batched = g.rank(x) != a.dims + 1;
  if (g.rank(weight) != a.dims + 2) g.refuse(fmt::format("a weight of {} dimensions", a.dims + 2), weight);
  if (a.batched && g.rank(x) != a.dims + 2)
    g.refuse(fmt::format("an input of {} or {} dimensions", a.dims + 1, a.dims + 2), x);
  if (!a.batched) a.x = g.unsqueeze(x, 0);
  return a;
}

Id convolve(const Given& g, const Arguments& a, Attributes attributes) {
  std::vector<Id> args = {a.x};
  args.insert(args.end(), a.weight_and_bias.begin(), a.weight_and_bias.end());
  attributes["groups"] = g.integer("groups", 1);
  const Id result = g.call("convolution", std::move(args), std::move(attributes));
  return a.batched ? result : g.call("select", {result}, {{"dim", std::int64_t{0}}, {"index", std::int64_t{0}}});
}

/// Returns the padding for padding='same', with which the result has the extents of x. If a dimension's padding is odd,
/// the additional element is added after those of x.
Shape same_padding(const Given& g, Arguments& a, const Shape& stride, const Shape& dilation) {
  const Shape kernel = behind(g.shape(a.weight_and_bias[0]), 2);
  if (std::ranges::any_of(stride, [](std::int64_t s) { return s != 1; })) g.fail("stride", "1 if padding is 'same'");
  Shape padding, pad;
  bool even = true;
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    const std::int64_t total = dilation[d] * (kernel[d] - 1);
    padding.push_back(total / 2);
    even &= total % 2 == 0;
    pad.insert(pad.begin(), {0, total % 2});
  }
  if (!even) a.x = g.call("pad", {a.x}, {{"pad", pad}});
  return padding;
}

/// Pads the input as nn.Conv2d(padding_mode='reflect') does. If a dimension's padding is odd, the additional element is
/// added after those of x.
Id padded(const Given& g, const Arguments& a, const Shape& padding, const Shape& dilation) {
  const bool same = g.is_text("padding") && g.text("padding", "") == "same";
  const Shape kernel = behind(g.shape(a.weight_and_bias[0]), 2);
  Shape pad;
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    const std::int64_t total = same ? dilation[d] * (kernel[d] - 1) : 2 * padding[d];
    pad.insert(pad.begin(), {total / 2, total - total / 2});
  }
  return g.call("pad", {a.x}, {{"pad", pad}, {"mode", g.text("padding_mode", "")}});
}

Id conv(const Given& g) {
  Arguments a = arguments(g);
  const Shape stride = g.integers("stride", a.dims, 1), dilation = g.integers("dilation", a.dims, 1);
  Shape padding(a.dims, 0);
  if (!g.is_text("padding")) padding = g.integers("padding", a.dims, 0);
  if (g.text("padding_mode", "zeros") != "zeros") {
    a.x = padded(g, a, padding, dilation);
    padding.assign(a.dims, 0);
  } else if (g.is_text("padding")) {
    if (g.text("padding", "") == "same")
      padding = same_padding(g, a, stride, dilation);
    else if (g.text("padding", "") != "valid")
      g.fail("padding", "numbers, 'same' or 'valid'");
  }
  return convolve(g, a, {{"stride", stride}, {"padding", padding}, {"dilation", dilation}});
}

Attributes transposed_attributes(const Given& g, std::size_t dims) {
  return {{"stride", g.integers("stride", dims, 1)},
          {"padding", g.integers("padding", dims, 0)},
          {"dilation", g.integers("dilation", dims, 1)},
          {"output_padding", g.integers("output_padding", dims, 0)},
          {"transposed", true}};
}

Id conv_transpose(const Given& g) {
  const Arguments a = arguments(g);
  return convolve(g, a, transposed_attributes(g, a.dims));
}

Id any_convolution(const Given& g) {
  g.ignore({"benchmark", "deterministic", "cudnn_enabled", "allow_tf32"});
  const bool transposed = g.flag("transposed", false);
  g.ignore({"output_padding"});
  return transposed ? conv_transpose(g) : conv(g);
}

constexpr std::string_view forward = "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1";
constexpr std::string_view backward =
    "input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1";

constexpr std::string_view of_module =
    "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, padding_mode='zeros'";

}  // namespace

// clang-format off
std::vector<Operation> convolution_operations() {
  constexpr unsigned both = in_functional | in_torch;
  return {
      {"convolution", 2, 3, convolution_attributes, infer_convolution, evaluate_convolution, decompose_convolution,
       {{"conv1d", both, forward, call_made<conv>}, {"conv2d", both, forward, call_made<conv>},
        {"conv3d", both, forward, call_made<conv>}, {"conv_transpose1d", both, backward, call_made<conv_transpose>},
        {"conv_transpose2d", both, backward, call_made<conv_transpose>},
        {"conv_transpose3d", both, backward, call_made<conv_transpose>},
        {"Conv1d", of_modules_only, of_module, call_made<conv>},
        {"Conv2d", of_modules_only, of_module, call_made<conv>},
        {"Conv3d", of_modules_only, of_module, call_made<conv>}},
       {{"aten.conv1d", read_made<conv>}, {"aten.conv2d", read_made<conv>}, {"aten.conv3d", read_made<conv>},
        {"aten.conv_transpose1d", read_made<conv_transpose>}, {"aten.conv_transpose2d", read_made<conv_transpose>},
        {"aten.conv_transpose3d", read_made<conv_transpose>}, {"aten.convolution", read_made<any_convolution>},
        {"aten._convolution", read_made<any_convolution>}}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
