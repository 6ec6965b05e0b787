// Every operation, compared with values that PyTorch computed.
#include "torch_values.h"

#include <set>

#include "ir/torch/evaluate.h"
#include "ir/torch/expression/expression.h"
#include "ir/torch/operations/operation.h"

namespace deplo::tests {
namespace {

TEST(TorchValues, ExpressionsGiveWhatPyTorchComputes) {
  ASSERT_GE(torch_cases().size(), 190U);
  for (const TorchCase& c : torch_cases()) {
    SCOPED_TRACE(c.code);
    const ir::torch::Graph graph = ir::torch::parse_expression(c.code);
    const std::vector<ir::torch::Values> outputs = evaluate(graph, sources(graph, c.inputs));
    ASSERT_EQ(outputs.size(), c.outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const ir::torch::Node& node = graph.nodes[static_cast<std::size_t>(graph.outputs[i])];
      EXPECT_EQ(node.type.shape, c.outputs[i].shape);
      EXPECT_LE(relative_error(outputs[i], c.outputs[i].values), 1e-12);
    }
  }
}

TEST(TorchValues, SpecialNumbersGiveWhatPyTorchComputes) {
  ASSERT_GE(special_cases().size(), 40U);
  for (const TorchCase& c : special_cases()) {
    SCOPED_TRACE(c.code);
    const ir::torch::Graph graph = ir::torch::parse_expression(c.code, "<expression>", c.dtype);
    const std::vector<ir::torch::Values> outputs = evaluate(graph, sources(graph, c.inputs));
    ASSERT_EQ(outputs.size(), c.outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      EXPECT_LE(relative_error(outputs[i], c.outputs[i].values), special_tolerance(c.dtype)) << "output " << i;
  }
}

TEST(TorchValues, EveryOperationHasACase) {
  std::set<std::string_view> missing;
  for (const ir::torch::Operation& operation : ir::torch::operations()) missing.insert(operation.name);
  for (const TorchCase& c : torch_cases())
    for (const ir::torch::Node& node : ir::torch::parse_expression(c.code).nodes) missing.erase(node.op);
  EXPECT_THAT(missing, ::testing::IsEmpty());
}

TEST(TorchValues, TheErrorIsThatOfTheWorstElement) {
  EXPECT_EQ(relative_error({1, 2}, {1, 2}), 0);
  EXPECT_DOUBLE_EQ(relative_error({1, 2.5}, {1, -4}), 6.5 / 4);
  EXPECT_TRUE(std::isinf(relative_error({1}, {1, 2})));
  EXPECT_TRUE(std::isinf(relative_error({INFINITY}, {1})));
  EXPECT_TRUE(std::isinf(relative_error({1, NAN}, {1, 2})));
  EXPECT_EQ(relative_error({INFINITY, NAN}, {INFINITY, NAN}), 0);
}

}  // namespace
}  // namespace deplo::tests
