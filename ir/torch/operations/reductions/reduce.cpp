// Reductions of many elements to one.
//   sum mean amax amin prod logsumexp(T, dims=[] (all dimensions), keepdim=false)
//   var(T, dims, keepdim, correction=1)
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace {

constexpr AttributeSpec reduce_attributes[] = {{"dims", Kind::integers, Computed{}}, {"keepdim", Kind::flag, false}};
constexpr AttributeSpec var_attributes[] = {{"dims", Kind::integers, Computed{}},
                                            {"keepdim", Kind::flag, false},
                                            {"correction", Kind::integer, std::int64_t{1}}};

// Sets `dims` to the sorted dimensions, or to all dimensions if none are given. Returns the shape of the result.
Shape reduced_shape(const Inference& call) {
  Shape dims = call.has("dims") ? call.normalise_dims(call.rank(0)) : Shape{};
  if (dims.empty())
    for (std::int64_t i = 0; i < call.rank(0); ++i) dims.push_back(i);
  std::ranges::sort(dims);
  call.set("dims", dims);
  Shape shape;
  for (std::int64_t i = 0; i < call.rank(0); ++i) {
    const bool reduced = std::ranges::binary_search(dims, i);
    if (!reduced) shape.push_back(call.shape(0)[static_cast<std::size_t>(i)]);
    if (reduced && call.node().flag("keepdim")) shape.push_back(1);
  }
  return shape;
}

// The result for integers and booleans is i64.
TensorType infer_sum(const Inference& call) {
  return {is_float(call.dtype(0)) ? call.dtype(0) : DType::i64, reduced_shape(call)};
}

// An extremum needs at least one element.
TensorType infer_extremum(const Inference& call) {
  const Shape shape = reduced_shape(call);
  for (const std::int64_t dim : call.node().integers("dims"))
    if (call.shape(0)[static_cast<std::size_t>(dim)] == 0) call.expected("at least one element to reduce");
  return {call.dtype(0), shape};
}

TensorType infer_mean(const Inference& call) {
  check_float(call);
  return {call.dtype(0), reduced_shape(call)};
}

// Returns the strides of the result for the indices of the argument. The strides of reduced dimensions are 0.
Shape result_strides(const Operands& o) {
  Shape kept = o.shape(0);
  for (const std::int64_t dim : o.node.integers("dims")) kept[static_cast<std::size_t>(dim)] = 1;
  return broadcast_strides(kept, o.shape(0));
}

double reduced_count(const Operands& o) {
  return static_cast<double>(element_count(o.shape(0))) / static_cast<double>(element_count(o.result()));
}

template <class F>
Values reduce(const Operands& o, double start, F&& combine) {
  Values result(o.result_count(), start);
  const Values& x = o.value(0);
  for_each_index(o.shape(0), std::array{row_major_strides(o.shape(0)), result_strides(o)},
                 [&](std::size_t i, std::size_t j) { result[j] = combine(result[j], x[i], j); });
  return result;
}

/// Returns, for each element i of the result, the sum of f(x, i) over its elements x. Sums pass through Operands::sum.
template <class F>
Values sum_of(const Operands& o, F&& f) {
  Values result = reduce(o, 0, [&](double total, double x, std::size_t i) { return total + f(x, i); });
  const auto magnitude = [](double term) { return std::isfinite(term) ? std::abs(term) : 0; };
  const Values magnitudes =
      o.apart ? reduce(o, 0, [&](double total, double x, std::size_t i) { return total + magnitude(f(x, i)); })
              : result;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = o.sum(result[i], magnitudes[i]);
  return result;
}

Values evaluate_sum(const Operands& o) {
  return sum_of(o, [](double x, std::size_t) { return x; });
}

// Computed in double, which overflows and underflows much later than f32. The range of f32 is applied at the end, so an
// infinity keeps its sign. With `apart`, the factors below 1 and the others have separate products. So the result
// overflows or underflows if it does in some order of multiplications.
Values evaluate_prod(const Operands& o) {
  const auto product = [&](auto&& takes) {
    return reduce(o, 1, [&](double total, double x, std::size_t) { return takes(x) ? total * x : total; });
  };
  if (!o.apart) return product([](double) { return true; });
  Values result = product([](double x) { return std::abs(x) < 1; });
  const Values large = product([](double x) { return !(std::abs(x) < 1); });
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = in_f32_range(result[i]) * in_f32_range(large[i]);
  return result;
}

Values evaluate_amax(const Operands& o) {
  return reduce(o, -infinity, [](double a, double b, std::size_t) { return std::isnan(a) || a > b ? a : b; });
}

Values evaluate_amin(const Operands& o) {
  return reduce(o, infinity, [](double a, double b, std::size_t) { return std::isnan(a) || a < b ? a : b; });
}

Values evaluate_mean(const Operands& o) {
  Values result = evaluate_sum(o);
  for (double& value : result) value /= reduced_count(o);
  return result;
}

Values evaluate_logsumexp(const Operands& o) {
  Values maxima = evaluate_amax(o);
  for (double& value : maxima) value = std::isinf(value) ? 0 : value;  // because inf - inf is NaN
  Values result = reduce(o, 0, [&](double total, double x, std::size_t j) { return total + std::exp(x - maxima[j]); });
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = std::log(result[i]) + maxima[i];
  return result;
}

Values evaluate_var(const Operands& o) {
  const Values means = evaluate_mean(o);
  // The squares are added in double without overflow, as in PyTorch, so a variance within the range of f32 is right.
  Values result =
      reduce(o, 0, [&](double total, double x, std::size_t j) { return total + (x - means[j]) * (x - means[j]); });
  if (o.apart)
    for (double& value : result)
      if (std::isinf(in_f32_range(value))) value = std::numeric_limits<double>::quiet_NaN();
  const double divisor = std::max(0.0, reduced_count(o) - static_cast<double>(o.node.integer("correction")));
  for (double& value : result) value /= divisor;  // 0 / 0 is NaN, as in PyTorch
  return result;
}

// Returns the dimensions to reduce. An empty list means all.
Dims dims_of(const TensorCall& call) {
  Dims dims = call.node.integers("dims");
  if (!dims.empty()) return dims;
  dims.resize(call.arg(0).type.shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

// Removes the reduced dimensions, which have extent 1 so far, unless `keepdim` is set.
int finish(Emitter& e, const TensorCall& call, int x) {
  return call.node.flag("keepdim") ? x : e.drop(x, dims_of(call), "dropped");
}

template <Op op>
int decompose_reduction(Emitter& e, const TensorCall& call) {
  const DType t = accumulation_type(call.dtype());
  const int reduced = e.reduce(op, e.convert(call.args[0], t), dims_of(call), "reduce");
  return finish(e, call, e.convert(reduced, call.dtype()));
}

int decompose_mean(Emitter& e, const TensorCall& call) {
  const int mean = mean_over(e, e.convert(call.args[0], accumulation_type(call.dtype())), dims_of(call));
  return finish(e, call, e.convert(mean, call.dtype()));
}

// log(sum(exp(x - m))) + m, where m is the maximum, or 0 if the maximum is infinite.
int decompose_logsumexp(Emitter& e, const TensorCall& call) {
  const Dims dims = dims_of(call);
  const int x = e.convert(call.args[0], accumulation_type(call.dtype()));
  const int maximum = e.reduce(Op::maximum, x, dims, "max");
  const auto is = [&](double value) {
    return e.elementwise(Op::equal, {maximum, e.scalar(value, e.dtype(x), "inf")}, "is");
  };
  const int infinite = e.elementwise(Op::logical_or, {is(infinity), is(-infinity)}, "infinite");
  const int finite = e.elementwise(Op::select, {infinite, e.scalar(0, e.dtype(x), "zero"), maximum}, "finite");
  const int exp = e.elementwise(Op::exp, {with(e, Op::subtract, x, finite, "shifted")}, "exp");
  const int log = e.elementwise(Op::log, {e.reduce(Op::add, exp, dims, "sum")}, "log");
  return finish(e, call, e.convert(e.elementwise(Op::add, {log, finite}, "ew"), call.dtype()));
}

// Two passes: first the mean, then the squares of the deviations from it.
int decompose_var(Emitter& e, const TensorCall& call) {
  const Dims dims = dims_of(call);
  const int x = e.convert(call.args[0], accumulation_type(call.dtype()));
  const int rest = centred(e, x, dims);
  const double degrees = count_along(e, x, dims) - static_cast<double>(call.node.integer("correction"));
  const int square = e.elementwise(Op::multiply, {rest, rest}, "sq");
  return finish(e, call, e.convert(divided_sum(e, square, dims, std::max(degrees, 0.0)), call.dtype()));
}

// In expressions and `.pt2` files

// `dim` may be one dimension (`prod`, `max`), a list, or None for all dimensions.
Attributes dims_and_keepdim(const Given& g) {
  return {{"dims", g.integers("dim", Shape{})}, {"keepdim", g.flag("keepdim", false)}};
}

Id reduction(const Given& g) { return converted_call(g, dims_and_keepdim(g)); }

// max and min of all elements, of two tensors, or along a dimension. In the last case PyTorch also returns the indices
// of the extremes, which are not computed here.
python::Value call_extremum(const python::Call& c) {
  const Id x = c.tensor("input");
  if (is_tensor(c.value("dim")))
    return {python::Tensor{c.session.call(c.op == "amax" ? "maximum" : "minimum", {x, c.tensor("dim")})}};
  if (!c.given("dim")) return c.node({x});
  const Attributes attributes = {{"dims", Shape{c.integer("dim")}}, {"keepdim", c.flag("keepdim")}};
  return {python::Tensor{c.session.call(c.op, {x}, attributes), true}};
}

// torch.var(x, False) has `unbiased` in the place of `dim`.
python::Value call_var(const python::Call& c) {
  const bool* unbiased = c.value("dim").as<bool>();
  std::int64_t correction = unbiased == nullptr || *unbiased ? 1 : 0;
  if (c.given("unbiased")) correction = c.flag("unbiased") ? 1 : 0;
  if (c.given("correction")) correction = c.integer("correction");
  Attributes attributes = {{"keepdim", c.flag("keepdim")}, {"correction", correction}};
  if (c.given("dim") && unbiased == nullptr) attributes.emplace("dims", c.integers("dim"));
  return c.node({c.tensor("input")}, std::move(attributes));
}

python::Value call_std(const python::Call& c) {
  const python::Value variance = call_var(c);
  return {python::Tensor{c.session.call("sqrt", {variance.as<python::Tensor>()->id}, {}, "std")}};
}

// argmax, argmin: without `dim`, all elements count as one vector.
Id arg_extreme(const Given& g) {
  Id x = g.tensor("input");
  const std::size_t rank = g.rank(x);
  const bool all = !g.has("dim"), keepdim = g.flag("keepdim", false);
  if (all) x = g.call("reshape", {x}, {{"shape", Shape{-1}}});
  const std::int64_t dim = all ? 0 : g.integer("dim");
  const Id extreme = g.call(g.op(), {x}, {{"dims", Shape{dim}}, {"keepdim", !all && keepdim}});
  const Id index = extreme_index(g, g.node(extreme));
  return all && keepdim ? g.reshape(index, Shape(rank, 1)) : index;
}

// In `.pt2` files

// max.other is an elementwise maximum. max.dim also returns indices, which are computed only if something reads them.
std::vector<Id> read_extremum(pt2::Call& call) {
  if (!call.has("other")) {
    std::vector<Id> results = {reduction(Given(call))};
    if (call.outputs().size() > 1 && call.is_read(1))
      results.push_back(extreme_index(caller_of(call), call.builder().node(results[0])));
    return results;
  }
  const Id self = call.tensor("self");
  return {call.add(call.op == "amax" ? "maximum" : "minimum", {self, call.tensor("other")})};
}

// any, all: whether the maximum (any) or the minimum (all) of the booleans is true.
std::vector<Id> read_truth(pt2::Call& call) {
  if (element_count(call.shape(call.tensor("self"))) == 0) {
    call.ignore({"dim", "keepdim"});
    const double of_nothing = call.op == "amax" ? 0 : 1;
    return {
        call.add("full", {}, {{"shape", call.output_type().shape}, {"value", of_nothing}, {"dtype", DType::boolean}})};
  }
  const Id x = call.to(call.to(call.tensor("self"), DType::boolean), DType::i32);
  return {call.to(call.add(call.op, {x}, dims_and_keepdim(Given(call))), call.output_type().dtype)};
}

// In PyTorch, any and all of uint8 are uint8.
python::Value call_truth(const python::Call& c) {
  const DType dtype = c.type(c.tensor("input")).dtype == DType::u8 ? DType::u8 : DType::boolean;
  const Id x = c.session.cast(c.session.cast(c.tensor("input"), DType::boolean), DType::i32);
  return {python::Tensor{c.session.cast(c.session.call(c.op, {x}, dims_and_keepdim(Given(c))), dtype)}};
}

Id variance(pt2::Call& call) {
  const Id x = call.tensor("self");
  Attributes attributes = dims_and_keepdim(Given(call));
  const double correction = call.has("correction") ? call.number("correction", 1) : call.flag("unbiased", true);
  if (correction != 0 && correction != 1) call.fail("correction", "0 or 1");
  attributes["correction"] = static_cast<std::int64_t>(correction);
  return call.add("var", {x}, std::move(attributes));
}

std::vector<Id> read_var(pt2::Call& call) { return {variance(call)}; }
std::vector<Id> read_std(pt2::Call& call) { return {call.add("sqrt", {variance(call)})}; }

constexpr std::string_view sum_parameters = "input, dim=None, keepdim=False, *, dtype=None";
constexpr std::string_view extremum = "input, dim=None, keepdim=False";
constexpr std::string_view corrected = "input, dim=None, unbiased=None, keepdim=False, *, correction=None";

}  // namespace

Id extreme_index(const Caller& c, const Node& extreme) {
  const Id x = extreme.args[0];
  const Node values = c.node(x);
  const std::int64_t dim = extreme.integers("dims").at(0), count = values.type.shape.at(static_cast<std::size_t>(dim));
  const bool keepdim = extreme.flag("keepdim");
  const std::string op = extreme.op;
  Shape along(values.type.shape.size(), 1);
  along[static_cast<std::size_t>(dim)] = count;
  const Id best = c.call(op, {x}, {{"dims", Shape{dim}}, {"keepdim", true}});
  Id hit = c.call("eq", {x, best});
  if (is_float(values.type.dtype)) hit = c.call("logical_or", {hit, c.call("ne", {x, x})});
  const Id place = c.call("reshape", {c.call("arange", {}, {{"end", count}})}, {{"shape", along}});
  const Id chosen = c.call("where", {hit, place, c.whole(count - 1)});
  return c.call("amin", {chosen}, {{"dims", Shape{dim}}, {"keepdim", keepdim}});
}

// clang-format off
std::vector<Operation> reduction_operations() {
  return {
      {"amax", 1, 1, reduce_attributes, infer_extremum, evaluate_amax, decompose_reduction<Op::maximum>,
       {{"any", either, extremum, call_truth},
        {"amax", either, extremum, call_made<reduction>}, {"max", either, extremum, call_extremum},
        {"argmax", either, extremum, call_made<arg_extreme>}},
       {{"aten.amax", read_made<reduction>}, {"aten.max", read_extremum}, {"aten.any", read_truth},
        {"aten._is_any_true", read_truth}, {"aten.argmax", read_made<arg_extreme>}}},
      {"amin", 1, 1, reduce_attributes, infer_extremum, evaluate_amin, decompose_reduction<Op::minimum>,
       {{"all", either, extremum, call_truth},
        {"amin", either, extremum, call_made<reduction>}, {"min", either, extremum, call_extremum},
        {"argmin", either, extremum, call_made<arg_extreme>}},
       {{"aten.amin", read_made<reduction>}, {"aten.min", read_extremum}, {"aten.all", read_truth},
        {"aten._is_all_true", read_truth}, {"aten.argmin", read_made<arg_extreme>}}},
      {"logsumexp", 1, 1, reduce_attributes, infer_mean, evaluate_logsumexp, decompose_logsumexp,
       {{"logsumexp", either, "input, dim, keepdim=False", call_made<reduction>}},
       {{"aten.logsumexp", read_made<reduction>}}},
      {"mean", 1, 1, reduce_attributes, infer_mean, evaluate_mean, decompose_mean,
       {{"mean", either, sum_parameters, call_made<reduction>}},
       {{"aten.mean", read_made<reduction>}}},
      {"prod", 1, 1, reduce_attributes, infer_sum, evaluate_prod, decompose_reduction<Op::multiply>,
       {{"prod", either, sum_parameters, call_made<reduction>}},
       {{"aten.prod", read_made<reduction>}}},
      {"sum", 1, 1, reduce_attributes, infer_sum, evaluate_sum, decompose_reduction<Op::add>,
       {{"sum", either, sum_parameters, call_made<reduction>}},
       {{"aten.sum", read_made<reduction>}}},
      {"var", 1, 1, var_attributes, infer_mean, evaluate_var, decompose_var,
       {{"var", either, corrected, call_var}, {"std", either, corrected, call_std}},
       {{"aten.var", read_var}, {"aten.std", read_std}}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
