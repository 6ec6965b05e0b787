// Functions of each element.
#include <fmt/format.h>

#include <array>

#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {
namespace {

Value unary(const Call& c) { return c.node({c.tensor("input")}); }

Value binary(const Call& c) { return c.node({c.tensor("input"), c.operand("other", 1)}); }

// input ± alpha * other
Value scaled(const Call& c) {
  const Id input = c.tensor("input");
  const Value& alpha = c.value("alpha");
  if (const auto* one = alpha.as<std::int64_t>(); one && *one == 1) return c.node({input, c.operand("other", 1)});
  if (!to_number(alpha)) c.fail("alpha", "a number");
  const Id other = c.operand("other", 1);
  return c.node({input, c.session.call("mul", {other, c.session.operand(alpha, "mul", 1)})});
}

Value power(const Call& c) {
  if (!is_tensor(c.value("input")) && !is_tensor(c.value("exponent"))) c.fail("exponent", "a tensor");
  const Id base = c.operand("input", 0);
  return c.node({base, c.operand("exponent", 1)});
}

Value square(const Call& c) {
  const Id x = c.tensor("input");
  return c.node({x, x});
}

Value where(const Call& c) {
  const Id condition = c.tensor("condition"), yes = c.operand("input", 1);
  return c.node({condition, yes, c.operand("other", 2)});
}

Value masked_fill(const Call& c) {
  const Id x = c.tensor("input"), mask = c.tensor("mask");
  return c.node({x, mask, c.operand("value", 2)});
}

Id bounded(const Call& c, Id x, std::string_view bound, std::string_view op) {
  if (!c.given(bound)) return x;
  const Value& value = c.value(bound);
  if (!is_tensor(value) && !to_number(value)) c.fail(bound, "a tensor or a number");
  return c.session.call(op, {x, c.session.operand(value, op, 1)});
}

Value clamp(const Call& c) {
  const Id x = c.tensor("input");
  const bool low = c.has("min") && c.given("min"), high = c.has("max") && c.given("max");
  if (!low && !high) c.fail(c.has("min") ? "min" : "max", "a number");
  const Id above = c.has("min") ? bounded(c, x, "min", "maximum") : x;
  return {Tensor{c.has("max") ? bounded(c, above, "max", "minimum") : above}};
}

Value to(const Call& c) {
  const Id x = c.tensor("input");
  const Value& target = c.value("other");
  if (const DType* dtype = c.value("dtype").as<DType>()) return {Tensor{c.session.cast(x, *dtype)}};
  if (const DType* dtype = target.as<DType>()) return {Tensor{c.session.cast(x, *dtype)}};
  if (is_tensor(target)) return {Tensor{c.session.cast(x, c.type(c.tensor("other")).dtype)}};
  if (!target.none() && !target.as<std::string_view>()) c.fail("other", "a dtype, a tensor or a device");
  return {Tensor{x}};  // a device
}

Value type_as(const Call& c) {
  const Id x = c.tensor("input");
  return {Tensor{c.session.cast(x, c.type(c.tensor("other")).dtype)}};
}

template <DType dtype>
Value cast_to(const Call& c) {
  return {Tensor{c.session.cast(c.tensor("input"), dtype)}};
}

Value identity(const Call& c) { return {Tensor{c.tensor("input")}}; }

constexpr unsigned kBoth = kTorch | kMethod;

// clang-format off
constexpr std::array kFunctions = {
    Function{"abs", kBoth, "input", unary},
    Function{"absolute", kBoth, "input", unary, "abs"},
    Function{"cos", kBoth, "input", unary},
    Function{"erf", kBoth, "input", unary},
    Function{"exp", kBoth, "input", unary},
    Function{"log", kBoth, "input", unary},
    Function{"neg", kBoth, "input", unary},
    Function{"negative", kBoth, "input", unary, "neg"},
    Function{"reciprocal", kBoth, "input", unary},
    Function{"rsqrt", kBoth, "input", unary},
    Function{"sin", kBoth, "input", unary},
    Function{"sqrt", kBoth, "input", unary},
    Function{"square", kBoth, "input", square, "mul"},
    Function{"tanh", kBoth | kFunctional, "input", unary},
    Function{"sigmoid", kBoth | kFunctional, "input", unary},
    Function{"logical_not", kBoth, "input", unary},
    Function{"relu", kBoth, "input", unary},
    Function{"relu", kFunctional, "input, inplace=False", unary},
    Function{"silu", kFunctional, "input, inplace=False", unary},

    Function{"add", kBoth, "input, other, *, alpha=1", scaled},
    Function{"sub", kBoth, "input, other, *, alpha=1", scaled},
    Function{"subtract", kBoth, "input, other, *, alpha=1", scaled, "sub"},
    Function{"mul", kBoth, "input, other", binary},
    Function{"multiply", kBoth, "input, other", binary, "mul"},
    Function{"div", kBoth, "input, other", binary},
    Function{"divide", kBoth, "input, other", binary, "div"},
    Function{"true_divide", kBoth, "input, other", binary, "div"},
    Function{"pow", kBoth, "input, exponent", power},
    Function{"maximum", kBoth, "input, other", binary},
    Function{"minimum", kBoth, "input, other", binary},
    Function{"eq", kBoth, "input, other", binary},
    Function{"ne", kBoth, "input, other", binary},
    Function{"lt", kBoth, "input, other", binary},
    Function{"le", kBoth, "input, other", binary},
    Function{"gt", kBoth, "input, other", binary},
    Function{"ge", kBoth, "input, other", binary},
    Function{"logical_and", kBoth, "input, other", binary},
    Function{"logical_or", kBoth, "input, other", binary},

    Function{"where", kTorch, "condition, input, other", where},
    Function{"where", kMethod, "input, condition, other", where},
    Function{"masked_fill", kBoth, "input, mask, value", masked_fill},
    Function{"clamp", kBoth, "input, min=None, max=None", clamp},
    Function{"clip", kBoth, "input, min=None, max=None", clamp},
    Function{"clamp_min", kBoth, "input, min", clamp},
    Function{"clamp_max", kBoth, "input, max", clamp},

    Function{"to", kMethod, "input, other=None, dtype=None, *, device=None, copy=False", to},
    Function{"type_as", kMethod, "input, other", type_as},
    Function{"float", kMethod, "input", cast_to<DType::f32>},
    Function{"half", kMethod, "input", cast_to<DType::f16>},
    Function{"bfloat16", kMethod, "input", cast_to<DType::bf16>},
    Function{"int", kMethod, "input", cast_to<DType::i32>},
    Function{"long", kMethod, "input", cast_to<DType::i32>},
    Function{"bool", kMethod, "input", cast_to<DType::boolean>},
    Function{"contiguous", kMethod, "input", identity},
    Function{"clone", kBoth, "input", identity},
    Function{"detach", kBoth, "input", identity},
    Function{"cpu", kMethod, "input", identity},
    Function{"cuda", kMethod, "input", identity},
};
// clang-format on

}  // namespace

std::span<const Function> elementwise_functions() { return kFunctions; }

}  // namespace deplo::ir::torch::python
