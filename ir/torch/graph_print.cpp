#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text/match.h"
#include "ir/torch/operations/infer.h"

namespace deplo::ir::torch {
namespace {

// Prints a float as Python does: the shortest decimal that reads back exactly, with a point or an exponent.
std::string print_number(double value) {
  std::string text = fmt::format("{}", value);
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string print_attribute(const Attribute& attribute) {
  return match(
      attribute, [](bool flag) { return std::string(flag ? "True" : "False"); },
      [](std::int64_t whole) { return std::to_string(whole); }, [](double number) { return print_number(number); },
      [](const std::string& text) { return "'" + text + "'"; },
      [](const std::vector<std::int64_t>& list) { return print_list(list); },
      [](DType dtype) { return std::string(torch_name(dtype)); });
}

std::string print_scalar(const Node& node) {
  if (node.type.dtype == DType::boolean) return node.value != 0 ? "True" : "False";
  if (is_integer(node.type.dtype)) return fmt::format("{:.0f}", node.value);
  return print_number(node.value);
}

std::string print_call(const Graph& graph, const Node& call) {
  std::string arguments;
  std::vector<const Node*> args;
  for (const Id id : call.args) {
    args.push_back(&graph.nodes[static_cast<std::size_t>(id)]);
    arguments += fmt::format("{}{}", arguments.empty() ? "" : ", ", args.back()->name);
  }
  for (const std::string_view attribute : attribute_names(call.op)) {
    if (is_default(call, args, attribute)) continue;
    arguments += fmt::format("{}{}={}", arguments.empty() ? "" : ", ", attribute,
                             print_attribute(call.attributes.find(attribute)->second));
  }
  return fmt::format("{} = {}({}) -> {}\n", call.name, call.op, arguments, print(call.type));
}

}  // namespace

std::string print(const Graph& graph) {
  const auto inputs = std::ranges::count(graph.nodes, Node::Kind::input, &Node::kind);
  std::string text = fmt::format("# Graph: {} nodes, {} inputs, {} outputs{}\n", graph.nodes.size(), inputs,
                                 graph.outputs.size(), graph.allow_tf32 ? ", tf32 allowed" : "");
  std::string constants, calls;
  text += "inputs:\n";
  for (const Node& node : graph.nodes) {
    const std::string line = fmt::format("{}: {}", node.name, print(node.type));
    if (node.kind == Node::Kind::input) text += line + "\n";
    if (node.kind == Node::Kind::parameter) constants += line + "\n";
    if (node.kind == Node::Kind::scalar) constants += fmt::format("{} = {}\n", line, print_scalar(node));
    if (node.kind == Node::Kind::call) calls += print_call(graph, node);
  }
  if (!constants.empty()) text += "constants:\n" + constants;
  text += calls + "outputs:\n";
  for (const Id output : graph.outputs) {
    const Node& node = graph.nodes[static_cast<std::size_t>(output)];
    text += fmt::format("{}: {}\n", node.name, print(node.type));
  }
  return text;
}

}  // namespace deplo::ir::torch
