// The code snippets in the documents that the design follows.
#include <gtest/gtest.h>

#include "ir/torch/expression_calls.h"

namespace deplo::ir::torch::expression_test {
namespace {

std::string printed(std::string_view text) { return "\n" + print(parse_expression(text)); }

TEST(Expression, RmsNormModule) {
  EXPECT_EQ(printed("nn.RMSNorm(2048)(torch.randn(1,32,2048))"), R"(
# Graph: 3 nodes, 1 inputs, 1 outputs
inputs:
x: (1, 32, 2048) float32
constants:
p_weight: (2048,) float32
rms_norm = rms_norm(x, p_weight, dims=1) -> (1, 32, 2048) float32
outputs:
rms_norm: (1, 32, 2048) float32
)");
  const Graph g = parse_expression("torch.nn.RMSNorm(2048)(torch.randn(1,32,2048))");
  EXPECT_EQ(g.nodes.back().number("eps"), 1.1920928955078125e-07);  // PyTorch's value for eps=None
}

TEST(Expression, LinearModule) {
  EXPECT_EQ(printed("torch.nn.Linear(64,256,bias=False)(torch.randn(8,64))"), R"(
# Graph: 3 nodes, 1 inputs, 1 outputs
inputs:
x: (8, 64) float32
constants:
p_weight: (256, 64) float32
linear = linear(x, p_weight) -> (8, 256) float32
outputs:
linear: (8, 256) float32
)");
}

TEST(Expression, GeluOfOperators) {
  EXPECT_EQ(printed("x=torch.randn(32,18944);0.5*x*(1+torch.tanh(0.797*(x+0.044*x*x*x)))"), R"(
# Graph: 14 nodes, 1 inputs, 1 outputs
inputs:
x: (32, 18944) float32
constants:
mul_c1: () float32 = 0.5
mul_c1_1: () float32 = 0.044
mul_c1_2: () float32 = 0.797
add_c1: () int32 = 1
mul = mul(x, mul_c1) -> (32, 18944) float32
mul_1 = mul(x, mul_c1_1) -> (32, 18944) float32
mul_2 = mul(mul_1, x) -> (32, 18944) float32
mul_3 = mul(mul_2, x) -> (32, 18944) float32
add = add(x, mul_3) -> (32, 18944) float32
mul_4 = mul(add, mul_c1_2) -> (32, 18944) float32
tanh_1 = tanh(mul_4) -> (32, 18944) float32
add_1 = add(tanh_1, add_c1) -> (32, 18944) float32
mul_5 = mul(mul, add_1) -> (32, 18944) float32
outputs:
mul_5: (32, 18944) float32
)");
}

TEST(Expression, SlicedWindow) {
  EXPECT_EQ(printed("torch.exp(torch.neg(torch.randn(16))[5:8])"), R"(
# Graph: 4 nodes, 1 inputs, 1 outputs
inputs:
x: (16,) float32
neg = neg(x) -> (16,) float32
slice_1 = slice(neg, dim=0, start=5, end=8) -> (3,) float32
exp_1 = exp(slice_1) -> (3,) float32
outputs:
exp_1: (3,) float32
)");
}

TEST(Expression, SumThenExp) {
  EXPECT_EQ(calls("torch.exp(torch.randn(4,8).sum(-1,True))"),
            "sum(x, dims=[1], keepdim=True) -> (4, 1) float32\n"
            "exp(sum_1) -> (4, 1) float32\n");
}

TEST(Expression, Softmax) {
  EXPECT_EQ(calls("F.softmax(torch.randn(4, 8), dim=-1)"), "softmax(x, dim=1) -> (4, 8) float32\n");
  EXPECT_EQ(calls("torch.nn.Softmax(dim=-1)(torch.randn(1, 28, 2048, 2048))"),
            "softmax(x, dim=3) -> (1, 28, 2048, 2048) float32\n");
}

TEST(Expression, SoftmaxOfSteps) {
  EXPECT_EQ(calls(R"(
x = torch.randn(4, 8)
mx = x.max(dim=-1, keepdim=True) # reduce #1 over cols
e = torch.exp(x - mx)
s = e.sum(dim=-1, keepdim=True) # reduce #2 over cols
out = e / s)"),
            "amax(x, dims=[1], keepdim=True) -> (4, 1) float32\n"
            "sub(x, amax) -> (4, 8) float32\n"
            "exp(sub) -> (4, 8) float32\n"
            "sum(exp_1, dims=[1], keepdim=True) -> (4, 1) float32\n"
            "div(exp_1, sum_1) -> (4, 8) float32\n");
}

constexpr std::string_view mlp = R"(
    class MLP(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up = torch.nn.Linear(64, 256, bias=False)
            self.down = torch.nn.Linear(256, 64, bias=False)

        def forward(self, x):
            return self.down(self.up(x))

    MLP()(torch.randn(8, 64)))";

TEST(Expression, ClassWithIndentationAsOnACommandLine) {
  EXPECT_EQ(printed(mlp), R"(
# Graph: 5 nodes, 1 inputs, 1 outputs
inputs:
x: (8, 64) float32
constants:
p_up_weight: (256, 64) float32
p_down_weight: (64, 256) float32
linear = linear(x, p_up_weight) -> (8, 256) float32
linear_1 = linear(linear, p_down_weight) -> (8, 64) float32
outputs:
linear_1: (8, 64) float32
)");
}

TEST(Expression, MatmulOfTwoNamedInputs) {
  EXPECT_EQ(printed("a=torch.randn(1,32,2048);b=torch.randn(2048,5632);torch.matmul(a,b)"), R"(
# Graph: 3 nodes, 2 inputs, 1 outputs
inputs:
a: (1, 32, 2048) float32
b: (2048, 5632) float32
matmul = matmul(a, b) -> (1, 32, 5632) float32
outputs:
matmul: (1, 32, 5632) float32
)");
}

TEST(Expression, FunctionDefinition) {
  EXPECT_EQ(calls("def gelu(x):\n"
                  "  return 0.5 * x * (1.0 + torch.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))\n"
                  "gelu(torch.randn(1, 32, 18944))"),
            "mul(x, mul_c1) -> (1, 32, 18944) float32\n"
            "mul(x, mul_c1_1) -> (1, 32, 18944) float32\n"
            "mul(mul_1, x) -> (1, 32, 18944) float32\n"
            "mul(mul_2, x) -> (1, 32, 18944) float32\n"
            "add(x, mul_3) -> (1, 32, 18944) float32\n"
            "mul(add, mul_c1_2) -> (1, 32, 18944) float32\n"
            "tanh(mul_4) -> (1, 32, 18944) float32\n"
            "add(tanh_1, add_c1) -> (1, 32, 18944) float32\n"
            "mul(mul, add_1) -> (1, 32, 18944) float32\n");
  EXPECT_EQ(calls("def f(x: torch.Tensor, scale=2, shift=1.5) -> torch.Tensor: y = x * scale; return y + shift\n"
                  "f(torch.randn(4), shift=3)"),
            "mul(x, mul_c1) -> (4,) float32\nadd(mul, add_c1) -> (4,) float32\n");
}

// Complex numbers become a real tensor whose last dimension holds the two parts, also as inputs and parameters.
TEST(Expression, ComplexInputsAndParametersKeepTheirNames) {
  const Graph graph = parse_expression(
      "x = torch.randn(3, dtype=torch.cfloat)\n"
      "class M(nn.Module):\n"
      "  def __init__(self):\n"
      "    super().__init__()\n"
      "    self.w = nn.Parameter(0.5 * torch.rand(3, dtype=torch.cfloat))\n"
      "  def forward(self, x):\n"
      "    return x * self.w + len(list(self.parameters()))\n"
      "M()(x)\n");
  std::vector<std::string> names;
  for (const Node& node : graph.nodes)
    if (node.kind == Node::Kind::input || node.kind == Node::Kind::parameter)
      names.push_back(node.name + " " + print(node.type));
  EXPECT_EQ(names, (std::vector<std::string>{"x (3, 2) float32", "p_w (3, 2) float32"}));
  EXPECT_EQ(graph.nodes[static_cast<std::size_t>(graph.outputs.at(0))].type.shape, (Shape{3, 2}));
}

}  // namespace
}  // namespace deplo::ir::torch::expression_test
