// Functions that make a tensor without an operation: random ones are inputs of the graph.
#include <fmt/format.h>

#include <array>

#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {
namespace {

Value random(const Call& c, Shape shape, DType dtype, Fill fill) {
  if (!is_float(dtype)) c.fail("dtype", "a dtype of floats");
  return {c.session.make_leaf({dtype, std::move(shape)}, fill, false)};
}

Value randn(const Call& c) {
  return random(c, c.integers("size"), c.dtype("dtype", c.session.default_dtype), {Fill::Draw::normal, 0, 1});
}
Value rand(const Call& c) {
  return random(c, c.integers("size"), c.dtype("dtype", c.session.default_dtype), {Fill::Draw::uniform, 0, 1});
}
Value randn_like(const Call& c) {
  const TensorType& type = c.type(c.tensor("input"));
  return random(c, type.shape, c.dtype("dtype", type.dtype), {Fill::Draw::normal, 0, 1});
}
Value rand_like(const Call& c) {
  const TensorType& type = c.type(c.tensor("input"));
  return random(c, type.shape, c.dtype("dtype", type.dtype), {Fill::Draw::uniform, 0, 1});
}

// randint(high, size) and randint(low, high, size)
Value randint(const Call& c) {
  const bool both = c.given("size");
  const std::string_view high = both || !c.given("low") ? "high" : "low", size = both ? "size" : "high";
  const std::int64_t low = both && c.given("low") ? c.integer("low") : 0, end = c.integer(high);
  constexpr std::int64_t limit = std::int64_t{1} << 53;
  if (low < -limit || end > limit || low >= end) c.fail(high, fmt::format("more than {} and at most 2^53", low));
  const Fill fill = {Fill::Draw::integers, static_cast<double>(low), static_cast<double>(end)};
  return {c.session.make_leaf({c.dtype("dtype", DType::i64), c.integers(size)}, fill, false)};
}

Value set_default_dtype(const Call& c) {
  const DType dtype = c.dtype("d");
  if (!is_float(dtype)) c.fail("d", "a dtype of floats");
  c.session.default_dtype = dtype;
  return {};
}

Value get_default_dtype(const Call& c) { return {c.session.default_dtype}; }

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
constexpr std::array random_rows = {
    Function{"randn", in_torch, "*size, dtype=None, device=None, requires_grad=False", randn},
    Function{"rand", in_torch, "*size, dtype=None, device=None, requires_grad=False", rand},
    Function{"randn_like", in_torch, "input, *, dtype=None, device=None", randn_like},
    Function{"rand_like", in_torch, "input, *, dtype=None, device=None", rand_like},
    Function{"randint", in_torch, "low=None, high=None, size=None, *, dtype=None, device=None", randint},
    Function{"tensor", in_torch, "data, *, dtype=None, device=None", tensor},
    Function{"set_default_dtype", in_torch, "d", set_default_dtype},
    Function{"get_default_dtype", in_torch, "", get_default_dtype},
    Function{"Parameter", in_nn, "data, requires_grad=True", parameter},
};
// clang-format on

}  // namespace

std::span<const Function> random_functions() { return random_rows; }

}  // namespace deplo::ir::torch::python
