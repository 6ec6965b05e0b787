#include "rules/fuse.h"

#include <algorithm>

#include "rules/fusion/loop_op.h"

namespace deplo::rules {
namespace {

using ir::tensor::Node;

bool is_computed(const Node& node) {
  return node.as<ir::tensor::Input>() == nullptr && node.as<ir::tensor::Parameter>() == nullptr &&
         node.as<ir::tensor::Scalar>() == nullptr;
}

// An output that is an input, a parameter or a number is copied to a tensor of its own: somebody must write it.
ir::tensor::Graph with_own_outputs(ir::tensor::Graph graph) {
  for (int& output : graph.outputs) {
    const Node source = graph.nodes[static_cast<std::size_t>(output)];
    if (is_computed(source)) continue;
    ir::tensor::IndexMap::Branch branch;
    for (std::size_t d = 0; d < source.type.shape.size(); ++d)
      branch.coordinates.push_back(source.type.shape[d] == 1 ? ir::Expr(0) : ir::tensor::coordinate(d));
    std::string name = source.name + "_out";
    while (std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) { return n.name == name; }))
      name += "_";
    graph.nodes.push_back({std::move(name), source.type, ir::tensor::IndexMap{{std::move(branch)}}, {output}});
    output = static_cast<int>(graph.nodes.size()) - 1;
  }
  return graph;
}

ir::Tensor tensor_of(const fusion::Fusion& fusion, int id) {
  const Node& node = fusion.graph.nodes[static_cast<std::size_t>(id)];
  const fusion::Layout& layout = fusion.layouts[static_cast<std::size_t>(id)];
  ir::Tensor tensor{.name = node.name, .type = node.type, .source = {}, .of = {}, .permutation = {}};
  if (!layout.empty()) tensor.type.shape = fusion::stored_shape(node.type.shape, layout);
  if (const auto* input = node.as<ir::tensor::Input>()) {
    tensor.kind = ir::Tensor::Kind::input;
    tensor.source = input->source;
  } else if (const auto* parameter = node.as<ir::tensor::Parameter>()) {
    tensor.kind = ir::Tensor::Kind::parameter;
    tensor.source = parameter->source;
    if (!layout.empty()) tensor.of = node.name;
    for (const std::vector<int>& dims : layout) tensor.permutation.push_back(dims[0]);
  }
  return tensor;
}

}  // namespace

ir::Module fuse(const ir::tensor::Graph& graph, const FuseOptions& options) {
  const ir::tensor::Graph own = with_own_outputs(graph);
  fusion::Fusion state{.graph = own, .values = {}, .ops = {}};
  fusion::lift(state);
  if (options.merge) fusion::merge(state, options.guard);
  if (options.merge && options.layouts) fusion::choose_layouts(state);
  ir::Module module;
  for (std::size_t i = 0; i < own.nodes.size(); ++i)
    if (!is_computed(own.nodes[i]) && own.nodes[i].as<ir::tensor::Scalar>() == nullptr)
      module.tensors.push_back(tensor_of(state, static_cast<int>(i)));
  for (const fusion::LoopOp& op : state.ops) {
    module.tensors.push_back(tensor_of(state, op.output));
    module.kernels.push_back(fusion::place(state, op));
  }
  for (const int output : own.outputs) module.outputs.push_back(state.name(output));
  return module;
}

}  // namespace deplo::rules
