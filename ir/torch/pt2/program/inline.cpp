#include "ir/torch/pt2/program/inline.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"

namespace deplo::ir::torch::pt2 {
namespace {

bool calls_graph(const ProgramNode& node) { return node.target.find("higher_order.wrap_with_") != std::string::npos; }

// The names of a graph's tensors → their names in the result. Other tensors keep their names.
using Names = std::map<std::string, std::string, std::less<>>;

std::string name_in(const Names& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

void rename(Argument& argument, const Names& names) {
  if (auto* tensor = std::get_if<Tensor>(&argument)) tensor->name = name_in(names, tensor->name);
  if (auto* list = std::get_if<Tensors>(&argument))
    for (std::string& name : list->names) name = name_in(names, name);
}

class Inliner {
 public:
  explicit Inliner(ProgramGraph& graph) : graph_(graph) {
    for (const auto& [name, meta] : graph.tensors) taken_.insert(name);
  }

  void run() {
    const std::vector<ProgramNode> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    Names names;
    for (const ProgramNode& node : nodes) add(node, names);
    for (Argument& output : graph_.outputs) rename(output, names);
  }

 private:
  void add(const ProgramNode& node, Names& names) {
    if (calls_graph(node)) return add_graph(node, names);
    ProgramNode& added = graph_.nodes.emplace_back(node);
    for (NamedArgument& input : added.inputs) rename(input.value, names);
    for (Argument& output : added.outputs) rename(output, names);
  }

  // The node's arguments are (…, graph, operands…).
  void add_graph(const ProgramNode& node, Names& names) {
    const auto fail = [&](std::string_view expected) {
      throw Error(fmt::format("node '{}': expected {}", node.name, expected));
    };
    const auto is_graph = [](const NamedArgument& a) { return std::holds_alternative<Subgraph>(a.value); };
    const auto found = std::ranges::find_if(node.inputs, is_graph);
    if (found == node.inputs.end()) fail("a graph among the arguments, found none");
    const ProgramGraph& inner = *std::get<Subgraph>(found->value).graph;
    if (static_cast<std::size_t>(node.inputs.end() - found) != inner.inputs.size() + 1)
      fail("an operand for each input of the graph");
    if (inner.outputs.size() != node.outputs.size()) fail("an output for each output of the graph");
    Names inside;
    for (std::size_t i = 0; i < inner.inputs.size(); ++i) {
      const auto* operand = std::get_if<Tensor>(&(found + 1 + static_cast<std::ptrdiff_t>(i))->value);
      const auto* input = std::get_if<Tensor>(&inner.inputs[i]);
      if (operand == nullptr || input == nullptr) fail("tensors as operands of the graph");
      inside.emplace(input->name, name_in(names, operand->name));
    }
    const auto each_result = [&](const auto& use) {
      for (std::size_t i = 0; i < inner.outputs.size(); ++i)
        if (const auto* from = std::get_if<Tensor>(&inner.outputs[i]), *to = std::get_if<Tensor>(&node.outputs[i]);
            from != nullptr && to != nullptr)
          use(from->name, to->name);
    };
    each_result([&](const std::string& from, const std::string& to) { inside.emplace(from, name_in(names, to)); });
    for (const auto& [name, meta] : inner.tensors) {
      if (!inside.contains(name)) inside.emplace(name, unused(name));
      graph_.tensors.emplace(inside.at(name), meta);
    }
    for (const ProgramNode& n : inner.nodes) add(n, inside);
    each_result([&](const std::string& from, const std::string& to) { names[to] = name_in(inside, from); });
  }

  std::string unused(const std::string& name) {
    std::string result = name;
    for (int i = 1; !taken_.insert(result).second; ++i) result = fmt::format("{}_{}", name, i);
    return result;
  }

  ProgramGraph& graph_;
  std::set<std::string> taken_;
};

}  // namespace

void inline_graphs(ProgramGraph& graph) {
  if (std::ranges::any_of(graph.nodes, calls_graph)) Inliner(graph).run();
}

}  // namespace deplo::ir::torch::pt2
