#include "ir/torch/evaluate.h"

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/rng.h"
#include "ir/torch/evaluate/ops.h"

namespace deplo::ir::torch {
namespace {

struct Row {
  std::string_view op;
  Values (*evaluate)(const Operands&);
};

constexpr std::array table = std::to_array<Row>({
    {"abs", evaluate_unary},
    {"add", evaluate_binary},
    {"amax", evaluate_reduction},
    {"amin", evaluate_reduction},
    {"arange", evaluate_arange},
    {"cat", evaluate_join},
    {"cos", evaluate_unary},
    {"div", evaluate_binary},
    {"embedding", evaluate_embedding},
    {"eq", evaluate_binary},
    {"erf", evaluate_unary},
    {"exp", evaluate_unary},
    {"expand", evaluate_expand},
    {"full", evaluate_full},
    {"gather", evaluate_gather},
    {"ge", evaluate_binary},
    {"gelu", evaluate_unary},
    {"gt", evaluate_binary},
    {"layer_norm", evaluate_layer_norm},
    {"le", evaluate_binary},
    {"linear", evaluate_linear},
    {"log", evaluate_unary},
    {"log_softmax", evaluate_softmax},
    {"logical_and", evaluate_binary},
    {"logical_not", evaluate_unary},
    {"logical_or", evaluate_binary},
    {"lt", evaluate_binary},
    {"masked_fill", evaluate_masked_fill},
    {"matmul", evaluate_matmul},
    {"maximum", evaluate_binary},
    {"mean", evaluate_reduction},
    {"minimum", evaluate_binary},
    {"mul", evaluate_binary},
    {"ne", evaluate_binary},
    {"neg", evaluate_unary},
    {"permute", evaluate_permute},
    {"pow", evaluate_binary},
    {"prod", evaluate_reduction},
    {"reciprocal", evaluate_unary},
    {"relu", evaluate_unary},
    {"reshape", evaluate_copy},
    {"rms_norm", evaluate_rms_norm},
    {"rsqrt", evaluate_unary},
    {"scaled_dot_product_attention", evaluate_attention},
    {"select", evaluate_select},
    {"sigmoid", evaluate_unary},
    {"silu", evaluate_unary},
    {"sin", evaluate_unary},
    {"slice", evaluate_slice},
    {"softmax", evaluate_softmax},
    {"sqrt", evaluate_unary},
    {"squeeze", evaluate_copy},
    {"stack", evaluate_join},
    {"sub", evaluate_binary},
    {"sum", evaluate_reduction},
    {"tanh", evaluate_unary},
    {"to", evaluate_to},
    {"transpose", evaluate_transpose},
    {"tril", evaluate_triangle},
    {"triu", evaluate_triangle},
    {"unsqueeze", evaluate_copy},
    {"var", evaluate_reduction},
    {"where", evaluate_where},
});

Values evaluate_call(const Operands& operands) {
  const auto row = std::ranges::find(table, operands.node.op, &Row::op);
  CHECK(row != table.end());
  Values values = row->evaluate(operands);
  CHECK(values.size() == operands.result_count());
  return values;
}

/// Of each node the last one that reads it; outputs are read at the end.
std::vector<std::size_t> last_uses(const Graph& graph) {
  std::vector<std::size_t> last(graph.nodes.size(), 0);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const Id arg : graph.nodes[i].args) last[static_cast<std::size_t>(arg)] = i;
  for (const Id output : graph.outputs) last[static_cast<std::size_t>(output)] = graph.nodes.size();
  return last;
}

}  // namespace

Shape broadcast_strides(const Shape& operand, const Shape& result) {
  const Shape own = row_major_strides(operand);
  Shape strides(result.size(), 0);
  const std::size_t extra = result.size() - operand.size();
  for (std::size_t i = 0; i < operand.size(); ++i) strides[extra + i] = operand[i] == 1 ? 0 : own[i];
  return strides;
}

namespace {

/// `made` is called with each node whose values were just computed.
template <class Made>
std::vector<Values> evaluate_all(const Graph& graph, const std::vector<Values>& sources, Made made) {
  CHECK(sources.size() == graph.nodes.size());
  const std::vector<std::size_t> last = last_uses(graph);
  std::vector<Values> computed(graph.nodes.size());
  const auto values_of = [&](std::size_t id) -> const Values& {
    const bool given = graph.nodes[id].kind == Node::Kind::input || graph.nodes[id].kind == Node::Kind::parameter;
    return given ? sources[id] : computed[id];
  };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.kind == Node::Kind::scalar) computed[i] = {node.value};
    if (node.kind == Node::Kind::input || node.kind == Node::Kind::parameter)
      CHECK(static_cast<std::int64_t>(sources[i].size()) == element_count(node.type.shape));
    if (node.kind != Node::Kind::call) continue;
    Operands operands = {node, {}, {}};
    for (const Id arg : node.args) {
      operands.args.push_back(&graph.nodes[static_cast<std::size_t>(arg)]);
      operands.values.push_back(&values_of(static_cast<std::size_t>(arg)));
    }
    computed[i] = evaluate_call(operands);
    made(node, computed[i]);
    for (const Id arg : node.args)
      if (last[static_cast<std::size_t>(arg)] == i) Values().swap(computed[static_cast<std::size_t>(arg)]);
  }
  std::vector<Values> outputs;
  for (const Id output : graph.outputs) outputs.push_back(values_of(static_cast<std::size_t>(output)));
  return outputs;
}

}  // namespace

std::vector<Values> evaluate(const Graph& graph, const std::vector<Values>& sources) {
  return evaluate_all(graph, sources, [](const Node&, Values&) {});
}

std::vector<Values> evaluate_disturbed(const Graph& graph, std::vector<Values> sources, double relative,
                                       std::uint64_t seed) {
  Rng rng(seed);
  const auto disturb = [&](const Node& node, Values& values) {
    if (node.type.dtype == DType::i32 || node.type.dtype == DType::boolean) return;
    for (double& value : values) value *= 1 + rng.uniform(-relative, relative);
  };
  for (std::size_t i = 0; i < sources.size(); ++i) disturb(graph.nodes[i], sources[i]);
  return evaluate_all(graph, sources, disturb);
}

}  // namespace deplo::ir::torch
