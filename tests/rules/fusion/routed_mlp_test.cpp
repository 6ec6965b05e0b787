// Compares the interpreted kernels of mixtures of experts with the values of their graphs, and checks which kernels
// they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/torch/expression/expression.h"
#include "routed_mlp.h"
#include "rules/decompose/decompose.h"
#include "rules/fusion/fuse.h"
#include "rules/fusion/run_module.h"

namespace deplo::rules::routed_mlp_test {
namespace {

using tests::RoutedMlp;
using Form = std::string (*)(const RoutedMlp&);

struct Named {
  const char* name;
  Form form;
  std::size_t max_kernels;
};
const Named forms[] = {{"dense", tests::dense_mlp, 10},
                       {"each", tests::mlp_of_each, 10},
                       {"sorted", tests::sorted_mlp, 19},  // the places are not known to be nonnegative
                       {"argsorted", tests::argsorted_mlp, 19}};

ir::Module fused(const std::string& text) { return fuse(compose(decompose(ir::torch::parse_expression(text)))); }

TEST(RoutedMlp, IsRightAtAwkwardSizes) {
  const RoutedMlp sizes[] = {{.tokens = 1, .experts = 3, .top = 1},
                             {.tokens = 1, .experts = 60, .top = 4},
                             {.tokens = 7, .experts = 8, .top = 2, .block = 1},
                             {.tokens = 7, .experts = 3, .top = 2, .block = 5},
                             {.tokens = 33, .experts = 60, .top = 4},
                             {.tokens = 33, .experts = 8, .top = 1, .block = 16, .hidden = 7, .inner = 1}};
  for (const RoutedMlp& size : sizes)
    for (const Named& of : forms) {
      SCOPED_TRACE(of.form(size));
      EXPECT_EQ(fused_difference(ir::torch::parse_expression(of.form(size)), 5), "");
      EXPECT_LE(fused(of.form(size)).kernels.size(), of.max_kernels) << ir::print(fused(of.form(size)));
    }
}

// One expert takes all tokens, some experts have no tokens, and the first of several equal experts are chosen.
TEST(RoutedMlp, IsRightHoweverTokensAreDealtOut) {
  for (const char* bias : {"100 * (e == 2)", "-100 * (e == 1)", "50 * (e > 5)", "-1000 * e.float()"})
    for (const Named& of : forms) {
      const RoutedMlp size{.tokens = 13, .experts = 8, .top = 2, .block = 4, .bias = bias};
      EXPECT_EQ(fused_difference(ir::torch::parse_expression(of.form(size)), 7), "") << of.name << " " << bias;
    }
}

// Rows and weights are read in place: the kernel of a matmul has the weights themselves as its input, and loads the
// indices outside of the sum.
TEST(RoutedMlp, MatmulsGatherTheirOperands) {
  const ir::Module module = fused(tests::sorted_mlp({.tokens = 33, .experts = 8, .top = 2}));
  int matmuls = 0;
  for (const ir::Program& kernel : module.kernels) {
    const std::string text = ir::print(kernel);
    if (text.find("load up[") == std::string::npos && text.find("load down[") == std::string::npos) continue;
    ++matmuls;
    const std::size_t numbers = text.rfind(":i32 = ");
    ASSERT_NE(numbers, std::string::npos) << text;
    EXPECT_LT(numbers, text.find("# reduce")) << text;
  }
  EXPECT_EQ(matmuls, 2);
}

}  // namespace
}  // namespace deplo::rules::routed_mlp_test
