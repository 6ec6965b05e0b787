// The snippets of the documents that the system follows, and the language apart from its functions.
#include <gtest/gtest.h>

#include <cmath>

#include "expression_calls.h"

namespace deplo::ir::torch {
namespace {

std::string printed(std::string_view text) { return "\n" + print(parse_expression(text)); }

TEST(Expression, rms_norm_module) {
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
  EXPECT_EQ(g.nodes.back().number("eps"), 1.1920928955078125e-07);  // what PyTorch takes for None
}

TEST(Expression, linear_module) {
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

TEST(Expression, gelu_of_operators) {
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

TEST(Expression, sliced_window) {
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

TEST(Expression, sum_then_exp) {
  EXPECT_EQ(calls("torch.exp(torch.randn(4,8).sum(-1,True))"),
            "sum(x, dims=[1], keepdim=True) -> (4, 1) float32\n"
            "exp(sum_1) -> (4, 1) float32\n");
}

TEST(Expression, softmax) {
  EXPECT_EQ(calls("F.softmax(torch.randn(4, 8), dim=-1)"), "softmax(x, dim=1) -> (4, 8) float32\n");
  EXPECT_EQ(calls("torch.nn.Softmax(dim=-1)(torch.randn(1, 28, 2048, 2048))"),
            "softmax(x, dim=3) -> (1, 28, 2048, 2048) float32\n");
}

TEST(Expression, softmax_of_steps) {
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

constexpr std::string_view kMlp = R"(
    class MLP(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up = torch.nn.Linear(64, 256, bias=False)
            self.down = torch.nn.Linear(256, 64, bias=False)

        def forward(self, x):
            return self.down(self.up(x))

    MLP()(torch.randn(8, 64)))";

TEST(Expression, class_with_indentation_as_on_a_command_line) {
  EXPECT_EQ(printed(kMlp), R"(
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

TEST(Expression, matmul_of_two_named_inputs) {
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

TEST(Expression, function_definition) {
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

TEST(Expression, order_of_operators) {
  const std::string_view a = "a=torch.randn(2);b=torch.randn(2);c=torch.randn(2);";
  const auto is = [&](std::string_view text, std::string_view same) {
    EXPECT_EQ(parse_expression(std::string(a).append(text)), parse_expression(std::string(a).append(same))) << text;
  };
  is("a+b*c", "a+(b*c)");
  is("a-b-c", "(a-b)-c");
  is("-a**b", "-(a**b)");
  is("a**-b", "a**(-b)");
  is("a**b**c", "a**(b**c)");
  is("a*-b", "a*(-b)");
  is("a+b<c*a", "(a+b)<(c*a)");
  is("(a<b)&(b<c)|(a<c)", "((a<b)&(b<c))|(a<c)");
  is("-a.exp()", "-(a.exp())");
  is("a/b/c", "(a/b)/c");
  is("a @ b * c", "(a @ b) * c");
  is("~(a<b)", "torch.logical_not(torch.lt(a, b))");
  is("x = a; x += b; x *= c; x", "(a + b) * c");
}

TEST(Expression, numbers_are_folded_as_python_has_them) {
  const auto value = [](const std::string& text) {
    return parse_expression("torch.full((1,), " + text + ")").nodes[0].number("value");
  };
  EXPECT_EQ(value("2 + 3 * 4"), 14);
  EXPECT_EQ(value("7 // 2"), 3);
  EXPECT_EQ(value("-7 // 2"), -4);
  EXPECT_EQ(value("-7 % 3"), 2);
  EXPECT_EQ(value("7 % -3"), -2);
  EXPECT_EQ(value("1 / 4"), 0.25);
  EXPECT_EQ(value("2 ** 10"), 1024);
  EXPECT_EQ(value("2 ** -1"), 0.5);
  EXPECT_EQ(value("-2 ** 2"), -4);
  EXPECT_EQ(value("True + True"), 2);
  EXPECT_EQ(value("1_000 + .5 + 1. + 1e-3"), 1001.501);
  EXPECT_EQ(value("math.sqrt(64) + math.floor(2.5) + math.ceil(2.5)"), 13);
  EXPECT_EQ(value("math.pi"), 3.14159265358979323846);
  EXPECT_EQ(value("float('-inf')"), -INFINITY);
  EXPECT_EQ(value("-float('inf')"), -INFINITY);
  EXPECT_EQ(value("int(-3.7) + float('0.5')"), -2.5);
  EXPECT_EQ(value("len((1, 2, 3)) + abs(-2) + min(3, 2) + max([4, 5])"), 12);
  EXPECT_EQ(value("~5"), -6);
  EXPECT_EQ(value("(1 < 2) == True"), 1);
}

TEST(Expression, indices) {
  const auto index = [](std::string_view text) { return calls("x=torch.randn(4,6,8);x" + std::string(text)); };
  EXPECT_EQ(index("[1]"), "select(x, dim=0, index=1) -> (6, 8) float32\n");
  EXPECT_EQ(index("[-1]"), "select(x, dim=0, index=3) -> (6, 8) float32\n");
  EXPECT_EQ(index("[..., 0]"), "select(x, dim=2, index=0) -> (4, 6) float32\n");
  EXPECT_EQ(index("[:, None]"), "unsqueeze(x, dim=1) -> (4, 1, 6, 8) float32\n");
  EXPECT_EQ(index("[..., None]"), "unsqueeze(x, dim=3) -> (4, 6, 8, 1) float32\n");
  EXPECT_EQ(index("[:, 1:-1]"), "slice(x, dim=1, start=1, end=5) -> (4, 4, 8) float32\n");
  EXPECT_EQ(index("[..., ::2]"), "slice(x, dim=2, step=2) -> (4, 6, 4) float32\n");
  EXPECT_EQ(index("[..., 1::3]"), "slice(x, dim=2, start=1, step=3) -> (4, 6, 3) float32\n");
  EXPECT_EQ(index("[..., :100]"), "slice(x, dim=2) -> (4, 6, 8) float32\n");
  EXPECT_EQ(index("[1, :, 2:4]"),
            "select(x, dim=0, index=1) -> (6, 8) float32\nslice(select_1, dim=1, start=2, end=4) -> (6, 2) float32\n");
  EXPECT_EQ(index("[:, ...]"), "");
  EXPECT_EQ(calls("x=torch.randn(4,6);n=x.shape[-1];x[:, n//2:]"), "slice(x, dim=1, start=3) -> (4, 3) float32\n");
}

TEST(Expression, rotary_embedding) {
  EXPECT_EQ(calls(R"(
def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)

q = torch.randn(1, 4, 7, 16)
c = torch.randn(7, 16); s = torch.randn(7, 16)
q * c + rotate_half(q) * s)"),
            "mul(q, c) -> (1, 4, 7, 16) float32\n"
            "slice(q, dim=3, end=8) -> (1, 4, 7, 8) float32\n"
            "slice(q, dim=3, start=8) -> (1, 4, 7, 8) float32\n"
            "neg(slice_2) -> (1, 4, 7, 8) float32\n"
            "cat(neg, slice_1, dim=3) -> (1, 4, 7, 16) float32\n"
            "mul(cat, s) -> (1, 4, 7, 16) float32\n"
            "add(mul, mul_1) -> (1, 4, 7, 16) float32\n");
}

TEST(Expression, modules_inside_modules_name_their_parameters) {
  EXPECT_EQ(printed(R"(
import torch.nn as nn, torch
from torch.nn import functional as F

class Gate(nn.Module):
    """SwiGLU."""
    def __init__(self, width, inner=8):
        super(Gate, self).__init__()
        self.gate, self.up = nn.Linear(width, inner, bias=False), nn.Linear(width, inner)
    def activate(self, x):
        return F.silu(self.gate(x)) * self.up(x)
    def forward(self, x):
        return self.activate(x)

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.mlp = Gate(4)
        self.layers = nn.ModuleList([nn.Linear(8, 4), nn.LayerNorm(4)])
        self.scale = nn.Parameter(torch.ones(4))
        self.register_buffer("mask", torch.randn(3, 4))

    def forward(self, hidden):
        return self.layers[-1](self.layers[0](self.mlp(hidden))) * self.scale + self.mask

m = Block().eval()
m(torch.randn(3, 4)))"),
            R"(
# Graph: 18 nodes, 2 inputs, 1 outputs
inputs:
mask: (3, 4) float32
x: (3, 4) float32
constants:
p_mlp_gate_weight: (8, 4) float32
p_mlp_up_weight: (8, 4) float32
p_mlp_up_bias: (8,) float32
p_layers_0_weight: (4, 8) float32
p_layers_0_bias: (4,) float32
p_layers_1_weight: (4,) float32
p_layers_1_bias: (4,) float32
p_scale: (4,) float32
linear = linear(x, p_mlp_gate_weight) -> (3, 8) float32
silu = silu(linear) -> (3, 8) float32
linear_1 = linear(x, p_mlp_up_weight, p_mlp_up_bias) -> (3, 8) float32
mul = mul(silu, linear_1) -> (3, 8) float32
linear_2 = linear(mul, p_layers_0_weight, p_layers_0_bias) -> (3, 4) float32
layer_norm = layer_norm(linear_2, p_layers_1_weight, p_layers_1_bias, dims=1) -> (3, 4) float32
mul_1 = mul(layer_norm, p_scale) -> (3, 4) float32
add = add(mul_1, mask) -> (3, 4) float32
outputs:
add: (3, 4) float32
)");
}

TEST(Expression, the_output_is_the_last_expression_or_else_the_last_assignment) {
  EXPECT_EQ(calls("x = torch.randn(4); y = x.exp(); z = x.neg()"), "neg(x) -> (4,) float32\n");
  EXPECT_EQ(calls("x = torch.randn(4); x.exp(); z = x.neg()"), "exp(x) -> (4,) float32\n");
  EXPECT_EQ(parse_expression("x = torch.randn(4, 6); x.chunk(3, 1)").outputs.size(), 3U);
  EXPECT_EQ(parse_expression("x = torch.randn(4); x.exp(), x").outputs.size(), 2U);
  EXPECT_EQ(calls("torch.arange(8)"), "arange(end=8) -> (8,) int32\n");
}

TEST(Expression, inputs_have_names_and_values) {
  const Graph g = parse_expression(
      "ids = torch.randint(2, 9, (5,)); torch.rand(3, dtype=torch.float16); (torch.randn(2, 1), torch.randn(2, 1), "
      "ids)");
  ASSERT_EQ(g.nodes.size(), 3U);
  EXPECT_EQ(g.nodes[0].name, "ids");
  EXPECT_EQ(g.nodes[0].source.fill, (Fill{Fill::Draw::integers, 2, 9}));
  EXPECT_EQ(g.nodes[0].type, (TensorType{DType::i32, {5}}));
  EXPECT_EQ(g.nodes[1].name, "x");
  EXPECT_EQ(g.nodes[1].source.fill, (Fill{Fill::Draw::normal, 0, 1}));
  EXPECT_EQ(g.nodes[2].name, "x_1");
}

TEST(Expression, parameters_have_the_values_of_pytorch_but_for_norms) {
  const auto fill = [](std::string_view text, std::string_view name) {
    for (const Node& n : parse_expression(text).nodes)
      if (n.name == name) return n.source.fill;
    return Fill{Fill::Draw::constant, -1, -1};
  };
  const Fill linear = {Fill::Draw::uniform, -0.25, 0.25};
  EXPECT_EQ(fill("nn.Linear(16, 3)(torch.randn(2, 16))", "p_weight"), linear);
  EXPECT_EQ(fill("nn.Linear(16, 3)(torch.randn(2, 16))", "p_bias"), linear);
  EXPECT_EQ(fill("nn.RMSNorm(16)(torch.randn(2, 16))", "p_weight"), (Fill{Fill::Draw::uniform, 0.5, 1.5}));
  EXPECT_EQ(fill("nn.LayerNorm(16)(torch.randn(2, 16))", "p_weight"), (Fill{Fill::Draw::uniform, 0.5, 1.5}));
  EXPECT_EQ(fill("nn.LayerNorm(16)(torch.randn(2, 16))", "p_bias"), (Fill{Fill::Draw::uniform, -0.5, 0.5}));
  EXPECT_EQ(fill("nn.Embedding(9, 4)(torch.randint(0, 9, (3,)))", "p_weight"), (Fill{Fill::Draw::normal, 0, 1}));
  EXPECT_EQ(fill("w = nn.Parameter(torch.full((4,), 0.5)); w * 2", "p_w"), (Fill{Fill::Draw::constant, 0.5, 0}));
  EXPECT_EQ(fill("w = nn.Parameter(torch.rand(4)); w * 2", "p_w"), (Fill{Fill::Draw::uniform, 0, 1}));
}

TEST(Expression, lines) {
  EXPECT_EQ(calls("x = torch.randn(\n    4,  # a comment\n  8)\n\n\n(x\n +\n x)\n"), "add(x, x) -> (4, 8) float32\n");
  EXPECT_EQ(calls("x = torch.randn(4) \\\n  + 1\r\n# the end"), "add(x, add_c1) -> (4,) float32\n");
  EXPECT_EQ(calls("def f(x):\n\ty = x.exp()\n\n        # eight spaces are a tab\n        return y\nf(torch.randn(4));"),
            "exp(x) -> (4,) float32\n");
  EXPECT_EQ(calls("x = y = torch.randn(4); [a, (b, c)] = x, (y, 3); a * c"), "mul(x, mul_c1) -> (4,) float32\n");
  EXPECT_EQ(calls("s = (2, 3); x = torch.randn(4, *s); x.view(4, *s[::1])"),
            "reshape(x, shape=[4, 2, 3]) -> (4, 2, 3) float32\n");
}

TEST(Expression, scalars_are_named_after_the_operation_and_their_place) {
  const auto scalar = [](std::string_view text) {
    for (const Node& n : parse_expression(text).nodes)
      if (n.kind == Node::Kind::scalar) return n.name + (n.type.dtype == DType::i32 ? " int" : " other");
    return std::string();
  };
  EXPECT_EQ(scalar("1 - torch.randn(4)"), "sub_c0 int");
  EXPECT_EQ(scalar("torch.randn(4) - 1.0"), "sub_c1 other");
  EXPECT_EQ(scalar("2 * torch.randn(4)"), "mul_c1 int");
  EXPECT_EQ(scalar("2.5 / torch.randn(4)"), "div_c0 other");
  EXPECT_EQ(scalar("torch.randn(4) ** 2"), "pow_c1 int");
  EXPECT_EQ(scalar("10000000000 * torch.randn(4)"), "mul_c1 other");  // more than 32 bits
}

}  // namespace
}  // namespace deplo::ir::torch
