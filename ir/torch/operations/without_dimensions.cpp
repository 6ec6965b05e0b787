#include "ir/torch/operations/without_dimensions.h"

#include <algorithm>
#include <array>

namespace deplo::ir::torch {
namespace {

// Operations along one dimension, and operations along several or all dimensions. The others, such as select, refuse
// tensors without dimensions in PyTorch, too.
constexpr auto along_one =
    std::to_array<std::string_view>({"argsort", "cummax", "cummin", "cumprod", "cumsum", "gather", "log_softmax",
                                     "scatter", "scatter_add", "softmax", "transpose"});
constexpr auto along_some =
    std::to_array<std::string_view>({"amax", "amin", "logsumexp", "mean", "prod", "squeeze", "sum", "var"});

bool names_a_dimension(std::string_view op, const Attributes& attributes) {
  if (std::ranges::count(along_one, op) > 0) return true;
  const auto dims = attributes.find("dims");
  if (std::ranges::count(along_some, op) == 0 || dims == attributes.end()) return false;
  const auto* list = std::get_if<std::vector<std::int64_t>>(&dims->second);
  return list == nullptr || !list->empty();
}

}  // namespace

std::optional<Id> call_without_dimensions(Builder& b, std::string_view op, const std::vector<Id>& args,
                                          const Attributes& attributes, std::string_view name) {
  const auto has_none = [&](Id arg) { return b.type(arg).shape.empty() && b.node(arg).kind != Node::Kind::scalar; };
  if (args.empty() || !std::ranges::all_of(args, has_none) || !names_a_dimension(op, attributes)) return std::nullopt;
  std::vector<Id> vectors;
  for (const Id arg : args) vectors.push_back(b.call("reshape", {arg}, {{"shape", Shape{1}}}));
  Attributes along = attributes;
  if (const auto kept = along.find("keepdim"); kept != along.end() && std::holds_alternative<bool>(kept->second))
    kept->second = false;  // there is no dimension to keep
  const Id result = b.call(op, vectors, along, name);
  return b.type(result).shape == Shape{1} ? b.call("reshape", {result}, {{"shape", Shape{}}}, name) : result;
}

}  // namespace deplo::ir::torch
