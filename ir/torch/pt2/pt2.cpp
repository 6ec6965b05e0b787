#include "ir/torch/pt2/pt2.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/error.h"
#include "core/text/nearest.h"
#include "ir/torch/operations/operation.h"
#include "ir/torch/pt2/call.h"
#include "ir/torch/pt2/program.h"
#include "ir/torch/pt2/weights.h"
#include "ir/torch/pt2/zip.h"

namespace deplo::ir::torch {
namespace pt2 {
namespace {

constexpr std::string_view aten_prefix = "torch.ops.";

// Sorted by name.
const std::vector<Function>& functions() {
  static const std::vector<Function> all = [] {
    std::vector<Function> found = composite_readers();
    for (const Operation& operation : operations())
      for (const Function& f : operation.readers) found.emplace_back(f).op = operation.name;
    std::ranges::sort(found, {}, &Function::name);
    CHECK(std::ranges::adjacent_find(found, {}, &Function::name) == found.end());
    return found;
  }();
  return all;
}

std::string unsupported(std::string_view target, std::string_view name) {
  std::string hint;
  if (name.ends_with('_') && !name.ends_with("__"))
    hint = "; run_decompositions() before torch.export.save replaces in-place operations";
  else {
    std::vector<std::string> names;
    for (const Function& f : functions()) names.emplace_back(f.name);
    hint = did_you_mean(name, names);
  }
  return fmt::format("expected a supported operation, found {}{}", target, hint);
}

// "torch.ops.aten.add.Tensor" → "aten.add". Throws Error.
const Function& function_of(const std::string& target) {
  std::string_view name = target;
  if (name.starts_with(aten_prefix)) name.remove_prefix(aten_prefix.size());
  const std::size_t dot = name.find('.', name.find('.') + 1);  // before the overload
  const std::string_view overload = dot < name.size() ? name.substr(dot + 1) : "";
  name = name.substr(0, dot);
  const auto found = std::ranges::lower_bound(functions(), name, {}, &Function::name);
  if (found == functions().end() || found->name != name || overload == "out" || overload.ends_with("_out"))
    throw Error(unsupported(target, name));
  return *found;
}

// Graphs within graphs (torch.no_grad, autocast) are read in place: their operands are named by their inputs.
class GraphReader {
 public:
  GraphReader(const ProgramGraph& graph, Builder& builder, Call::Ids ids)
      : graph_(graph), builder_(builder), ids_(std::move(ids)) {}

  std::vector<Id> read() {
    for (const ProgramNode& node : graph_.nodes) {
      try {
        read(node);
      } catch (const Error& e) {
        throw Error(fmt::format("node '{}': {}", node.name, e.what()));
      }
    }
    std::vector<Id> outputs;
    for (const Argument& output : graph_.outputs) {
      if (const auto* t = std::get_if<Tensor>(&output))
        outputs.push_back(id(t->name));
      else if (!std::holds_alternative<None>(output))
        throw Error("outputs: expected tensors, found another value");
    }
    return outputs;
  }

 private:
  Id id(const std::string& name) const {
    const auto found = ids_.find(name);
    if (found == ids_.end()) throw Error(fmt::format("expected a tensor computed before, found '{}'", name));
    return found->second;
  }

  void read(const ProgramNode& node) {
    if (node.target.find("higher_order.wrap_with_") != std::string::npos) return read_subgraph(node);
    Call call(node, graph_, ids_, builder_);
    const Function& function = function_of(node.target);
    call.op = function.op;
    std::vector<Id> results = function.read(call);
    call.finish();
    if (results.size() > call.outputs().size()) throw Error("expected an output for each result, found fewer");
    for (std::size_t i = 0; i < results.size(); ++i) bind(call, i, results[i]);
    for (std::size_t i = results.size(); i < call.outputs().size(); ++i)
      if (call.is_read(i))
        throw Error(fmt::format("{}: expected a graph that reads {} of its results, found one that reads '{}' too",
                                node.target, results.size(), call.outputs()[i]));
  }

  // Checks the result against the type that the file states.
  void bind(const Call& call, std::size_t i, Id result) {
    const TensorType &stated = call.output_type(i), found = builder_.type(result);
    const bool alike = (is_float(found.dtype) && is_float(stated.dtype)) ||
                       (is_integer(found.dtype) && is_integer(stated.dtype));  // out_int32 and the like
    if (found.shape != stated.shape || (found.dtype != stated.dtype && !alike))
      throw Error(fmt::format("expected the result {} that the file states, found {}", print(stated), print(found)));
    ids_.insert_or_assign(call.outputs()[i], call.to(result, stated.dtype));
  }

  // (…, graph, operands…)
  void read_subgraph(const ProgramNode& node) {
    const auto graph = std::ranges::find_if(
        node.inputs, [](const NamedArgument& a) { return std::holds_alternative<Subgraph>(a.value); });
    if (graph == node.inputs.end()) throw Error("expected a graph among the arguments, found none");
    const ProgramGraph& inner = *std::get<Subgraph>(graph->value).graph;
    if (static_cast<std::size_t>(node.inputs.end() - graph) != inner.inputs.size() + 1)
      throw Error("expected an operand for each input of the graph");
    Call::Ids ids;
    for (std::size_t i = 0; i < inner.inputs.size(); ++i) {
      const auto* operand = std::get_if<Tensor>(&(graph + 1 + static_cast<std::ptrdiff_t>(i))->value);
      const auto* input = std::get_if<Tensor>(&inner.inputs[i]);
      if (!operand || !input) throw Error("expected tensors as operands of the graph");
      ids.insert_or_assign(input->name, id(operand->name));
    }
    const std::vector<Id> results = GraphReader(inner, builder_, std::move(ids)).read();
    if (results.size() != node.outputs.size()) throw Error("expected an output for each output of the graph");
    for (std::size_t i = 0; i < results.size(); ++i)
      if (const auto* t = std::get_if<Tensor>(&node.outputs[i])) ids_.insert_or_assign(t->name, results[i]);
  }

  const ProgramGraph& graph_;
  Builder& builder_;
  Call::Ids ids_;
};

const TensorType& type_of(const ProgramGraph& graph, const std::string& name) {
  const auto found = graph.tensors.find(name);
  if (found == graph.tensors.end()) throw Error(fmt::format("'{}': expected a type in the file, found none", name));
  if (!found->second.problem.empty()) throw Error(fmt::format("'{}': expected {}", name, found->second.problem));
  return found->second.type;
}

// Integers and other constants among the inputs are already in the graph where they are used.
void add_input(const Program& program, const InputSpec& spec, Weights& weights, Builder& builder, Call::Ids& ids) {
  const auto* tensor = std::get_if<Tensor>(&spec.argument);
  const bool constant = spec.kind == "constant_input" || (spec.kind == "user_input" && !tensor);
  if (constant && !std::holds_alternative<Symbol>(spec.argument)) return;
  if (!tensor) throw Error(fmt::format("inputs: expected tensors, found a {}", spec.kind));
  const TensorType& type = type_of(program.graph, tensor->name);
  const Id id = spec.kind == "user_input" ? builder.input(tensor->name, type)
                                          : builder.parameter(spec.stored, type, weights.find(spec.stored, type));
  ids.insert_or_assign(tensor->name, id);
}

bool keeps_values(std::string_view op) {
  constexpr std::array ops = {"expand", "permute", "reshape", "select", "slice", "squeeze", "transpose", "unsqueeze"};
  return std::ranges::find(ops, op) != ops.end();
}

/// An exported program does not say what its inputs are. Those of whole numbers and truth values cannot be normal:
/// an index is drawn within what it points into.
void draw_whole_inputs(Graph& graph) {
  std::vector<Id> origin(graph.nodes.size());
  std::set<const Node*> indices;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& node = graph.nodes[i];
    origin[i] = static_cast<Id>(i);
    if (node.kind == Node::Kind::input) {
      constexpr double unsaid = 32;  // as a kernel's own (measure/check/inputs.h)
      const bool truth = node.type.dtype == DType::boolean;
      if (truth || is_integer(node.type.dtype)) {
        node.source.fill = {Fill::Draw::integers, 0, truth ? 2 : unsaid};
        node.source.guessed = true;
      }
    }
    if (node.kind != Node::Kind::call) continue;
    if (keeps_values(node.op)) origin[i] = origin[static_cast<std::size_t>(node.args[0])];
    if (node.op != "embedding" && node.op != "gather" && node.op != "index_select") continue;
    const Shape& table = graph.nodes[static_cast<std::size_t>(node.args[0])].type.shape;
    const std::int64_t extent = table[node.op == "embedding" ? 0 : static_cast<std::size_t>(node.integer("dim"))];
    Node& index = graph.nodes[static_cast<std::size_t>(origin[static_cast<std::size_t>(node.args[1])])];
    if (index.kind != Node::Kind::input) continue;
    double& end = index.source.fill.b;
    end = indices.insert(&index).second ? static_cast<double>(extent) : std::min(end, static_cast<double>(extent));
  }
}

Graph read(const Zip& archive) {
  std::string entry = archive.find_suffix("serialized_exported_program.json"), prefix;
  if (entry.empty()) {
    entry = archive.find_suffix("models/model.json");
    if (entry.empty())
      throw Error(archive.where() + ": expected an archive of torch.export.save, found no 'models/model.json' inside");
    prefix = entry.substr(0, entry.size() - std::string_view("models/model.json").size());
  } else {
    prefix = entry.substr(0, entry.size() - std::string_view("serialized_exported_program.json").size());
  }
  const Program program = parse_program(archive.read(entry), fmt::format("{}: {}", archive.where(), entry));
  Weights weights(archive, prefix);
  for (const OutputSpec& output : program.outputs)
    if (output.kind != "user_output")
      throw Error(fmt::format("{}: outputs: expected results only, found a {} (state that the program changes)",
                              archive.where(), output.kind));
  Builder builder;
  Call::Ids ids;
  for (const InputSpec& spec : program.inputs) add_input(program, spec, weights, builder, ids);
  const std::vector<Id> outputs = GraphReader(program.graph, builder, std::move(ids)).read();
  if (outputs.empty()) throw Error("outputs: expected at least one tensor, found none");
  Graph graph = builder.finish(outputs);
  draw_whole_inputs(graph);
  return graph;
}

}  // namespace
}  // namespace pt2

Graph read_pt2(const std::filesystem::path& file) {
  const Zip archive(file);
  try {
    return pt2::read(archive);
  } catch (const Error& e) {
    const std::string message = e.what();
    if (message.starts_with(archive.where() + ": ")) throw;
    throw Error(fmt::format("{}: {}", archive.where(), message), e.exit());
  }
}

}  // namespace deplo::ir::torch
