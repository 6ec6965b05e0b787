// Sorting along a dimension, and searches in sorted sequences.
//   argsort(T, dim, descending=false, count=all)   searchsorted(T sequence, T values, right=false)
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace sorting {
namespace {

using tensor::coordinate;
using tensor::identity;

constexpr std::int64_t vector = 16;  // f32 lanes of AVX-512, which sum 16 elements at once

// Inserts a dimension into a shape or into coordinates.
template <class Dimensions>
Dimensions with_dimension(Dimensions dimensions, std::size_t dim, typename Dimensions::value_type added) {
  dimensions.insert(dimensions.begin() + static_cast<std::ptrdiff_t>(dim), std::move(added));
  return dimensions;
}

Shape with_extent(Shape shape, std::size_t dim, std::int64_t extent) {
  shape[dim] = extent;
  return shape;
}

// argsort

// count: the number of leading elements of the sorted order; -1 means all.
constexpr AttributeSpec argsort_attributes[] = {{"dim", Kind::integer, std::int64_t{-1}},
                                                {"descending", Kind::flag, false},
                                                {"count", Kind::integer, std::int64_t{-1}}};

TensorType infer_argsort(const Inference& call) {
  if (call.rank(0) == 0) call.expected("a tensor of at least one dimension");
  Shape shape = call.shape(0);
  std::int64_t& extent = shape[static_cast<std::size_t>(call.normalise_dim("dim", call.rank(0)))];
  const std::int64_t count = call.node().integer("count");
  if (count == -1)
    call.set("count", extent);
  else if (count < 0 || count > extent)
    call.expected(fmt::format("a count from 0 to {}", extent), std::to_string(count));
  else
    extent = count;
  return {DType::i64, shape};
}

// NaN is greater than all numbers.
bool is_less(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

Values evaluate_argsort(const Operands& o) {
  Values result(o.result_count());
  const std::size_t dim = dim_of(o.node);
  std::vector<std::size_t> order(static_cast<std::size_t>(o.shape(0)[dim]));
  const Shape from = row_major_strides(o.shape(0)), to = row_major_strides(o.result());
  for_each_index(with_extent(o.result(), dim, 1), std::array{from, to}, [&](std::size_t first, std::size_t start) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto value = [&](std::size_t i) { return o.value(0)[first + i * static_cast<std::size_t>(from[dim])]; };
    std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) {
      return o.node.flag("descending") ? is_less(value(j), value(i)) : is_less(value(i), value(j));
    });
    for (std::size_t i = 0; i < static_cast<std::size_t>(o.result()[dim]); ++i)
      result[start + i * static_cast<std::size_t>(to[dim])] = static_cast<double>(order[i]);
  });
  return result;
}

// a < b, where NaN is the greatest. That is: a is not NaN, and b <= a does not hold.
int less(Emitter& e, int a, int b) {
  if (!is_float(e.dtype(a))) return e.elementwise(Op::less, {a, b}, "less");
  const int number = e.elementwise(Op::equal, {a, a}, "number");
  const int not_above = e.elementwise(Op::less_equal, {b, a}, "not_above");
  return e.elementwise(Op::logical_and, {number, e.elementwise(Op::logical_not, {not_above}, "above")}, "less");
}

/// Binary search: returns the greatest number from `start` to `limit` for which `holds` is true. If it is true for a
/// number, it must be true for all smaller ones. It is assumed to be true for `start`. `range`: upper bound on limit -
/// start.
template <class Holds>
int search(Emitter& e, int start, int limit, std::int64_t range, Holds&& holds) {
  int found = start;
  for (std::uint64_t step = std::bit_floor(static_cast<std::uint64_t>(range)); step > 0; step /= 2) {
    const int by = e.scalar(static_cast<double>(step), DType::i32, "step");
    const int further = e.elementwise(Op::add, {found, by}, "further");
    const int inside = e.elementwise(Op::less_equal, {further, limit}, "inside");
    const int goes = e.elementwise(Op::logical_and, {inside, holds(further)}, "goes");
    found = e.elementwise(Op::select, {goes, further, found}, "found");
  }
  return found;
}

int minus_one(Emitter& e, int x) {
  return e.elementwise(Op::add, {x, e.scalar(-1, DType::i32, "minus_one")}, "one_less");
}

/// A line that is split into runs of equal length. The last run may be shorter.
struct Line {
  std::int64_t count, run;
  std::int64_t runs() const { return (count + run - 1) / run; }
  bool has_short_run() const { return count % run != 0; }
  /// Returns the line after each `together` neighbouring runs are joined to one, of which the first `kept` elements
  /// stay.
  Line joined(std::int64_t together, std::int64_t kept) const {
    const std::int64_t others = (runs() - 1) / together;
    return {others * kept + std::min(count - others * together * run, kept), kept};
  }
};

/// Sorts lines along a dimension. Short runs are sorted by comparing all pairs of their elements, which vectorises
/// because the order of computation does not matter. Then neighbouring runs are merged. If only a few elements of a
/// long line are needed, only those that can be among them are sorted.
class Sorter {
 public:
  Sorter(Emitter& e, std::size_t dim, bool descending) : e_(e), dim_(dim), descending_(descending) {}

  /// Returns the indices of the first `count` elements in sorted order.
  int indices(int x, std::int64_t count) const {
    if (const std::int64_t group = group_of(e_.shape(x)[dim_], count); group > 0) return few(x, group, count);
    Runs runs = sort_runs(x, run_of(e_.shape(x)[dim_], count), count);
    while (runs.line.runs() > 1) runs = merge(runs, std::min(2 * runs.line.run, count));
    return runs.indices;
  }

 private:
  /// Consecutive sorted runs: their elements, and the elements' indices in the whole line.
  struct Runs {
    int values, indices;
    Line line;
  };

  static std::int64_t group_of(std::int64_t count, std::int64_t kept);
  static std::int64_t run_of(std::int64_t count, std::int64_t kept);
  int few(int x, std::int64_t group, std::int64_t count) const;
  int first_of_groups(int x, std::int64_t group) const;
  Runs sort_runs(int x, std::int64_t run, std::int64_t keep) const;
  Runs merge(const Runs&, std::int64_t keep) const;
  int ranks(int x, const Line&) const;
  int sum_where(const Pairs&, int condition, int x) const;
  int is_first(int a, int b) const;
  int at(int line, int places) const;

  Emitter& e_;
  std::size_t dim_;
  bool descending_;
};

// Returns the length of the groups into which a line is cut to find its first `kept` elements, or 0 if all elements are
// to be sorted. The number of elements that are sorted then, count / group + kept * group, is about the smallest.
std::int64_t Sorter::group_of(std::int64_t count, std::int64_t kept) {
  // More kernels are launched in this way. On two cores of an EPYC (Zen 3), they took 1.3 times as long for 2 of 8 x
  // 256 elements, and half of the time for 8 of 64 x 1000.
  constexpr std::int64_t long_line = 512;
  if (count < long_line || kept == 0) return 0;
  const auto best = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(count / kept)));
  const auto group = static_cast<std::int64_t>(std::bit_floor(std::max<std::uint64_t>(best, vector)));
  // The elements that are left are sorted with twice as many kernels, so they should be far fewer.
  return 4 * (count / group + kept * group) <= count ? group : 0;
}

// Finds the first `count` elements of long lines. A line is cut into groups, which are ordered by their first elements
// in sorted order. Each group before another one has an element that precedes all of the other's. So only elements of
// the first `count` groups, and the elements after the last whole group, can be among the result. They are sorted in
// the order in which they stand in the line, so that equal elements keep it.
int Sorter::few(int x, std::int64_t group, std::int64_t count) const {
  const std::int64_t extent = e_.shape(x)[dim_], rest = extent % group, of_groups = count * group;
  const int best = indices(first_of_groups(x, group), count);
  const int groups = at(best, Sorter(e_, dim_, false).indices(best, count));
  const Shape shape = with_extent(e_.shape(x), dim_, of_groups + rest);
  Coordinates from = identity(shape);
  const Expr place = from[dim_];
  from[dim_] = min(place / group, count - 1);
  int candidates = e_.whole(index_below(extent / group) * group + place % group,
                            {e_.map(groups, shape, std::move(from), "group")}, "of_group");
  if (rest > 0) {
    const int is_behind = e_.coordinate(ir::less(of_groups - 1, place), {DType::boolean, shape}, "behind");
    const int behind = e_.coordinate(place + (extent - rest - of_groups), {DType::i32, shape}, "behind_groups");
    candidates = e_.elementwise(Op::select, {is_behind, behind, candidates}, "candidate");
  }
  return at(candidates, indices(at(x, candidates), count));
}

// Returns the first element in sorted order of each whole group of a line.
int Sorter::first_of_groups(int x, std::int64_t group) const {
  const Shape lines = with_extent(e_.shape(x), dim_, e_.shape(x)[dim_] / group);
  const Pairs places(e_, lines, dim_, group);
  Coordinates from = identity(lines), all = identity(places.space());
  from[dim_] = from[dim_] * group;
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(dim_) + 1);
  all[dim_] = places.first() * group + places.second();
  const int element = e_.map(x, places.space(), std::move(all), "of_group");
  if (descending_) return places.reduce(Op::maximum, element);  // which is NaN if an element is
  if (!is_float(e_.dtype(x))) return places.reduce(Op::minimum, element);
  const int is_number = e_.elementwise(Op::equal, {element, element}, "number");
  const int large = e_.scalar(infinity, e_.dtype(x), "large");
  const int least = places.reduce(Op::minimum, e_.elementwise(Op::select, {is_number, element, large}, "or_large"));
  const int numbers = places.reduce(Op::maximum, e_.convert(is_number, DType::i32));
  const int has_number = e_.elementwise(Op::less, {e_.scalar(0, DType::i32, "none"), numbers}, "has_number");
  return e_.elementwise(Op::select, {has_number, least, e_.map(x, lines, std::move(from), "first")}, "least");
}

// Returns the length of a run. Runs are whole vectors of about the same length, because a merge is not faster if one of
// its runs is short. They are at least half as long as the limit, so that at most half of a run's elements are kept.
std::int64_t Sorter::run_of(std::int64_t count, std::int64_t kept) {
  // On two cores of an EPYC, runs of 64, 128 and 256 sort 100,000 elements equally fast. Longer runs need fewer
  // kernels.
  const std::int64_t longest = std::min<std::int64_t>(256, std::max(4 * kept, 4 * vector));
  if (count <= longest) return count;
  const auto min_runs = static_cast<std::uint64_t>((count + longest - 1) / longest);
  const auto runs = static_cast<std::int64_t>(std::bit_ceil(min_runs));
  return (count + runs * vector - 1) / (runs * vector) * vector;
}

// Whether `a` precedes `b` in sorted order. `b` comes after `a` in the line, so equal elements keep their order.
int Sorter::is_first(int a, int b) const {
  return e_.elementwise(Op::logical_not, {descending_ ? less(e_, a, b) : less(e_, b, a)}, "first");
}

// Returns the elements of a line at `places`, which are clamped to the line.
int Sorter::at(int line, int places) const {
  Coordinates from = identity(e_.shape(places));
  from[dim_] = index_below(e_.shape(line)[dim_]);
  return e_.gather(line, places, e_.shape(places), std::move(from), "at");
}

// Sums `x` over the second positions at which the condition holds.
int Sorter::sum_where(const Pairs& pairs, int condition, int x) const {
  return pairs.reduce(Op::add, e_.elementwise(Op::select, {condition, x, e_.scalar(0, e_.dtype(x), "zero")}, "part"));
}

// Returns the rank of each element: the number of elements of its run that precede it. The padding of the last run gets
// a rank that no element has.
int Sorter::ranks(int x, const Line& line) const {
  const Pairs pairs(e_, e_.shape(x), dim_ + 1, line.run);
  const int one = pairs.at_first(x, "one"), other = pairs.at_second(x, "other");
  const auto condition = [&](const Expr& holds, const Shape& shape) {
    return e_.coordinate(holds, {DType::boolean, shape}, "condition");
  };
  const int is_later = e_.elementwise(Op::logical_not, {is_first(one, other)}, "later");
  const int is_earlier = condition(ir::less(pairs.second(), pairs.first()), pairs.space());
  int before = e_.elementwise(Op::select, {is_earlier, is_first(other, one), is_later}, "before");
  if (!line.has_short_run()) return pairs.reduce(Op::add, e_.convert(before, DType::i32));
  const Coordinates place = identity(pairs.space());
  const int counts = condition(ir::less(place[dim_] * line.run + pairs.second(), line.count), pairs.space());
  before = e_.elementwise(Op::logical_and, {before, counts}, "counted");
  const int rank = pairs.reduce(Op::add, e_.convert(before, DType::i32));
  const Coordinates own = identity(e_.shape(x));
  const int exists = condition(ir::less(own[dim_] * line.run + own[dim_ + 1], line.count), e_.shape(x));
  return e_.elementwise(Op::select, {exists, rank, e_.scalar(static_cast<double>(line.run), DType::i32, "none")},
                        "rank");
}

// Returns the first `keep` elements of each sorted run: position i of a run gets the element of rank i.
Sorter::Runs Sorter::sort_runs(int x, std::int64_t run, std::int64_t keep) const {
  const Line line{e_.shape(x)[dim_], run};
  // Rounded up to whole vectors, so that no two runs share a vector.
  const std::int64_t kept = line.runs() == 1 ? keep : std::min(run, (keep + vector - 1) / vector * vector);
  const Shape cut = with_dimension(with_extent(e_.shape(x), dim_, line.runs()), dim_ + 1, run);
  Coordinates from = identity(cut);
  const Expr place = min(from[dim_] * run + from[dim_ + 1], line.count - 1);
  from.erase(from.begin() + static_cast<std::ptrdiff_t>(dim_) + 1);
  from[dim_] = place;
  const int runs = e_.map(x, cut, std::move(from), "runs");
  const int rank = ranks(runs, line);
  const Pairs pairs(e_, with_extent(e_.shape(x), dim_, line.runs() * kept), dim_, run);
  const Expr start = pairs.first() / kept * run;
  Coordinates of_rank = identity(pairs.space());
  of_rank[dim_] = pairs.first() / kept;
  const int others = e_.map(rank, pairs.space(), std::move(of_rank), "ranks");
  const auto number = [&](const Expr& value) { return e_.coordinate(value, {DType::i32, pairs.space()}, "number"); };
  const int hit = e_.elementwise(Op::equal, {others, number(pairs.first() % kept)}, "hit");
  const int indices = sum_where(pairs, hit, number(start + pairs.second()));
  return {at(x, indices), indices, line.joined(1, kept)};
}

// Merges pairs of runs, and keeps the first `keep` elements of each merged run. At each place a binary search finds how
// many of the elements before it come from the first run (Odeh, Green et al., Merge Path, 2012).
Sorter::Runs Sorter::merge(const Runs& runs, std::int64_t keep) const {
  const Line &line = runs.line, merged = line.joined(2, keep);
  const Shape shape = with_extent(e_.shape(runs.values), dim_, merged.count);
  const Expr place = identity(shape)[dim_] % keep, first = identity(shape)[dim_] / keep * (2 * line.run);
  const Expr second = first + line.run, length = min(Expr(ExprOp::max, line.count - second, 0), line.run);
  const auto number = [&](const Expr& value) { return e_.coordinate(value, {DType::i32, shape}, "number"); };
  const int both = number(first + second + place);
  const auto opposite = [&](int end) { return e_.elementwise(Op::subtract, {both, end}, "opposite"); };
  // The elements that precede this place end at `end` in the first run, and at `second_end` in the second run.
  const int end = search(e_, number(first + Expr(ExprOp::max, place - length, 0)), number(first + min(place, line.run)),
                         line.run, [&](int further) {
                           return is_first(at(runs.values, minus_one(e_, further)), at(runs.values, opposite(further)));
                         });
  const int second_end = opposite(end);
  const int has_first = e_.elementwise(Op::less, {end, number(second)}, "has_first");
  const int is_out = e_.elementwise(Op::less_equal, {number(second + length), second_end}, "out");
  const int first_goes = is_first(at(runs.values, end), at(runs.values, second_end));
  const int is_turn = e_.elementwise(Op::logical_and,
                                     {has_first, e_.elementwise(Op::logical_or, {is_out, first_goes}, "goes")}, "turn");
  // The next element is selected by a sum over the two runs. Other kernels load sums from memory, but they recompute
  // other values each time, which here would repeat all earlier merges.
  const Pairs sides(e_, shape, dim_, 2);
  const int side = e_.coordinate(ir::equal(sides.second(), 0), {DType::boolean, sides.space()}, "side");
  const int from = e_.elementwise(
      Op::select, {side, sides.at_first(end, "first_end"), sides.at_first(second_end, "second_end")}, "from");
  const int turn = e_.elementwise(Op::equal, {side, sides.at_first(is_turn, "is_turn")}, "turn");
  const auto chosen = [&](int of_runs) {
    Coordinates at = identity(sides.space());
    at.erase(at.begin() + static_cast<std::ptrdiff_t>(dim_) + 1);
    at[dim_] = index_below(e_.shape(of_runs)[dim_]);
    return sum_where(sides, turn, e_.gather(of_runs, from, sides.space(), std::move(at), "given"));
  };
  return {chosen(runs.values), chosen(runs.indices), merged};
}

int decompose_argsort(Emitter& e, const TensorCall& call) {
  const std::size_t dim = dim_of(call.node);
  const int x = e.convert(call.args[0], accumulation_type(call.arg(0).type.dtype));
  return e.convert(Sorter(e, dim, call.node.flag("descending")).indices(x, call.shape()[dim]), call.dtype());
}

// Returns the first `count` elements along a dimension in sorted order, or all of them if `count` is negative; and
// their indices.
std::vector<Id> sorted(const Given& g, Id x, std::int64_t dim, bool descending, std::int64_t count = -1) {
  const Id indices = g.call("argsort", {x}, {{"dim", dim}, {"descending", descending}, {"count", count}});
  return {g.call("gather", {x, indices}, {{"dim", dim}}), indices};
}

void check_count(const Node& x, std::int64_t dim, std::int64_t count) {
  const Shape& shape = x.type.shape;
  const auto wrapped = dim < 0 ? dim + static_cast<std::int64_t>(shape.size()) : dim;
  if (wrapped < 0 || wrapped >= static_cast<std::int64_t>(shape.size())) return;  // argsort reports the error
  const std::int64_t extent = shape[static_cast<std::size_t>(wrapped)];
  if (count < 0 || count > extent) throw Error(fmt::format("topk: expected a k from 0 to {}, found {}", extent, count));
}

std::vector<Id> sort(const Given& g) {
  g.ignore({"stable"});
  return sorted(g, g.tensor("input"), g.integer("dim", -1), g.flag("descending", false));
}

// The result is always sorted. PyTorch leaves the order open if `sorted` is False.
std::vector<Id> topk(const Given& g) {
  g.ignore({"sorted"});
  const Id x = g.tensor("input");
  const std::int64_t k = g.integer("k"), dim = g.integer("dim", -1);
  check_count(g.node(x), dim, k);
  return sorted(g, x, dim, g.flag("largest", true), k);
}

std::vector<Id> read_argsort(pt2::Call& call) {
  call.ignore({"stable"});
  const Id x = call.tensor("self");
  return call.node({x}, {{"dim", call.integer("dim", -1)}, {"descending", call.flag("descending", false)}});
}

// searchsorted

constexpr AttributeSpec searchsorted_attributes[] = {{"right", Kind::flag, false}};

TensorType infer_searchsorted(const Inference& call) {
  const Shape &sequence = call.shape(0), &values = call.shape(1);
  const bool has_rows = sequence.size() > 1 && sequence.size() == values.size() &&
                        std::equal(sequence.begin(), sequence.end() - 1, values.begin());
  if (sequence.size() != 1 && !has_rows)
    call.expected("a sorted sequence of one dimension, or one for each row of the values");
  check_one_dtype(call, 2);
  return {DType::i64, call.shape(1)};
}

Values evaluate_searchsorted(const Operands& o) {
  const Values& values = o.value(1);
  const auto count = o.shape(0).back();
  const std::size_t columns = o.shape(0).size() == 1 ? values.size() : static_cast<std::size_t>(o.shape(1).back());
  Values result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto is_below = [&](double x) {
      return o.node.flag("right") ? !is_less(values[i], x) : is_less(x, values[i]);
    };
    const auto row = o.value(0).begin() + static_cast<std::int64_t>(i / columns) * count;
    result.push_back(static_cast<double>(std::count_if(row, row + count, is_below)));
  }
  return result;
}

// Whether the boundary is less than the value or, with `right`, not greater. The sequence and the values have one type.
int is_below(Emitter& e, int boundary, int value, bool right) {
  return right ? e.elementwise(Op::logical_not, {less(e, value, boundary)}, "not_above") : less(e, boundary, value);
}

/// Returns the coordinates of a boundary: the row is that of the value, if the sequence has rows.
Coordinates in_row(const Emitter& e, int sequence, Coordinates value, const Expr& index) {
  value.erase(value.begin() + static_cast<std::ptrdiff_t>(e.rank(sequence)) - 1, value.end());
  value.push_back(index);
  return value;
}

// Counts the boundaries below each value by comparing the value with all of them, which vectorises.
int count_all_below(Emitter& e, int sequence, int values, bool right) {
  const std::size_t last = e.rank(values);
  Shape space = e.shape(values);
  space.push_back(e.shape(sequence).back());
  Coordinates rest = identity(space);
  const int boundary = e.map(sequence, space, in_row(e, sequence, rest, rest.back()), "boundary");
  rest.pop_back();
  const int below = is_below(e, boundary, e.map(values, space, std::move(rest), "value"), right);
  const Dims over = {static_cast<std::int64_t>(last)};
  return e.drop(e.reduce(Op::add, e.convert(below, DType::i32), over, "sum"), over, "dropped");
}

// Counts the boundaries below each value by a binary search.
int search_below(Emitter& e, int sequence, int values, bool right) {
  const std::int64_t count = e.shape(sequence).back();
  const int none = e.coordinate(0, {DType::i32, e.shape(values)}, "none");
  const int all = e.scalar(static_cast<double>(count), DType::i32, "all");
  return search(e, none, all, count, [&](int further) {
    Coordinates at = in_row(e, sequence, identity(e.shape(values)), index_below(count));
    const int last = e.gather(sequence, minus_one(e, further), e.shape(values), std::move(at), "last");
    return is_below(e, last, values, right);
  });
}

int decompose_searchsorted(Emitter& e, const TensorCall& call) {
  // At this length, a search takes as long as all comparisons (on two cores of an EPYC).
  constexpr std::int64_t short_sequence = 256;
  const bool wide = call.arg(0).type.dtype == DType::i64 || call.arg(1).type.dtype == DType::i64;
  const DType t = wide ? DType::i64 : accumulation_type(call.arg(0).type.dtype);
  const int sequence = e.convert(call.args[0], t), values = e.broadcast(e.convert(call.args[1], t), call.shape());
  const auto count_below = e.shape(sequence).back() <= short_sequence ? count_all_below : search_below;
  return e.convert(count_below(e, sequence, values, call.node.flag("right")), call.dtype());
}

// Common part of searchsorted and bucketize. `right`: a value lies to the right of equal boundaries.
Id search(const Given& g, std::string_view sequence, bool right) {
  g.ignore({"out_int32"});
  const Id boundaries = g.tensor(sequence), searched = g.tensor("input");
  const DType common = promote_types(g.dtype(boundaries), g.dtype(searched));
  return g.call("searchsorted", {g.to(boundaries, common), g.to(searched, common)}, {{"right", right}});
}

Id searchsorted(const Given& g) {
  const std::string side = g.text("side", g.flag("right", false) ? "right" : "left");
  if (side != "left" && side != "right") g.fail("side", "'left' or 'right'");
  return search(g, "sorted_sequence", side == "right");
}

Id bucketize(const Given& g) {
  if (g.rank(g.tensor("boundaries")) != 1) g.refuse("boundaries of one dimension", g.tensor("boundaries"));
  return search(g, "boundaries", g.flag("right", false));
}

}  // namespace
}  // namespace sorting

// clang-format off
std::vector<Operation> sort_operations() {
  using namespace sorting;
  return {
      {"argsort", 1, 1, argsort_attributes, infer_argsort, evaluate_argsort, decompose_argsort,
       {{"argsort", either, "input, dim=-1, descending=False, *, stable=False", call_plain},
        {"sort", either, "input, dim=-1, descending=False, *, stable=False", call_with_indices<sort>},
        {"topk", either, "input, k, dim=-1, largest=True, sorted=True", call_with_indices<topk>}},
       {{"aten.argsort", read_argsort}, {"aten.sort", read_made<sort>}, {"aten.topk", read_made<topk>}}},
      {"searchsorted", 2, 2, searchsorted_attributes, infer_searchsorted, evaluate_searchsorted,
       decompose_searchsorted,
       {{"searchsorted", in_torch, "sorted_sequence, input, *, out_int32=False, right=False, side=None",
         call_made<searchsorted>},
        {"bucketize", in_torch, "input, boundaries, *, out_int32=False, right=False", call_made<bucketize>}},
       {{"aten.searchsorted", read_made<searchsorted>}, {"aten.bucketize", read_made<bucketize>}}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
