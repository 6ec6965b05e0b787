// Functions that make tensors: random ones are inputs of the graph, constant ones operations.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {
namespace {

DType dtype_or(const Call& c, DType fallback) { return c.given("dtype") ? c.dtype("dtype") : fallback; }

Value random(const Call& c, Shape shape, DType dtype, Fill fill) {
  if (dtype != DType::f32 && dtype != DType::f16 && dtype != DType::bf16) c.fail("dtype", "a dtype of floats");
  return {c.session.make_leaf({dtype, std::move(shape)}, fill, false)};
}

Value randn(const Call& c) {
  return random(c, c.integers("size"), dtype_or(c, DType::f32), {Fill::Draw::normal, 0, 1});
}
Value rand(const Call& c) {
  return random(c, c.integers("size"), dtype_or(c, DType::f32), {Fill::Draw::uniform, 0, 1});
}
Value randn_like(const Call& c) {
  const TensorType& type = c.type(c.tensor("input"));
  return random(c, type.shape, dtype_or(c, type.dtype), {Fill::Draw::normal, 0, 1});
}
Value rand_like(const Call& c) {
  const TensorType& type = c.type(c.tensor("input"));
  return random(c, type.shape, dtype_or(c, type.dtype), {Fill::Draw::uniform, 0, 1});
}

// randint(high, size) and randint(low, high, size)
Value randint(const Call& c) {
  const bool both = c.given("size");
  const std::string_view high = both || !c.given("low") ? "high" : "low", size = both ? "size" : "high";
  const std::int64_t low = both && c.given("low") ? c.integer("low") : 0, end = c.integer(high);
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  if (low < -limit || end > limit || low >= end) c.fail(high, fmt::format("more than {} and at most 2^31", low));
  const Fill fill = {Fill::Draw::integers, static_cast<double>(low), static_cast<double>(end)};
  return {c.session.make_leaf({dtype_or(c, DType::i32), c.integers(size)}, fill, false)};
}

Attribute literal(const Call& c, std::string_view parameter) {
  const Value& v = c.value(parameter);
  if (const bool* b = v.as<bool>()) return *b;
  if (const auto* i = v.as<std::int64_t>()) return *i;
  const double d = c.number(parameter);
  if (std::isnan(d)) c.fail(parameter, "a number");
  return d;
}

Value fill(const Call& c, Shape shape, Attribute value, std::optional<DType> dtype) {
  if (c.given("dtype")) dtype = c.dtype("dtype");
  Attributes attributes = {{"shape", std::move(shape)}, {"value", value}};
  if (dtype) attributes.emplace("dtype", *dtype);
  return c.node({}, std::move(attributes));
}

Value zeros(const Call& c) { return fill(c, c.integers("size"), 0.0, {}); }
Value ones(const Call& c) { return fill(c, c.integers("size"), 1.0, {}); }
Value full(const Call& c) { return fill(c, c.integers("size"), literal(c, "fill_value"), {}); }

template <int value>
Value constant_like(const Call& c) {
  const TensorType& type = c.type(c.tensor("input"));
  return fill(c, type.shape, static_cast<double>(value), type.dtype);
}
Value full_like(const Call& c) {
  const TensorType& type = c.type(c.tensor("input"));
  return fill(c, type.shape, literal(c, "fill_value"), type.dtype);
}

// A whole number, also as a float; `real` says that one was.
std::int64_t whole(const Call& c, std::string_view parameter, bool& real) {
  const double* d = c.value(parameter).as<double>();
  if (!d) return c.integer(parameter);
  real = true;
  if (*d != std::floor(*d) || std::abs(*d) > 0x1p31) c.fail(parameter, "a whole number");
  return static_cast<std::int64_t>(*d);
}

// arange(end), arange(start, end), arange(start, end, step)
Value arange(const Call& c) {
  bool real = false;
  const std::int64_t first = c.given("start") ? whole(c, "start", real) : 0;
  if (!c.given("start") && !c.given("end")) c.fail("end", "a whole number");
  const std::int64_t end = c.given("end") ? whole(c, "end", real) : first;
  const std::int64_t step = whole(c, "step", real);
  return c.node({}, {{"start", c.given("end") ? first : 0},
                     {"end", end},
                     {"step", step},
                     {"dtype", dtype_or(c, real ? DType::f32 : DType::i32)}});
}

Value tensor(const Call& c) {
  const Value& data = c.value("data");
  if (!to_number(data)) c.fail("data", "a number (make larger tensors by torch.arange, full, stack, …)");
  const Id scalar = c.session.operand(data, "tensor", 0);
  return {Tensor{c.given("dtype") ? c.session.cast(scalar, c.dtype("dtype")) : scalar}};
}

// Takes a tensor that no other expression uses: torch.randn(…), rand(…), zeros(…), ones(…) or full(…).
Value parameter(const Call& c) {
  const Value& data = c.value("data");
  constexpr std::string_view expected = "a new tensor: torch.randn(…), rand(…), zeros(…), ones(…) or full(…)";
  if (const auto* leaf = data.as<Leaf*>()) {
    if ((*leaf)->id || (*leaf)->parameter) c.fail("data", expected);
    (*leaf)->parameter = true;
    return data;
  }
  if (!is_tensor(data) || c.session.node(c.tensor("data")).op != "full") c.fail("data", expected);
  const Node& made = c.session.node(c.tensor("data"));
  return {c.session.make_leaf(made.type, {Fill::Draw::constant, made.number("value"), 0}, true)};
}

// clang-format off
constexpr std::array kFunctions = {
    Function{"randn", kTorch, "*size, dtype=None, device=None, requires_grad=False", randn},
    Function{"rand", kTorch, "*size, dtype=None, device=None, requires_grad=False", rand},
    Function{"randn_like", kTorch, "input, *, dtype=None, device=None", randn_like},
    Function{"rand_like", kTorch, "input, *, dtype=None, device=None", rand_like},
    Function{"randint", kTorch, "low=None, high=None, size=None, *, dtype=None, device=None", randint},
    Function{"zeros", kTorch, "*size, dtype=None, device=None", zeros, "full"},
    Function{"ones", kTorch, "*size, dtype=None, device=None", ones, "full"},
    Function{"full", kTorch, "size, fill_value, *, dtype=None, device=None", full},
    Function{"zeros_like", kTorch, "input, *, dtype=None, device=None", constant_like<0>, "full"},
    Function{"ones_like", kTorch, "input, *, dtype=None, device=None", constant_like<1>, "full"},
    Function{"full_like", kTorch, "input, fill_value, *, dtype=None, device=None", full_like, "full"},
    Function{"arange", kTorch, "start=None, end=None, step=1, *, dtype=None, device=None", arange},
    Function{"tensor", kTorch, "data, *, dtype=None, device=None", tensor},
    Function{"Parameter", kNn, "data, requires_grad=True", parameter},
};
// clang-format on

}  // namespace

std::span<const Function> creation_functions() { return kFunctions; }

}  // namespace deplo::ir::torch::python
