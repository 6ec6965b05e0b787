// Types of the operations that make a tensor of nothing.
#include <fmt/format.h>

#include <cmath>

#include "ir/torch/operations/op_rows.h"

namespace deplo::ir::torch {
namespace {

constexpr std::int64_t most_value = (std::int64_t{1} << 31) - 1;  // i32 stands for PyTorch's int64

void check_bound(const Call& call, std::string_view attribute) {
  const std::int64_t value = call.node().integer(attribute);
  if (value < -most_value - 1 || value > most_value)
    call.expected(fmt::format("{} from -2^31 to 2^31 - 1", attribute), std::to_string(value));
}

DType kind_of(const Attribute& literal) {
  if (std::holds_alternative<bool>(literal)) return DType::boolean;
  return std::holds_alternative<std::int64_t>(literal) ? DType::i32 : DType::f32;
}

double value_of(const Attribute& literal) {
  if (const bool* flag = std::get_if<bool>(&literal)) return *flag ? 1 : 0;
  if (const auto* whole = std::get_if<std::int64_t>(&literal)) return static_cast<double>(*whole);
  return std::get<double>(literal);
}

}  // namespace

TensorType infer_arange(const Call& call) {
  for (const std::string_view attribute : {"start", "end", "step"}) check_bound(call, attribute);
  const Node& node = call.node();
  const std::int64_t start = node.integer("start"), end = node.integer("end"), step = node.integer("step");
  if (step == 0) call.expected("a step other than 0", "0");
  if (step > 0 ? start >= end : start <= end)
    call.expected("at least one element", fmt::format("{} to {} by {}", start, end, step));
  if (!call.has("dtype")) call.set("dtype", DType::i32);
  if (std::get<DType>(node.attributes.at("dtype")) == DType::boolean) call.expected("a dtype of numbers", "bool");
  const std::int64_t count = 1 + (step > 0 ? end - start - 1 : start - end - 1) / std::abs(step);
  return {std::get<DType>(node.attributes.at("dtype")), {count}};
}

TensorType infer_full(const Call& call) {
  const Attribute literal = call.node().attributes.at("value");
  if (!call.has("dtype")) call.set("dtype", kind_of(literal));
  const DType dtype = std::get<DType>(call.node().attributes.at("dtype"));
  double value = value_of(literal);
  if (dtype == DType::i32 && !(value >= -most_value - 1 && value <= most_value))
    call.expected("a value that int32 holds", fmt::format("{}", value));
  if (dtype == DType::i32) value = std::trunc(value);
  if (dtype == DType::boolean) value = value != 0 ? 1 : 0;
  call.set("value", value);
  return {dtype, call.node().integers("shape")};
}

}  // namespace deplo::ir::torch
