// aten operations that work element by element.
#include <array>

#include "core/error.h"
#include "ir/torch/pt2/call.h"

namespace deplo::ir::torch::pt2 {
namespace {

std::vector<Id> unary(Call& call, std::string_view op) { return {call.add(op, {call.operand("self")})}; }

std::vector<Id> binary(Call& call, std::string_view op) {
  const Id self = call.operand("self");
  return {call.add(op, {self, call.operand("other")})};
}

// Truth values only: of integers these work bit by bit.
std::vector<Id> bitwise(Call& call, std::string_view op) {
  std::vector<Id> args = {call.operand("self")};
  if (call.has("other")) args.push_back(call.operand("other"));
  for (const Id arg : args)
    if (call.dtype(arg) != DType::boolean) call.fail("self", "tensors of dtype bool");
  return {call.add(op, std::move(args))};
}

// self ± alpha * other
std::vector<Id> add_scaled(Call& call, std::string_view op) {
  const Id self = call.operand("self");
  Id other = call.operand("other");
  if (call.number("alpha", 1) != 1) other = call.add("mul", {other, call.operand("alpha")});
  return {call.add(op, {self, other})};
}

std::vector<Id> rsub(Call& call, std::string_view) {
  if (call.number("alpha", 1) != 1) call.fail("alpha", "1");
  const Id self = call.operand("self");
  return {call.add("sub", {call.operand("other"), self})};
}

std::vector<Id> power(Call& call, std::string_view) {
  const Id self = call.operand("self");
  return {call.add("pow", {self, call.operand("exponent")})};
}

std::vector<Id> square(Call& call, std::string_view) {
  const Id self = call.tensor("self");
  return {call.add("mul", {self, self})};
}

std::vector<Id> gelu(Call& call, std::string_view) {
  return {call.add("gelu", {call.tensor("self")}, {{"approximate", call.text("approximate", "none")}})};
}

std::vector<Id> clamp(Call& call, std::string_view) {
  Id x = call.tensor("self");
  if (call.has("min")) x = call.add("maximum", {x, call.operand("min")});
  if (call.has("max")) x = call.add("minimum", {x, call.operand("max")});
  return {x};
}

std::vector<Id> where(Call& call, std::string_view) {
  const Id condition = call.tensor("condition"), self = call.operand("self");
  return {call.add("where", {condition, self, call.operand("other")})};
}

std::vector<Id> masked_fill(Call& call, std::string_view) {
  const Id self = call.tensor("self"), mask = call.tensor("mask");
  return {call.add("masked_fill", {self, mask, call.operand("value")})};
}

// Conversions: the file states the resulting dtype.
std::vector<Id> convert(Call& call, std::string_view) {
  call.ignore({"dtype", "layout", "device", "pin_memory", "non_blocking", "memory_format", "copy", "other"});
  return {call.to(call.tensor("self"), call.output_type().dtype)};
}

std::vector<Id> identity(Call& call, std::string_view) {
  call.ignore({"memory_format"});
  return {call.tensor("self")};
}

std::vector<Id> dropout(Call& call, std::string_view) {
  const Id x = call.tensor("input");
  if (call.flag("train", true) && call.number("p", 0.5) != 0) call.fail("train", "False (a model in eval mode)");
  call.ignore({"p"});
  return {x};
}

constexpr auto rows = std::to_array<Row>({
    {"aten.__and__", bitwise, "logical_and"},
    {"aten.__or__", bitwise, "logical_or"},
    {"aten.abs", unary, "abs"},
    {"aten.add", add_scaled, "add"},
    {"aten.alias", identity, ""},
    {"aten.bitwise_and", bitwise, "logical_and"},
    {"aten.bitwise_not", bitwise, "logical_not"},
    {"aten.bitwise_or", bitwise, "logical_or"},
    {"aten.clamp", clamp, ""},
    {"aten.clamp_max", clamp, ""},
    {"aten.clamp_min", clamp, ""},
    {"aten.clone", identity, ""},
    {"aten.contiguous", identity, ""},
    {"aten.cos", unary, "cos"},
    {"aten.detach", identity, ""},
    {"aten.detach_", identity, ""},
    {"aten.div", binary, "div"},
    {"aten.dropout", dropout, ""},
    {"aten.eq", binary, "eq"},
    {"aten.erf", unary, "erf"},
    {"aten.exp", unary, "exp"},
    {"aten.ge", binary, "ge"},
    {"aten.gelu", gelu, ""},
    {"aten.gt", binary, "gt"},
    {"aten.le", binary, "le"},
    {"aten.lift_fresh_copy", identity, ""},
    {"aten.log", unary, "log"},
    {"aten.logical_and", binary, "logical_and"},
    {"aten.logical_not", unary, "logical_not"},
    {"aten.logical_or", binary, "logical_or"},
    {"aten.lt", binary, "lt"},
    {"aten.masked_fill", masked_fill, ""},
    {"aten.maximum", binary, "maximum"},
    {"aten.minimum", binary, "minimum"},
    {"aten.mul", binary, "mul"},
    {"aten.native_dropout", dropout, ""},
    {"aten.ne", binary, "ne"},
    {"aten.neg", unary, "neg"},
    {"aten.pow", power, ""},
    {"aten.reciprocal", unary, "reciprocal"},
    {"aten.relu", unary, "relu"},
    {"aten.rsqrt", unary, "rsqrt"},
    {"aten.rsub", rsub, ""},
    {"aten.sigmoid", unary, "sigmoid"},
    {"aten.silu", unary, "silu"},
    {"aten.sin", unary, "sin"},
    {"aten.sqrt", unary, "sqrt"},
    {"aten.square", square, ""},
    {"aten.sub", add_scaled, "sub"},
    {"aten.tanh", unary, "tanh"},
    {"aten.to", convert, ""},
    {"aten._to_copy", convert, ""},
    {"aten.true_divide", binary, "div"},
    {"aten.type_as", convert, ""},
    {"aten.where", where, ""},
});

}  // namespace

std::span<const Row> elementwise_rows() { return rows; }

}  // namespace deplo::ir::torch::pt2
