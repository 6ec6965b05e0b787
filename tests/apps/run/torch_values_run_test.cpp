// Every operation through `deplo run` on PoCL: the kernels against the reference, which tests/ir compares with PyTorch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "apps/run/run.h"
#include "ir/torch/expression/expression.h"
#include "torch_values.h"

namespace deplo::apps {
namespace {

bool has_halves(const ir::torch::Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const ir::torch::Node& node) {
    return node.type.dtype == ir::DType::f16 || node.type.dtype == ir::DType::bf16;
  });
}

// The first case of each operation: a kernel takes half a second to build.
std::vector<std::string> one_case_per_operation() {
  std::set<std::string> seen;
  std::vector<std::string> result;
  for (const tests::TorchCase& c : tests::torch_cases()) {
    const ir::torch::Graph graph = ir::torch::parse_expression(c.code);
    if (has_halves(graph)) continue;
    bool is_new = false;
    for (const ir::torch::Node& node : graph.nodes)
      if (node.kind == ir::torch::Node::Kind::call) is_new |= seen.insert(node.op).second;
    if (is_new) result.push_back(c.code);
  }
  return result;
}

TEST(TorchValuesRun, EveryOperationIsRightOnTheDevice) {
  const std::vector<std::string> cases = one_case_per_operation();
  ASSERT_GE(cases.size(), 50U);
  Progress quiet(stderr, true);
  for (const std::string& code : cases) {
    RunOptions options;
    options.source = engine::Expression{code, "-c"};
    for (const OutputCheck& check : run_graph(options, quiet).outputs)
      EXPECT_TRUE(check.right) << code << "\n" << check.name << " " << check.worst << " error " << check.error;
  }
}

}  // namespace
}  // namespace deplo::apps
