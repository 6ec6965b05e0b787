#include "rules/decompose/decompose.h"

#include <algorithm>
#include <array>

#include "rules/decompose/families.h"

namespace deplo::rules {
namespace {

using ir::Op;
namespace tensor = ir::tensor;
namespace torch = ir::torch;

struct Row {
  std::string_view name;  // of the operation of Torch IR
  int (*decompose)(Emitter&, const Call&);
  Op op = Op::copy;
};

// Sorted by name, checked below.
constexpr std::array table{
    Row{"abs", unary, Op::absolute},
    Row{"add", arithmetic, Op::add},
    Row{"amax", reduction, Op::maximum},
    Row{"amin", reduction, Op::minimum},
    Row{"arange", arange},
    Row{"cat", cat},
    Row{"cos", unary, Op::cos},
    Row{"div", arithmetic, Op::divide},
    Row{"embedding", embedding},
    Row{"eq", comparison, Op::equal},
    Row{"erf", unary, Op::erf},
    Row{"exp", unary, Op::exp},
    Row{"expand", expand},
    Row{"full", full},
    Row{"gather", gather},
    Row{"ge", swapped_comparison, Op::less_equal},
    Row{"gelu", gelu},
    Row{"gt", swapped_comparison, Op::less},
    Row{"layer_norm", layer_norm},
    Row{"le", comparison, Op::less_equal},
    Row{"linear", linear},
    Row{"log", unary, Op::log},
    Row{"log_softmax", log_softmax},
    Row{"logical_and", logical, Op::logical_and},
    Row{"logical_not", unary, Op::logical_not},
    Row{"logical_or", logical, Op::logical_or},
    Row{"lt", comparison, Op::less},
    Row{"masked_fill", masked_fill},
    Row{"matmul", matmul},
    Row{"maximum", arithmetic, Op::maximum},
    Row{"mean", mean},
    Row{"minimum", arithmetic, Op::minimum},
    Row{"mul", arithmetic, Op::multiply},
    Row{"ne", comparison, Op::not_equal},
    Row{"neg", unary, Op::negative},
    Row{"permute", permute},
    Row{"pow", power},
    Row{"prod", reduction, Op::multiply},
    Row{"reciprocal", unary, Op::reciprocal},
    Row{"relu", unary, Op::relu},
    Row{"reshape", reshape},
    Row{"rms_norm", rms_norm},
    Row{"rsqrt", unary, Op::rsqrt},
    Row{"scaled_dot_product_attention", attention},
    Row{"select", select},
    Row{"sigmoid", unary, Op::sigmoid},
    Row{"silu", silu},
    Row{"sin", unary, Op::sin},
    Row{"slice", slice},
    Row{"softmax", softmax},
    Row{"sqrt", unary, Op::sqrt},
    Row{"squeeze", reshape},
    Row{"stack", stack},
    Row{"sub", arithmetic, Op::subtract},
    Row{"sum", reduction, Op::add},
    Row{"tanh", unary, Op::tanh},
    Row{"to", to},
    Row{"transpose", transpose},
    Row{"tril", tril},
    Row{"triu", triu},
    Row{"unsqueeze", reshape},
    Row{"var", var},
    Row{"where", where},
};
static_assert(std::ranges::is_sorted(table, {}, &Row::name));

const Row& row(const torch::Node& node) {
  const auto* const found = std::ranges::lower_bound(table, std::string_view(node.op), {}, &Row::name);
  if (found == table.end() || found->name != node.op)
    throw Error("decompose: expected an operation that has a decomposition, found " + node.op + " (" + node.name + ")");
  return *found;
}

// The result has the call's name: a node that is an argument at the same time (a sum over no dimension) is copied.
int decompose_call(Emitter& e, const torch::Graph& graph, const torch::Node& node, const std::vector<int>& ids) {
  const Row& r = row(node);
  Call call{graph, node, {}, r.op};
  for (const torch::Id a : node.args) call.args.push_back(ids[static_cast<std::size_t>(a)]);
  e.start(node.name);
  const std::size_t before = e.size();
  int result = r.decompose(e, call);
  if (static_cast<std::size_t>(result) < before) result = e.add({"", e.type(result), tensor::Elementwise{}, {result}});
  CHECK(e.type(result) == node.type);
  e.rename(result, node.name);
  return result;
}

}  // namespace

tensor::Graph decompose(const torch::Graph& graph) {
  Emitter e(4 * graph.nodes.size());
  for (const torch::Node& node : graph.nodes) e.reserve(node.name);
  std::vector<int> ids;
  for (const torch::Node& node : graph.nodes) {
    using Kind = torch::Node::Kind;
    if (node.kind == Kind::input) ids.push_back(e.add({node.name, node.type, tensor::Input{node.source}, {}}));
    if (node.kind == Kind::parameter) ids.push_back(e.add({node.name, node.type, tensor::Parameter{node.source}, {}}));
    if (node.kind == Kind::scalar) ids.push_back(e.add({node.name, node.type, tensor::Scalar{node.value}, {}}));
    if (node.kind == Kind::call) ids.push_back(decompose_call(e, graph, node, ids));
  }
  for (const torch::Id o : graph.outputs) e.graph().outputs.push_back(ids[static_cast<std::size_t>(o)]);
  return std::move(e.graph());
}

}  // namespace deplo::rules
