#include "rules/fusion/fuse.h"

#include <algorithm>

#include "core/error.h"
#include "ir/softmax.h"
#include "rules/fusion/key_parts.h"
#include "rules/fusion/loop_op.h"
#include "rules/fusion/slices.h"
#include "rules/fusion/sum_parts.h"

namespace deplo::rules {
namespace {

using ir::tensor::Node;

// Inputs and outputs keep their order in memory: their layouts only join dimensions.
ir::Tensor tensor_of(const fusion::Fusion& fusion, int id) {
  const Node& node = fusion.graph.nodes[static_cast<std::size_t>(id)];
  const fusion::Layout& layout = fusion.layouts[static_cast<std::size_t>(id)];
  ir::Tensor tensor{.name = node.name, .type = node.type, .source = {}, .of = {}, .permutation = {}};
  const bool as_given = node.as<ir::tensor::Input>() != nullptr || fusion.is_stored(id);
  if (!as_given && !layout.empty()) tensor.type.shape = fusion::stored_shape(node.type.shape, layout);
  if (const auto* input = node.as<ir::tensor::Input>()) {
    tensor.kind = ir::Tensor::Kind::input;
    tensor.source = input->source;
  } else if (const auto* parameter = node.as<ir::tensor::Parameter>()) {
    tensor.kind = ir::Tensor::Kind::parameter;
    tensor.source = parameter->source;
    if (!layout.empty()) tensor.of = node.name;
    for (const std::vector<int>& dims : layout) tensor.permutation.push_back(dims[0]);
  }
  if (const auto part = fusion.stacks.parts.find(id); part != fusion.stacks.parts.end()) {
    tensor.part_of = fusion.name(part->second.whole);
    tensor.offset = part->second.offset;
  }
  return tensor;
}

bool is_tensor(const ir::tensor::Graph& graph, const std::string& name) {
  return std::ranges::any_of(graph.nodes, [&](const Node& node) { return node.name == name; });
}

/// Adds an attention whose keys are split into parts: its two kernels, and the tensor between them.
void add_in_parts(ir::Module& module, const ir::Program& attention, const KeyParts& parts,
                  const ir::tensor::Graph& graph) {
  std::string name = attention.name + "_parts";
  while (is_tensor(graph, name)) name += "_";
  auto [summing, combining] = fusion::part_keys(attention, parts, name);
  const ir::Buffer& made = *summing.find(name);
  module.tensors.push_back({.name = name, .type = {made.dtype, made.shape}, .source = {}, .of = {}, .permutation = {}});
  module.kernels.push_back(std::move(summing));
  module.kernels.push_back(std::move(combining));
}

KeyParts choose_parts(const ir::Program& attention, const Target& target, fusion::Decisions& decisions) {
  if (const auto fixed = decisions.fixed("key_parts"))
    return fusion::fixed_key_parts(attention, std::get<std::int64_t>(*fixed));
  const std::vector<KeyParts> options = fusion::key_parts_options(attention, target);
  if (options.size() == 1) return options[0];
  std::vector<Value> values;
  for (const KeyParts& option : options) values.emplace_back(option.parts);
  const Value value = decisions.take("key_parts", attention.name, values);
  return options[static_cast<std::size_t>(std::ranges::find(values, value) - values.begin())];
}

/// Does one kernel still read the other's result from memory after kernels were joined?
bool are_apart(const fusion::Fusion& state, const Apart& pair) {
  return std::ranges::any_of(state.ops, [&](const fusion::LoopOp& op) {
    const auto is_consumer = [&](const fusion::Result& result) { return state.name(result.output) == pair.consumer; };
    const auto is_producer = [&](int tensor) { return state.name(tensor) == pair.producer; };
    return std::ranges::any_of(results(op), is_consumer) && std::ranges::any_of(op.reads, is_producer);
  });
}

ir::Module kernels_of(fusion::Fusion& state, const FuseOptions& options, const FusionObserver& observe) {
  const ir::tensor::Graph& graph = state.graph;
  ir::Module module;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (is_leaf(graph.nodes[i]) && graph.nodes[i].as<ir::tensor::Scalar>() == nullptr)
      module.tensors.push_back(tensor_of(state, static_cast<int>(i)));
  for (const int whole : state.stacks.wholes) module.tensors.push_back(tensor_of(state, whole));
  for (const fusion::LoopOp& op : state.ops) {
    ir::Program kernel = fusion::place(state, op);
    KeyParts parts;
    if (ir::has_softmax_sum(kernel)) {
      parts = choose_parts(kernel, options.target, state.decisions);
      observe.parted(parts);
    }
    if (parts.parts > 1) add_in_parts(module, kernel, parts, graph);
    for (const fusion::Result& result : results(op)) module.tensors.push_back(tensor_of(state, result.output));
    if (parts.parts == 1) module.kernels.push_back(std::move(kernel));
  }
  for (const int output : graph.outputs) module.outputs.push_back(state.name(output));
  return module;
}

}  // namespace

Result<Fused> fuse(const ir::tensor::Graph& graph, const Trail& taken, const FuseOptions& options,
                   const FusionObserver& observe) {
  for (const int output : graph.outputs) CHECK(!is_leaf(graph.nodes[static_cast<std::size_t>(output)]));
  fusion::Decisions decisions(taken, options.fixed);
  fusion::Stacks stacks;
  if (options.merge) stacks = fusion::find_stacks(fusion::part_sums(graph, options.target, decisions), options.target);
  const ir::tensor::Graph parted = options.merge ? std::move(stacks.graph) : graph;
  fusion::Fusion state{.graph = parted,
                       .values = {},
                       .ops = {},
                       .target = options.target,
                       .attentions = {},
                       .decisions = std::move(decisions),
                       .stacks = std::move(stacks)};
  fusion::lift(state);
  if (options.merge) fusion::merge(state, options.guard);
  for (const auto& [output, attention] : state.attentions) observe.found(attention);
  const std::vector<Apart> apart = options.merge && observe.apart ? fusion::kernels_apart(state) : std::vector<Apart>{};
  if (options.merge && options.guard)
    for (fusion::LoopOp& op : state.ops) fusion::join_rows(state, op);
  if (options.merge && options.guard) fusion::join_results(state);
  for (const Apart& pair : apart)
    if (are_apart(state, pair)) observe.apart(pair);
  if (options.merge && options.layouts) {
    fusion::choose_layouts(state);
    fusion::order_axes(state);
  }
  Fused fused{kernels_of(state, options, observe), {}, {}};
  if (options.merge) fusion::share_slices(fused.module, options.target);
  if (const std::string fault = state.decisions.fault(); !fault.empty())
    return Failure{Status::invalid, "graph: " + fault};
  fused.trail = state.decisions.trail();
  fused.forks = state.decisions.forks();
  return fused;
}

ir::Module fuse(const ir::tensor::Graph& graph, const FuseOptions& options, const FusionObserver& observe) {
  return fuse(graph, Trail{}, options, observe).value().module;
}

}  // namespace deplo::rules
