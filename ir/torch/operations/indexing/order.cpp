// Elements in their order, by size or by place.
//   argsort(T, dim, descending=false)   searchsorted(T sequence, T values, right=false)
//   cummax cummin cumprod cumsum(T, dim)
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "ir/torch/operations/family.h"
#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace {

using tensor::coordinate;
using tensor::identity;

// Sorting compares each element with each other one: 2^14 of them take 2^28 comparisons a row, a tenth of a second.
constexpr std::int64_t most_compared = std::int64_t{1} << 14;

std::size_t dim_of(const Node& node) { return static_cast<std::size_t>(node.integer("dim")); }

// The lines along one dimension: calls f with where each begins and the distance of its elements.
template <class F>
void for_each_line(const Shape& shape, std::size_t dim, F&& f) {
  Shape lines = shape, strides = row_major_strides(shape);
  lines[dim] = 1;
  for_each_index(lines, std::array{strides},
                 [&](std::size_t start) { f(start, static_cast<std::size_t>(strides[dim])); });
}

// argsort

constexpr AttributeSpec argsort_attributes[] = {{"dim", Kind::integer, std::int64_t{-1}},
                                                {"descending", Kind::flag, false}};

TensorType infer_argsort(const Inference& call) {
  if (call.rank(0) == 0) call.expected("a tensor of at least one dimension");
  const std::int64_t dim = call.normalise_dim("dim", call.rank(0));
  const std::int64_t count = call.shape(0)[static_cast<std::size_t>(dim)];
  if (count > most_compared)
    call.expected(fmt::format("at most {} elements to sort, each of which is compared with each", most_compared),
                  std::to_string(count));
  return {DType::i64, call.shape(0)};
}

// NaN is the greatest.
bool is_less(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

Values evaluate_argsort(const Operands& o) {
  Values result(o.result_count());
  const std::size_t dim = dim_of(o.node);
  std::vector<std::size_t> order(static_cast<std::size_t>(o.result()[dim]));
  for_each_line(o.result(), dim, [&](std::size_t start, std::size_t stride) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto value = [&](std::size_t i) { return o.value(0)[start + i * stride]; };
    std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) {
      return o.node.flag("descending") ? is_less(value(j), value(i)) : is_less(value(i), value(j));
    });
    for (std::size_t i = 0; i < order.size(); ++i) result[start + i * stride] = static_cast<double>(order[i]);
  });
  return result;
}

// a < b, where NaN is the greatest: a is a number, and b is not below or equal to it.
int less(Emitter& e, int a, int b) {
  if (!is_float(e.dtype(a))) return e.elementwise(Op::less, {a, b}, "less");
  const int number = e.elementwise(Op::equal, {a, a}, "number");
  const int not_above = e.elementwise(Op::less_equal, {b, a}, "not_above");
  return e.elementwise(Op::logical_and, {number, e.elementwise(Op::logical_not, {not_above}, "above")}, "less");
}

// How many of all elements come before each one: of equal ones the first.
int ranks(Emitter& e, int x, std::size_t dim, bool descending) {
  const Pairs pairs(e, e.shape(x), dim, e.shape(x)[dim]);
  const int one = pairs.at_first(x, "one"), other = pairs.at_second(x, "other");
  const int above = descending ? less(e, one, other) : less(e, other, one);
  const int below = descending ? less(e, other, one) : less(e, one, other);
  const int is_earlier =
      e.coordinate(ir::less(pairs.second(), pairs.first()), {DType::boolean, pairs.space()}, "earlier");
  const int before =
      e.elementwise(Op::select, {is_earlier, e.elementwise(Op::logical_not, {below}, "not_below"), above}, "before");
  return pairs.reduce(Op::add, e.convert(before, DType::i32));
}

// out[r] = sum over i of (i where ranks[i] == r): the one whose rank it is.
int decompose_argsort(Emitter& e, const TensorCall& call) {
  const std::size_t dim = dim_of(call.node);
  const DType t = accumulation_type(call.arg(0).type.dtype);
  const int rank = ranks(e, e.convert(call.args[0], t), dim, call.node.flag("descending"));
  const Pairs pairs(e, call.shape(), dim, call.shape()[dim]);
  const int here = e.coordinate(pairs.first(), {DType::i32, pairs.space()}, "rank");
  const int from = e.coordinate(pairs.second(), {DType::i32, pairs.space()}, "from");
  const int hit = e.elementwise(Op::equal, {pairs.at_second(rank, "ranks"), here}, "hit");
  const int found = e.elementwise(Op::select, {hit, from, e.scalar(0, DType::i32, "zero")}, "found");
  return e.convert(pairs.reduce(Op::add, found), call.dtype());
}

// Values and indices.
struct Sorted {
  Id values, indices;
};

// The first `count` of a dimension in their order; all of them where it is less than 0.
Sorted sorted(const Caller& c, Id x, std::int64_t dim, bool descending, std::int64_t count = -1) {
  Id indices = c.call("argsort", {x}, {{"dim", dim}, {"descending", descending}});
  if (count >= 0) indices = c.call("slice", {indices}, {{"dim", dim}, {"start", std::int64_t{0}}, {"end", count}});
  return {c.call("gather", {x, indices}, {{"dim", dim}}), indices};
}

void check_count(const Node& x, std::int64_t dim, std::int64_t count) {
  const Shape& shape = x.type.shape;
  const auto wrapped = dim < 0 ? dim + static_cast<std::int64_t>(shape.size()) : dim;
  if (wrapped < 0 || wrapped >= static_cast<std::int64_t>(shape.size())) return;  // argsort says it
  const std::int64_t extent = shape[static_cast<std::size_t>(wrapped)];
  if (count < 0 || count > extent) throw Error(fmt::format("topk: expected a k from 0 to {}, found {}", extent, count));
}

python::Value pair(const Sorted& s) {
  return python::make_pair({python::Tensor{s.values}}, {python::Tensor{s.indices}});
}

python::Value call_argsort(const python::Call& c) {
  return c.node({c.tensor("input")}, {{"dim", c.integer("dim")}, {"descending", c.flag("descending")}});
}

python::Value call_sort(const python::Call& c) {
  return pair(sorted(caller_of(c), c.tensor("input"), c.integer("dim"), c.flag("descending")));
}

// Sorted in any case, which PyTorch leaves open where `sorted` is False.
python::Value call_topk(const python::Call& c) {
  const Id x = c.tensor("input");
  check_count(c.session.node(x), c.integer("dim"), c.integer("k"));
  return pair(sorted(caller_of(c), x, c.integer("dim"), c.flag("largest"), c.integer("k")));
}

std::vector<Id> read_argsort(pt2::Call& call) {
  call.ignore({"stable"});
  const Id x = call.tensor("self");
  return call.node({x}, {{"dim", call.integer("dim", -1)}, {"descending", call.flag("descending", false)}});
}

std::vector<Id> read_sort(pt2::Call& call) {
  call.ignore({"stable"});
  const Id x = call.tensor("self");
  const Sorted s = sorted(caller_of(call), x, call.integer("dim", -1), call.flag("descending", false));
  return {s.values, s.indices};
}

std::vector<Id> read_topk(pt2::Call& call) {
  call.ignore({"sorted"});
  const Id x = call.tensor("self");
  const std::int64_t k = call.integer("k"), dim = call.integer("dim", -1);
  check_count(call.builder().node(x), dim, k);
  const Sorted s = sorted(caller_of(call), x, dim, call.flag("largest", true), k);
  return {s.values, s.indices};
}

// searchsorted

constexpr AttributeSpec searchsorted_attributes[] = {{"right", Kind::flag, false}};

TensorType infer_searchsorted(const Inference& call) {
  if (call.rank(0) != 1) call.expected("a sorted sequence of one dimension");
  if (call.shape(0)[0] > most_compared)
    call.expected(
        fmt::format("a sequence of at most {} elements, with each of which values are compared", most_compared),
        std::to_string(call.shape(0)[0]));
  check_one_dtype(call, 2);
  return {DType::i64, call.shape(1)};
}

Values evaluate_searchsorted(const Operands& o) {
  Values result;
  for (const double value : o.value(1)) {
    const auto is_below = [&](double x) { return o.node.flag("right") ? !is_less(value, x) : is_less(x, value); };
    result.push_back(static_cast<double>(std::ranges::count_if(o.value(0), is_below)));
  }
  return result;
}

// How many of the sequence are less, or (right) not greater.
int decompose_searchsorted(Emitter& e, const TensorCall& call) {
  const bool wide = call.arg(0).type.dtype == DType::i64 || call.arg(1).type.dtype == DType::i64;
  const DType t = wide ? DType::i64 : accumulation_type(call.arg(0).type.dtype);
  const std::size_t last = call.shape().size();
  Shape space = call.shape();
  space.push_back(e.extent(call.args[0], 0));
  Coordinates rest = identity(space);
  const int boundary = e.map(e.convert(call.args[0], t), space, {rest.back()}, "boundary");
  rest.pop_back();
  const int value = e.map(e.convert(call.args[1], t), space, std::move(rest), "value");
  const int below = call.node.flag("right") ? e.elementwise(Op::logical_not, {less(e, value, boundary)}, "not_above")
                                            : less(e, boundary, value);
  const Dims over = {static_cast<std::int64_t>(last)};
  const int count = e.drop(e.reduce(Op::add, e.convert(below, DType::i32), over, "sum"), over, "dropped");
  return e.convert(count, call.dtype());
}

// Both names of it, and the words by which they say on which side of an equal element a value lies.
python::Value search(const python::Call& c, std::string_view sequence, std::string_view values, bool right) {
  const Id boundaries = c.tensor(sequence);
  return c.node({boundaries, c.tensor(values)}, {{"right", right}});
}

python::Value call_searchsorted(const python::Call& c) {
  bool right = c.flag("right");
  if (c.given("side")) {
    if (c.text("side") != "left" && c.text("side") != "right") c.fail("side", "'left' or 'right'");
    right = c.text("side") == "right";
  }
  return search(c, "sorted_sequence", "input", right);
}

python::Value call_bucketize(const python::Call& c) { return search(c, "boundaries", "input", c.flag("right")); }

std::vector<Id> read_searchsorted(pt2::Call& call) {
  call.ignore({"out_int32"});
  const bool right = call.flag("right", false) || call.text("side", "left") == "right";
  const Id sequence = call.tensor("sorted_sequence");
  return call.node({sequence, call.tensor("self")}, {{"right", right}});
}

std::vector<Id> read_bucketize(pt2::Call& call) {
  call.ignore({"out_int32"});
  const Id boundaries = call.tensor("boundaries");
  return call.node({boundaries, call.tensor("self")}, {{"right", call.flag("right", false)}});
}

// cumsum

constexpr AttributeSpec cumsum_attributes[] = {{"dim", Kind::integer, Required{}}};

TensorType infer_cumsum(const Inference& call) {
  if (call.rank(0) == 0) call.expected("a tensor of at least one dimension");
  call.normalise_dim("dim", call.rank(0));
  return {is_float(call.dtype(0)) ? call.dtype(0) : DType::i64, call.shape(0)};
}

Values evaluate_cumsum(const Operands& o) {
  Values result = o.value(0);
  const std::size_t dim = dim_of(o.node);
  for_each_line(o.result(), dim, [&](std::size_t start, std::size_t stride) {
    double total = 0, magnitudes = 0;
    for (std::size_t i = start; i < start + static_cast<std::size_t>(o.result()[dim]) * stride; i += stride) {
      total += result[i];
      if (std::isfinite(result[i])) magnitudes += std::abs(result[i]);
      result[i] = o.sum(total, magnitudes);
    }
  });
  return result;
}

template <Op op>
int decompose_scan(Emitter& e, const TensorCall& call) {
  const int x = e.convert(call.args[0], accumulation_type(call.dtype()));
  return e.convert(e.scan(op, x, call.node.integer("dim"), "scan"), call.dtype());
}

// In double, which overflows much later than f32; but a 0 that an overflow follows is none in f32.
Values evaluate_cumprod(const Operands& o) {
  Values result = o.value(0);
  const std::size_t dim = dim_of(o.node);
  for_each_line(o.result(), dim, [&](std::size_t start, std::size_t stride) {
    double product = 1;
    for (std::size_t i = start; i < start + static_cast<std::size_t>(o.result()[dim]) * stride; i += stride)
      result[i] = product *= result[i];
  });
  return result;
}

TensorType infer_extreme(const Inference& call) {
  if (call.rank(0) == 0) call.expected("a tensor of at least one dimension");
  call.normalise_dim("dim", call.rank(0));
  return call.arg(0).type;
}

// NaN is an extreme, and stays one.
template <bool largest>
Values evaluate_extreme(const Operands& o) {
  Values result = o.value(0);
  const std::size_t dim = dim_of(o.node);
  for_each_line(o.result(), dim, [&](std::size_t start, std::size_t stride) {
    for (std::size_t i = start + stride; i < start + static_cast<std::size_t>(o.result()[dim]) * stride; i += stride) {
      const double before = result[i - stride];
      const bool is_passed = std::isnan(before) || (largest ? result[i] < before : before < result[i]);
      if (is_passed) result[i] = before;
    }
  });
  return result;
}

// The values, and the last index that has each: PyTorch's comparison with the extreme so far is `>=` or `<=`.
template <bool largest>
std::vector<Id> running_extreme(const Given& g) {
  const Id x = g.tensor("input");
  g.require_float(x);
  if (g.rank(x) == 0) g.refuse("at least one dimension", x);
  const std::size_t dim = g.dim(g.integer("dim", 0), g.rank(x));
  const Attributes along = {{"dim", static_cast<std::int64_t>(dim)}};
  const Id extreme = g.call(largest ? "cummax" : "cummin", {x}, along);
  Shape line(g.rank(x), 1);
  line[dim] = g.shape(x)[dim];
  const Id place = g.reshape(g.call("arange", {}, {{"end", line[dim]}}), line);
  const Id hit = g.apply("logical_or", g.apply("eq", x, extreme), g.apply("ne", x, x));
  const Id index = g.call("cummax", {g.where(hit, place, g.caller().scalar(0, DType::i32))}, along);
  return {extreme, g.to(index, DType::i64)};
}

python::Value call_cumsum(const python::Call& c) { return c.node({c.converted("input")}, {{"dim", c.integer("dim")}}); }

std::vector<Id> read_cumsum(pt2::Call& call) {
  const Id x = call.converted("self");
  return call.node({x}, {{"dim", call.integer("dim")}});
}

}  // namespace

// clang-format off
std::vector<Operation> order_operations() {
  return {
      {"argsort", 1, 1, argsort_attributes, infer_argsort, evaluate_argsort, decompose_argsort,
       {{"argsort", either, "input, dim=-1, descending=False, *, stable=False", call_argsort},
        {"sort", either, "input, dim=-1, descending=False, *, stable=False", call_sort},
        {"topk", either, "input, k, dim=-1, largest=True, sorted=True", call_topk}},
       {{"aten.argsort", read_argsort}, {"aten.sort", read_sort}, {"aten.topk", read_topk}}},
      {"cummax", 1, 1, cumsum_attributes, infer_extreme, evaluate_extreme<true>, decompose_scan<Op::maximum>,
       {{"cummax", either, "input, dim", call_made<running_extreme<true>>}},
       {{"aten.cummax", read_made<running_extreme<true>>}}},
      {"cummin", 1, 1, cumsum_attributes, infer_extreme, evaluate_extreme<false>, decompose_scan<Op::minimum>,
       {{"cummin", either, "input, dim", call_made<running_extreme<false>>}},
       {{"aten.cummin", read_made<running_extreme<false>>}}},
      {"cumprod", 1, 1, cumsum_attributes, infer_cumsum, evaluate_cumprod, decompose_scan<Op::multiply>,
       {{"cumprod", either, "input, dim, *, dtype=None", call_cumsum}},
       {{"aten.cumprod", read_cumsum}}},
      {"cumsum", 1, 1, cumsum_attributes, infer_cumsum, evaluate_cumsum, decompose_scan<Op::add>,
       {{"cumsum", either, "input, dim, *, dtype=None", call_cumsum}},
       {{"aten.cumsum", read_cumsum}}},
      {"searchsorted", 2, 2, searchsorted_attributes, infer_searchsorted, evaluate_searchsorted,
       decompose_searchsorted,
       {{"searchsorted", in_torch, "sorted_sequence, input, *, out_int32=False, right=False, side=None",
         call_searchsorted},
        {"bucketize", in_torch, "input, boundaries, *, out_int32=False, right=False", call_bucketize}},
       {{"aten.searchsorted", read_searchsorted}, {"aten.bucketize", read_bucketize}}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
