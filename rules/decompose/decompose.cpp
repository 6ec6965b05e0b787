#include "rules/decompose/decompose.h"

#include "core/error.h"
#include "ir/torch/operations/operation.h"
#include "ir/torch/operations/tensor_call.h"

namespace deplo::rules {
namespace {

namespace tensor = ir::tensor;
namespace torch = ir::torch;

// The result gets the call's name. If the result is also an argument (a sum over no dimension), it is copied.
int decompose_call(tensor::Emitter& e, const torch::Graph& graph, const torch::Node& node,
                   const std::vector<int>& ids) {
  const torch::Operation* operation = torch::find_operation(node.op);
  CHECK(operation != nullptr);
  torch::TensorCall call{graph, node, {}};
  for (const torch::Id a : node.args) call.args.push_back(ids[static_cast<std::size_t>(a)]);
  e.start(node.name);
  const std::size_t before = e.size();
  int result = operation->decompose(e, call);
  if (static_cast<std::size_t>(result) < before) result = e.add({"", e.type(result), tensor::Elementwise{}, {result}});
  CHECK(e.type(result) == node.type);
  e.rename(result, node.name);
  return result;
}

}  // namespace

tensor::Graph decompose(const torch::Graph& graph) {
  tensor::Emitter e(4 * graph.nodes.size());
  for (const torch::Node& node : graph.nodes) e.reserve(node.name);
  std::vector<int> ids;
  for (const torch::Node& node : graph.nodes) {
    using Kind = torch::Node::Kind;
    if (ir::element_count(node.type.shape) == 0) {
      ids.push_back(-1);
      continue;
    }
    if (node.kind == Kind::input) ids.push_back(e.add({node.name, node.type, tensor::Input{node.source}, {}}));
    if (node.kind == Kind::parameter) ids.push_back(e.add({node.name, node.type, tensor::Parameter{node.source}, {}}));
    if (node.kind == Kind::scalar) ids.push_back(e.add({node.name, node.type, tensor::Scalar{node.value}, {}}));
    if (node.kind == Kind::call) ids.push_back(decompose_call(e, graph, node, ids));
  }
  for (const torch::Id o : graph.outputs)
    if (const int id = ids[static_cast<std::size_t>(o)]; id >= 0) e.graph().outputs.push_back(id);
  return std::move(e.graph());
}

}  // namespace deplo::rules
