// Mixtures of experts through `deplo run` on PoCL, in each type of floats.
#include <gtest/gtest.h>

#include "apps/run/run.h"
#include "apps/run_program.h"
#include "routed_mlp.h"

namespace deplo::apps {
namespace {

using tests::RoutedMlp;

void expect_right(const std::string& code, ir::DType dtype) {
  SCOPED_TRACE(code);
  Progress quiet(stderr, true);
  RunOptions options;
  options.source = {engine::Expression{code, "-c"}, {.dtype = dtype}};
  const RunReport report = run(options, quiet);
  ASSERT_FALSE(report.outputs.empty());
  for (const OutputCheck& check : report.outputs)
    EXPECT_TRUE(check.right) << check.name << " " << check.worst << " error " << check.error;
}

TEST(RoutedMlpRun, BlocksOfExpertsAreRight) {
  expect_right(tests::sorted_mlp({.tokens = 33, .experts = 60, .top = 4, .block = 4, .hidden = 33, .inner = 17}),
               ir::DType::f32);
  expect_right(tests::sorted_mlp({.tokens = 7, .experts = 8, .top = 2, .block = 8, .hidden = 64, .inner = 32}),
               ir::DType::bf16);
  expect_right(tests::argsorted_mlp({.tokens = 33, .experts = 3, .top = 2, .block = 5, .hidden = 33, .inner = 7}),
               ir::DType::f16);
}

TEST(RoutedMlpRun, OneExpertMayTakeAllTokens) {
  expect_right(
      tests::sorted_mlp({.tokens = 33, .experts = 8, .top = 1, .hidden = 33, .inner = 7, .bias = "100 * (e == 5)"}),
      ir::DType::f32);
}

TEST(RoutedMlpRun, FewTokensAndAllExpertsAreRight) {
  expect_right(tests::mlp_of_each({.tokens = 1, .experts = 60, .top = 4, .hidden = 129, .inner = 65}), ir::DType::f32);
  expect_right(tests::mlp_of_each({.tokens = 7, .experts = 3, .top = 2, .hidden = 64, .inner = 32}), ir::DType::bf16);
  expect_right(tests::dense_mlp({.tokens = 7, .experts = 8, .top = 2, .hidden = 33, .inner = 17}), ir::DType::f16);
}

// As a user runs it. The reference finds an index that is out of range, and the message is one line.
TEST(RoutedMlpRun, ThroughTheCommandLine) {
  const std::string code = tests::sorted_mlp({.tokens = 7, .experts = 3, .top = 1});
  const testing::Ran right = testing::run_program({"deplo", "run", "--device", "interpreter", "-c", code});
  EXPECT_EQ(right.code, 0) << right.err;
  const testing::Ran wrong = testing::run_program(
      {"deplo", "run", "--device", "interpreter", "-c", "x = torch.randn(3, 2); x[torch.arange(4)]"});
  EXPECT_NE(wrong.code, 0);
  EXPECT_NE(wrong.err.find("expected an index from 0 to 2, found 3"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace deplo::apps
