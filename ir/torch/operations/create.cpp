// Operations that create a tensor without tensor arguments.
//   arange(start=0, end, step=1, dtype)   full(shape, value, dtype)
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ir/torch/operations/given.h"
#include "ir/types/float16.h"
#include "ir/types/integers.h"

namespace deplo::ir::torch {
namespace {

constexpr std::int64_t max_value = std::int64_t{1} << 53;  // references are exact for integers up to this one

// Ignores the arguments that give the result's type, because a `.pt2` file states that type.
void ignore_type(pt2::Call& call) {
  call.ignore({"self", "size", "dtype", "layout", "device", "pin_memory", "memory_format"});
}

// arange

constexpr AttributeSpec arange_attributes[] = {{"start", Kind::integer, std::int64_t{0}},
                                               {"end", Kind::integer, Required{}},
                                               {"step", Kind::integer, std::int64_t{1}},
                                               {"dtype", Kind::dtype, Computed{}}};

void check_bound(const Inference& call, std::string_view attribute) {
  const std::int64_t value = call.node().integer(attribute);
  if (value < -max_value || value > max_value)
    call.expected(fmt::format("{} from -2^53 to 2^53", attribute), std::to_string(value));
}

TensorType infer_arange(const Inference& call) {
  for (const std::string_view attribute : {"start", "end", "step"}) check_bound(call, attribute);
  const Node& node = call.node();
  const std::int64_t start = node.integer("start"), end = node.integer("end"), step = node.integer("step");
  if (step == 0) call.expected("a step other than 0", "0");
  if (step > 0 ? start > end : start < end)
    call.expected("bounds in the direction of the step", fmt::format("{} to {} by {}", start, end, step));
  if (!call.has("dtype")) call.set("dtype", DType::i64);
  if (std::get<DType>(node.attributes.at("dtype")) == DType::boolean) call.expected("a dtype of numbers", "bool");
  const std::int64_t count = start == end ? 0 : 1 + (step > 0 ? end - start - 1 : start - end - 1) / std::abs(step);
  return {std::get<DType>(node.attributes.at("dtype")), {count}};
}

Values evaluate_arange(const Operands& o) {
  Values result(o.result_count());
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] =
        rounded(static_cast<double>(o.node.integer("start") + static_cast<std::int64_t>(i) * o.node.integer("step")),
                o.node.type.dtype);
  return result;
}

int decompose_arange(Emitter& e, const TensorCall& call) {
  const std::int64_t start = call.node.integer("start"), step = call.node.integer("step");
  const std::int64_t last = start + step * (call.shape()[0] - 1);
  if (std::min({start, last, step}) >= INT32_MIN && std::max({start, last, step}) <= INT32_MAX)
    return e.convert(e.coordinate(tensor::coordinate(0) * step + start, {DType::i32, call.shape()}, "range"),
                     call.dtype());
  const int place = e.convert(e.coordinate(tensor::coordinate(0), {DType::i32, call.shape()}, "place"), DType::i64);
  const int steps =
      e.elementwise(Op::multiply, {place, e.scalar(static_cast<double>(step), DType::i64, "step")}, "steps");
  const int range = e.elementwise(Op::add, {steps, e.scalar(static_cast<double>(start), DType::i64, "start")}, "range");
  return e.convert(range, call.dtype());
}

bool is_whole(double value) { return value == std::floor(value) && std::abs(value) <= max_exact_integer; }

Attributes whole_range(double start, double end, double step, DType dtype) {
  return {{"start", static_cast<std::int64_t>(start)},
          {"end", static_cast<std::int64_t>(end)},
          {"step", static_cast<std::int64_t>(step)},
          {"dtype", dtype}};
}

// A range with a fractional bound or step. It has as many elements as in PyTorch (RangeFactories.cpp: ⌈(end - start) /
// step⌉ in double), and they are floats.
Id fractional_range(const Given& g, double start, double end, double step, DType dtype) {
  const double count = std::ceil((end - start) / step);
  if (!is_float(dtype)) g.fail("dtype", "a type of floats, because a bound or the step is a fraction");
  if (step == 0) g.fail("step", "a number other than 0");
  if (!(count >= 0 && count <= max_exact_integer)) g.fail("end", "a bound in the direction of the step");
  const Id places = g.to(g.range(0, static_cast<std::int64_t>(count)), dtype);
  return g.apply("add", g.apply("mul", places, step), start);
}

// Returns a number. Sets `real` if the number is a Python float.
double number(const python::Call& c, std::string_view parameter, bool& real) {
  const double* d = c.value(parameter).as<double>();
  real |= d != nullptr;
  if (d != nullptr) return *d;
  const std::int64_t value = c.integer(parameter);
  if (value < -max_value || value > max_value) c.fail(parameter, "a number from -2^53 to 2^53");
  return static_cast<double>(value);
}

// arange(end), arange(start, end), arange(start, end, step)
python::Value call_arange(const python::Call& c) {
  bool real = false;
  if (!c.given("start") && !c.given("end")) c.fail("end", "a number");
  const double first = c.given("start") ? number(c, "start", real) : 0;
  const double end = c.given("end") ? number(c, "end", real) : first, start = c.given("end") ? first : 0;
  const double step = number(c, "step", real);
  const DType dtype = c.dtype("dtype", real ? c.session.default_dtype : DType::i64);
  if (!is_whole(start) || !is_whole(end) || !is_whole(step))
    return results_of(fractional_range(Given(c), start, end, step, dtype));
  return c.node({}, whole_range(start, end, step, dtype));
}

std::vector<Id> read_arange(pt2::Call& call) {
  ignore_type(call);
  const double start = call.number("start", 0), end = call.number("end", 0), step = call.number("step", 1);
  const DType dtype = call.output_type().dtype;
  if (!is_whole(start) || !is_whole(end) || !is_whole(step))
    return {fractional_range(Given(call), start, end, step, dtype)};
  return call.node({}, whole_range(start, end, step, dtype));
}

// full

constexpr AttributeSpec full_attributes[] = {
    {"shape", Kind::integers, Required{}}, {"value", Kind::literal, Required{}}, {"dtype", Kind::dtype, Computed{}}};

DType kind_of(const Attribute& literal) {
  if (std::holds_alternative<bool>(literal)) return DType::boolean;
  return std::holds_alternative<std::int64_t>(literal) ? DType::i64 : DType::f32;
}

double value_of(const Attribute& literal) {
  if (const bool* flag = std::get_if<bool>(&literal)) return *flag ? 1 : 0;
  if (const auto* whole = std::get_if<std::int64_t>(&literal)) return static_cast<double>(*whole);
  return std::get<double>(literal);
}

TensorType infer_full(const Inference& call) {
  const Attribute literal = call.node().attributes.at("value");
  if (!call.has("dtype")) call.set("dtype", kind_of(literal));
  const DType dtype = std::get<DType>(call.node().attributes.at("dtype"));
  double value = value_of(literal);
  if (dtype == DType::i32 && !(value >= -0x1p31 && value < 0x1p31))
    call.expected("a value that int32 holds", fmt::format("{}", value));
  if (dtype == DType::i64 && !(std::abs(value) <= max_exact_integer))
    call.expected("a value from -2^53 to 2^53", fmt::format("{}", value));
  if (is_integer(dtype)) value = std::trunc(value);
  if (dtype == DType::boolean) value = value != 0 ? 1 : 0;
  if (is_float16(dtype)) value = rounded(value, dtype);
  call.set("value", value);
  return {dtype, call.node().integers("shape")};
}

Values evaluate_full(const Operands& o) { return Values(o.result_count(), o.node.number("value")); }

int decompose_full(Emitter& e, const TensorCall& call) {
  const int value = e.scalar(call.node.number("value"), call.dtype(), "value");
  return call.shape().empty() ? value : e.fill(value, call.shape(), "ew");
}

Attribute literal(const python::Call& c, std::string_view parameter) {
  const python::Value v = c.scalar(parameter);
  if (const bool* b = v.as<bool>()) return *b;
  if (const auto* i = v.as<std::int64_t>()) return *i;
  const std::optional<double> d = to_number(v);
  if (!d) c.fail(parameter, "a number");
  return *d;
}

// zeros, ones, empty and full, also as x.new_zeros and zeros_like. The shape is `size`, or else that of x; the dtype is
// that of x by default. `value`: fills the tensor if the function has no fill_value.
template <int value>
python::Value call_filled(const python::Call& c) {
  const std::optional<TensorType> like = c.has("input") ? std::optional(c.type(c.tensor("input"))) : std::nullopt;
  const Shape shape = c.has("size") ? c.integers("size") : like->shape;
  const Attribute fill = c.has("fill_value") ? literal(c, "fill_value") : Attribute(static_cast<double>(value));
  std::optional<DType> dtype = like ? std::optional(like->dtype) : std::nullopt;
  if (c.given("dtype")) dtype = c.dtype("dtype");
  if (!dtype && std::holds_alternative<double>(fill)) dtype = c.session.default_dtype;
  Attributes attributes = {{"shape", shape}, {"value", fill}};
  if (dtype) attributes.emplace("dtype", *dtype);
  return c.node({}, std::move(attributes));
}

/// Returns a matrix with 1 where row and column are equal, and 0 elsewhere.
Id unit_matrix(const Given& g, std::int64_t n, std::int64_t m, DType dtype) {
  return g.to(g.apply("eq", g.reshape(g.range(0, n), {n, 1}), g.range(0, m)), dtype);
}

Id eye(const Given& g) {
  g.ignore({"dtype", "layout", "device", "pin_memory"});
  const std::int64_t n = g.integer("n");
  return unit_matrix(g, n, g.integer("m", n), g.result_dtype());
}

/// Returns `steps` equally spaced numbers, from `start` to `end` inclusive.
Id linspace(const Given& g) {
  g.ignore({"dtype", "layout", "device", "pin_memory"});
  const double start = g.number("start", 0), end = g.number("end", 0);
  const std::int64_t steps = g.integer("steps", 1);
  if (steps < 1) g.fail("steps", "at least 1");
  const double step = steps == 1 ? 0 : (end - start) / static_cast<double>(steps - 1);
  return g.apply("add", g.apply("mul", g.to(g.range(0, steps), g.result_dtype()), step), start);
}

std::vector<Id> filled(pt2::Call& call, double value) {
  ignore_type(call);
  const TensorType& type = call.output_type();
  return call.node({}, {{"shape", type.shape}, {"value", value}, {"dtype", type.dtype}});
}

std::vector<Id> read_full(pt2::Call& call) { return filled(call, call.number("fill_value", 0)); }
std::vector<Id> read_zeros(pt2::Call& call) { return filled(call, 0); }
std::vector<Id> read_ones(pt2::Call& call) { return filled(call, 1); }
std::vector<Id> read_empty_permuted(pt2::Call& call) {
  call.ignore({"physical_layout", "stride"});
  return filled(call, 0);
}

// x.fill_(value): the value is a number, or a tensor of no dimensions.
std::vector<Id> read_filled(pt2::Call& call) {
  const Id x = call.tensor("self");
  const Id value = call.operand("value");
  if (call.builder().node(value).kind == Node::Kind::scalar) return filled(call, call.number("value", 0));
  return {call.expand(call.to(value, call.dtype(x)), call.shape(x))};
}

std::vector<Id> read_scalar(pt2::Call& call) { return filled(call, call.number("s", 0)); }

constexpr std::string_view sized = "*size, dtype=None, device=None, requires_grad=False",
                           like = "input, *, dtype=None, device=None, requires_grad=False, memory_format=None",
                           sized_like = "input, *size, dtype=None, device=None, requires_grad=False";

}  // namespace

// clang-format off
std::vector<Operation> creation_operations() {
  return {
      {"arange", 0, 0, arange_attributes, infer_arange, evaluate_arange, decompose_arange,
       {{"arange", in_torch, "start=None, end=None, step=1, *, dtype=None, device=None, requires_grad=False",
         call_arange}},
       {{"aten.arange", read_arange}}},
      {"full", 0, 0, full_attributes, infer_full, evaluate_full, decompose_full,
       {{"zeros", in_torch, sized, call_filled<0>},
        {"ones", in_torch, sized, call_filled<1>},
        {"full", in_torch, "size, fill_value, *, dtype=None, device=None, requires_grad=False", call_filled<0>},
        {"empty", in_torch, sized, call_filled<0>},
        {"empty_like", in_torch, like, call_filled<0>},
        {"eye", in_torch, "n, m=None, *, dtype=None, device=None, requires_grad=False", call_made<eye>},
        {"linspace", in_torch, "start, end, steps, *, dtype=None, device=None, requires_grad=False",
         call_made<linspace>},
        {"new_empty", as_method, sized_like, call_filled<0>},
        {"new_zeros", as_method, sized_like, call_filled<0>},
        {"new_ones", as_method, sized_like, call_filled<1>},
        {"new_full", as_method, "input, size, fill_value, *, dtype=None, device=None", call_filled<0>},
        {"zeros_like", in_torch, like, call_filled<0>},
        {"ones_like", in_torch, like, call_filled<1>},
        {"full_like", in_torch, "input, fill_value, *, dtype=None, device=None", call_filled<0>}},
       {{"aten.full", read_full}, {"aten.full_like", read_full}, {"aten.new_full", read_full},
        {"aten.zeros", read_zeros}, {"aten.zeros_like", read_zeros}, {"aten.new_zeros", read_zeros},
        {"aten.eye", read_made<eye>}, {"aten.linspace", read_made<linspace>},
        {"aten.ones", read_ones}, {"aten.ones_like", read_ones}, {"aten.new_ones", read_ones},
        {"aten.empty", read_zeros}, {"aten.empty_like", read_zeros}, {"aten.empty_permuted", read_empty_permuted},
        {"aten.empty_strided", read_empty_permuted}, {"aten.new_empty", read_zeros},
        {"aten.new_empty_strided", read_empty_permuted}, {"aten.fill", read_filled}, {"aten.zero", read_zeros},
        {"aten.scalar_tensor", read_scalar}}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
