#include "ir/torch/operations/empty.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "ir/torch/operations/not_a_number.h"

namespace deplo::ir::torch {
namespace {

bool is_empty(const TensorType& type) { return element_count(type.shape) == 0; }

Id filled(Builder& b, const TensorType& type, double value, std::string_view name) {
  return b.call("full", {}, {{"shape", type.shape}, {"value", value}, {"dtype", type.dtype}}, name);
}

/// Concatenates the arguments that have elements.
Id joined(Builder& b, const Node& call, std::string_view name) {
  std::vector<Id> parts;
  for (const Id arg : call.args)
    if (!is_empty(b.type(arg))) parts.push_back(arg);
  const Attributes dim = {{"dim", call.integer("dim")}};
  const Id whole = parts.size() > 1 ? b.call("cat", parts, dim, name)
                                    : b.call("reshape", parts, {{"shape", b.type(parts.at(0)).shape}}, name);
  if (b.type(whole).dtype == call.type.dtype) return whole;
  return b.call("to", {whole}, {{"dtype", call.type.dtype}}, name);
}

}  // namespace

std::optional<Id> call_on_nothing(Builder& b, const Node& call, std::string_view name) {
  const auto empty = std::ranges::find_if(call.args, [&](Id arg) { return is_empty(b.type(arg)); });
  if (empty == call.args.end() || is_empty(call.type)) return std::nullopt;
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  const std::string& op = call.op;
  if (op == "sum" || op == "matmul" || op == "searchsorted") return filled(b, call.type, 0, name);
  if (op == "prod") return filled(b, call.type, 1, name);
  if (op == "logsumexp") return filled(b, call.type, -unbounded, name);
  if (op == "mean" || op == "var") return not_a_number(b, call.type, name);
  if (op == "cat") return joined(b, call, name);
  // There are no elements to scatter.
  if (op == "scatter" || op == "scatter_add")
    return b.call("reshape", {call.args[0]}, {{"shape", call.type.shape}}, name);
  if (op == "linear" && call.args.size() == 3 && *empty != call.args[2])
    return b.call("expand", {call.args[2]}, {{"shape", call.type.shape}}, name);
  if (op == "linear" && call.args.size() == 2) return filled(b, call.type, 0, name);
  throw Error(fmt::format("{}: expected tensors of at least one element, found {}", op, print(b.type(*empty))));
}

}  // namespace deplo::ir::torch
