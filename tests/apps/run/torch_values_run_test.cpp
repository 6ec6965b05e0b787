// Every operation through `deplo run` on PoCL. Kernels are compared with the reference, which tests/ir compares with
// PyTorch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "apps/run/run.h"
#include "ir/torch/expression/expression.h"
#include "torch_values.h"

namespace deplo::apps {
namespace {

// Returns the first case of each operation only, because building a kernel takes half a second.
std::vector<std::string> one_case_per_operation() {
  std::set<std::string> seen;
  std::vector<std::string> result;
  for (const tests::TorchCase& c : tests::torch_cases()) {
    const ir::torch::Graph graph = ir::torch::parse_expression(c.code);
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
    options.source = {engine::Expression{code, "-c"}};
    for (const OutputCheck& check : run(options, quiet).outputs)
      EXPECT_TRUE(check.right) << code << "\n" << check.name << " " << check.worst << " error " << check.error;
  }
}

// The same with floats of 16 bits: every fourth case of the list, in one of the two types.
TEST(TorchValuesRun, OperationsOfSixteenBitsAreRightOnTheDevice) {
  const std::vector<std::string> cases = one_case_per_operation();
  Progress quiet(stderr, true);
  for (std::size_t i = 0; i < cases.size(); i += 4) {
    const ir::DType dtype = i % 8 == 0 ? ir::DType::bf16 : ir::DType::f16;
    RunOptions options;
    options.source = {engine::Expression{cases[i], "-c"}, {.dtype = dtype}};
    for (const OutputCheck& check : run(options, quiet).outputs)
      EXPECT_TRUE(check.right) << name(dtype) << ": " << cases[i] << "\n"
                               << check.name << " " << check.worst << " error " << check.error;
  }
}

// Roundings of intermediate results add up. The tolerance allows for them, and is not much larger than they are.
TEST(TorchValuesRun, RoundingsOfALongChainAreNoError) {
  std::string code = "x = torch.randn(512, 256)\n";
  for (int layer = 0; layer < 5; ++layer) code += "x = x + F.gelu(nn.Linear(256, 256)(x))\n";
  Progress quiet(stderr, true);
  for (const ir::DType dtype : {ir::DType::f16, ir::DType::bf16}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      RunOptions options;
      options.source = {engine::Expression{code + "x", "-c"}, {.dtype = dtype}};
      options.seed = seed;
      for (const OutputCheck& check : run(options, quiet).outputs) {
        EXPECT_TRUE(check.right) << name(dtype) << ", seed " << seed << ": " << check.worst;
        EXPECT_GT(check.error, options.tolerance / 10) << name(dtype) << ", seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace deplo::apps
