#include "ir/torch/pt2/program/inline.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"

namespace deplo::ir::torch::pt2 {
namespace {

bool chooses_graph(const ProgramNode& node) { return node.target.ends_with("higher_order.cond"); }

bool repeats_graph(const ProgramNode& node) { return node.target.ends_with("higher_order.scan"); }

bool calls_graph(const ProgramNode& node) {
  return chooses_graph(node) || repeats_graph(node) || node.target.find("higher_order.wrap_with_") != std::string::npos;
}

[[noreturn]] void fail(const ProgramNode& node, std::string_view expected) {
  throw Error(fmt::format("node '{}': expected {}", node.name, expected));
}

// Whether the operand is a number with a known value, which the inner graph has where it is used.
bool is_known(const Argument& operand) {
  return std::holds_alternative<std::int64_t>(operand) || std::holds_alternative<double>(operand) ||
         std::holds_alternative<bool>(operand);
}

// Returns the node with an output for each result. PyTorch 2.5 and 2.6 write all results as one list.
ProgramNode with_single_outputs(ProgramNode node) {
  const auto* list = node.outputs.size() == 1 ? std::get_if<Tensors>(node.outputs.data()) : nullptr;
  if (list == nullptr) return node;
  std::vector<Argument> outputs;
  for (const std::string& name : list->names) outputs.emplace_back(Tensor{name});
  node.outputs = std::move(outputs);
  return node;
}

// Returns argument `i`, which must be a T.
template <typename T>
const T& argument_of(const ProgramNode& node, std::size_t i, std::string_view expected) {
  const T* found = i < node.inputs.size() ? std::get_if<T>(&node.inputs[i].value) : nullptr;
  if (found == nullptr) fail(node, expected);
  return *found;
}

// The names of a graph's tensors → their names in the result. Other tensors keep their names.
using Names = std::map<std::string, std::string, std::less<>>;

std::string name_in(const Names& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

void rename(Argument& argument, const Names& names) {
  each_tensor(argument, [&](std::string& name) { name = name_in(names, name); });
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
    if (chooses_graph(node)) return add_choice(with_single_outputs(node), names);
    if (repeats_graph(node)) return add_steps(with_single_outputs(node), names);
    if (calls_graph(node)) return add_graph(with_single_outputs(node), names);
    ProgramNode& added = graph_.nodes.emplace_back(node);
    for (NamedArgument& input : added.inputs) rename(input.value, names);
    for (Argument& output : added.outputs) rename(output, names);
  }

  // The node's arguments are (…, graph, operands…).
  void add_graph(const ProgramNode& node, Names& names) {
    const auto is_graph = [](const NamedArgument& a) { return std::holds_alternative<Subgraph>(a.value); };
    const auto found = std::ranges::find_if(node.inputs, is_graph);
    if (found == node.inputs.end()) fail(node, "a graph among the arguments, found none");
    std::vector<std::string> operands;
    for (auto operand = found + 1; operand != node.inputs.end(); ++operand) {
      const auto* tensor = std::get_if<Tensor>(&operand->value);
      if (tensor == nullptr && !is_known(operand->value)) fail(node, "tensors as operands of the graph");
      operands.push_back(tensor == nullptr ? "" : name_in(names, tensor->name));
    }
    const ProgramGraph& inner = *std::get<Subgraph>(found->value).graph;
    const Names inside = add_nodes(node, inner, operands, names, true);
    each_result(node, inner,
                [&](const std::string& from, const std::string& to) { names[to] = name_in(inside, from); });
  }

  // torch.cond: the node's arguments are (condition, graph, other graph, operands). Both graphs are computed, and each
  // result is chosen by `where`. This gives what PyTorch gives, because torch.cond allows only graphs without effects.
  void add_choice(const ProgramNode& node, const Names& names) {
    const auto& condition = argument_of<Tensor>(node, 0, "a tensor as the condition");
    const std::vector<std::string> operands = tensors_of(node, 3, names);
    std::vector<std::vector<NamedArgument>> choices(node.outputs.size());
    for (std::vector<NamedArgument>& choice : choices)
      choice.push_back({"condition", Tensor{name_in(names, condition.name)}});
    for (const std::size_t i : {1, 2}) {
      const ProgramGraph& inner = *argument_of<Subgraph>(node, i, "two graphs, and their operands").graph;
      const Names inside = add_nodes(node, inner, operands, names, false);
      for (std::size_t k = 0; k < choices.size(); ++k) {
        Argument result = inner.outputs[k];
        if (!std::holds_alternative<Tensor>(result)) fail(node, "tensors as results of both graphs");
        rename(result, inside);
        choices[k].push_back({i == 1 ? "self" : "other", std::move(result)});
      }
    }
    for (std::size_t k = 0; k < choices.size(); ++k) {
      Argument result = node.outputs[k];
      rename(result, names);
      const auto* tensor = std::get_if<Tensor>(&result);
      if (tensor == nullptr) fail(node, "tensors as results");
      graph_.nodes.push_back({"torch.ops.aten.where.self", tensor->name, std::move(choices[k]), {result}});
    }
  }

  // scan: the node's arguments are (graph, states, inputs, further operands). The graph is added for each row of the
  // inputs. It maps (states, rows, further operands) to (states, results). The results of all rows are stacked.
  void add_steps(const ProgramNode& node, Names& names) {
    const ProgramGraph& step = *argument_of<Subgraph>(node, 0, "a graph").graph;
    std::vector<std::string> states = tensors_of(node, 1, names);
    const std::vector<std::string> inputs = tensors_of(node, 2, names), further = tensors_of(node, 3, names);
    if (states.size() > step.outputs.size()) fail(node, "a result of the graph for each state");
    std::vector<Tensors> stacked(step.outputs.size() - states.size());
    for (std::int64_t row = 0; row < rows_of(node, inputs); ++row) {
      std::vector<std::string> operands = states;
      for (const std::string& input : inputs) operands.push_back(add_row(input, row));
      operands.insert(operands.end(), further.begin(), further.end());
      const Names inside = add_nodes(node, step, operands, names, false);
      for (std::size_t k = 0; k < step.outputs.size(); ++k) {
        const auto* result = std::get_if<Tensor>(&step.outputs[k]);
        if (result == nullptr) fail(node, "tensors as results of the graph");
        const std::string name = name_in(inside, result->name);
        if (k < states.size())
          states[k] = name;
        else
          stacked[k - states.size()].names.push_back(name);
      }
    }
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      Argument result = node.outputs[k];
      rename(result, names);
      const auto* tensor = std::get_if<Tensor>(&result);
      if (tensor == nullptr) fail(node, "tensors as results");
      if (k < states.size())
        names[std::get<Tensor>(node.outputs[k]).name] = states[k];
      else
        graph_.nodes.push_back(
            {"torch.ops.aten.stack.default", tensor->name, {{"tensors", stacked[k - states.size()]}}, {result}});
    }
  }

  // Returns the number of rows of a scan's inputs.
  std::int64_t rows_of(const ProgramNode& node, const std::vector<std::string>& inputs) const {
    const auto found = inputs.empty() ? graph_.tensors.end() : graph_.tensors.find(inputs[0]);
    if (found == graph_.tensors.end() || !found->second.problem.empty() || found->second.type.shape.empty() ||
        found->second.type.shape[0] < 1)
      fail(node, "inputs with a known number of rows, at least one");
    return found->second.type.shape[0];
  }

  // Adds the selection of a tensor's row, and returns its name.
  std::string add_row(const std::string& tensor, std::int64_t row) {
    std::string name = unused(fmt::format("{}_row", tensor));
    TensorMeta meta = graph_.tensors.at(tensor);
    meta.type.shape.erase(meta.type.shape.begin());
    if (!meta.strides.empty()) meta.strides.erase(meta.strides.begin());
    meta.offset = -1;
    graph_.tensors.emplace(name, std::move(meta));
    graph_.nodes.push_back({"torch.ops.aten.select.int",
                            name,
                            {{"self", Tensor{tensor}}, {"dim", std::int64_t{0}}, {"index", row}},
                            {Tensor{name}}});
    return name;
  }

  static std::vector<std::string> tensors_of(const ProgramNode& node, std::size_t i, const Names& names) {
    std::vector<std::string> tensors = argument_of<Tensors>(node, i, "lists of tensors as operands of the graph").names;
    for (std::string& name : tensors) name = name_in(names, name);
    return tensors;
  }

  template <typename Use>
  static void each_result(const ProgramNode& node, const ProgramGraph& inner, const Use& use) {
    for (std::size_t i = 0; i < inner.outputs.size(); ++i)
      if (const auto* from = std::get_if<Tensor>(&inner.outputs[i]), *to = std::get_if<Tensor>(&node.outputs[i]);
          from != nullptr && to != nullptr)
        use(from->name, to->name);
  }

  // Adds the nodes of an inner graph, and returns the names of its tensors in the result. `names_results`: whether its
  // outputs get the names of the node's outputs.
  Names add_nodes(const ProgramNode& node, const ProgramGraph& inner, const std::vector<std::string>& operands,
                  const Names& names, bool names_results) {
    if (operands.size() != inner.inputs.size()) fail(node, "an operand for each input of the graph");
    if (inner.outputs.size() != node.outputs.size()) fail(node, "an output for each output of the graph");
    Names inside;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (is_known(inner.inputs[i])) continue;
      const auto* input = std::get_if<Tensor>(&inner.inputs[i]);
      if (input == nullptr) fail(node, "tensors as operands of the graph");
      inside.emplace(input->name, operands[i]);
    }
    const auto give = [&](const std::string& from, const std::string& to) { inside.emplace(from, name_in(names, to)); };
    if (names_results) each_result(node, inner, give);
    for (const auto& [name, meta] : inner.tensors) {
      if (!inside.contains(name)) inside.emplace(name, unused(name));
      graph_.tensors.emplace(inside.at(name), meta);
    }
    for (const ProgramNode& n : inner.nodes) add(n, inside);
    return inside;
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
