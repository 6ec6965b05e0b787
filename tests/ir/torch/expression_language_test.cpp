// The expression language without its functions.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>

#include "ir/torch/evaluate.h"
#include "ir/torch/expression_calls.h"

namespace deplo::ir::torch {
namespace {

std::string printed(std::string_view text) { return "\n" + print(parse_expression(text)); }

// Returns the number that Python computes from the text.
double value(const std::string& text) {
  return parse_expression("torch.full((1,), " + text + ")").nodes[0].number("value");
}

TEST(ExpressionLanguage, OrderOfOperators) {
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

TEST(ExpressionLanguage, KernelBenchFilesNeedNoExpression) {
  const std::string file =
      "import torch\nimport torch.nn as nn\nrows = 4\n"
      "class Model(nn.Module):\n    def __init__(self, columns):\n        super().__init__()\n"
      "        self.linear = nn.Linear(columns, 3)\n    def forward(self, x):\n        return self.linear(x)\n"
      "columns = 8\ntorch.manual_seed(0)\ndef get_inputs():\n    return [torch.randn(rows, columns)]\n"
      "def get_init_inputs():\n    return [columns]\nif __name__ == '__main__':\n    1 // 0\n";
  const std::string call = "Model(*get_init_inputs())(*get_inputs())\n";
  EXPECT_EQ(printed(file), printed(file + call));
  const std::string other = "torch.ones(rows) + 1\n";
  EXPECT_EQ(printed(file + other), printed("rows = 4\n" + other));
  const auto error = [](const std::string& text) -> std::string {
    try {
      parse_expression(text);
    } catch (const Error& e) {
      return e.what();
    }
    return "none";
  };
  const std::size_t argument = file.find("[columns]");
  EXPECT_EQ(
      error(std::string(file).replace(argument, 9, "[]")),
      "<expression>:4:1: __init__: expected a value for columns, found none; the signature is __init__(self, columns)");
  const std::size_t function = file.find("get_init_inputs");
  EXPECT_EQ(error(std::string(file).replace(function, 15, "init")),
            "<expression>:10:1: expected a tensor as output, found the integer 8");
  EXPECT_EQ(error("class Model: pass\ndef get_inputs(): return []\n"),
            "<expression>:1:1: expected an expression such as torch.exp(torch.randn(8)), or a class Model with the "
            "functions get_init_inputs and get_inputs, found none");
}

TEST(ExpressionLanguage, StringsAreComparedAndRepeated) {
  EXPECT_EQ(value("1 if 'abc' < 'abd' and 'b' > 'a' and 'a' <= 'a' and not 'b' <= 'a' else 2"), 1);
  EXPECT_EQ(value("len('ab' * 3 + 2 * 'c' + 'd' * -1)"), 8);
  EXPECT_EQ(value("1 if torch.__version__ >= '2.0' else 2"), 1);
  EXPECT_THROW(value("len('ab' * 10 ** 12)"), Error);
  EXPECT_THROW(value("'ab' * 1.5"), Error);
  EXPECT_EQ(value("math.gcd(12, 18, 27) + math.gcd()"), 3);
  EXPECT_EQ(value("math.prod([2, 3], start=5)"), 30);
  EXPECT_EQ(value("min([], default=7) + max([], default=1)"), 8);
  EXPECT_EQ(value("max([2, 5], default=7)"), 5);
}

TEST(ExpressionLanguage, TensorsOfFloat64AreFloat32WithANote) {
  const std::string note = "tensors of float64 are computed in float32";
  for (const auto& [text, same] :
       {std::pair("torch.randn(3, dtype=torch.float64).exp()", "torch.randn(3).exp()"),
        {"torch.randn(3).half().to(torch.double)", "torch.randn(3).half().float()"},
        {"torch.randn(3).to(float)", "torch.randn(3)"},
        {"nn.ReLU().double()(torch.randn(3).double())", "nn.ReLU()(torch.randn(3))"},
        {"torch.arange(4, dtype=torch.double) / 4", "torch.arange(4, dtype=torch.float) / 4"},
        {"torch.set_default_dtype(torch.float64); torch.ones(3)", "torch.ones(3)"}}) {
    Graph graph = parse_expression(text);
    EXPECT_EQ(graph.note, note) << text;
    graph.note = "";
    EXPECT_EQ(graph, parse_expression(same)) << text;
  }
  // A type is still what it is called: no branch of a program for float32 is taken for float64.
  EXPECT_EQ(value("1 if torch.float64 == torch.float32 else 2"), 2);
  EXPECT_EQ(value("torch.float64.itemsize"), 8);
  EXPECT_EQ(parse_expression("torch.ones(3) if torch.randn(3).dtype == torch.float64 else torch.zeros(3)").note, "");
}

TEST(ExpressionLanguage, ATensorOfANumberIsNoNumber) {
  const auto type = [](const std::string& text) {
    const Graph graph = parse_expression(text);
    return print(graph.nodes[static_cast<std::size_t>(graph.outputs[0])].type);
  };
  EXPECT_EQ(type("torch.tensor(2.5)"), "() float32");
  EXPECT_EQ(type("torch.tensor(2.5).sum(0)"), "() float32");
  EXPECT_EQ(type("torch.tensor(2.5).softmax(-1)"), "() float32");
  EXPECT_EQ(type("torch.tensor(2.5).max(0).values"), "() float32");
  EXPECT_EQ(type("torch.randn(()).half() * torch.tensor(2.5)"), "() float32");
  EXPECT_EQ(type("torch.randn(3).half() * torch.tensor(2.5)"), "(3,) float16");
  EXPECT_EQ(type("torch.tensor(True) + torch.tensor(1.5, dtype=torch.float16)"), "() float16");
  EXPECT_EQ(type("torch.randn(3).type('torch.HalfTensor')"), "(3,) float16");
  EXPECT_EQ(type("torch.randn(3).type(torch.BFloat16Tensor)"), "(3,) bfloat16");
  EXPECT_EQ(type("torch.BFloat16Tensor([1, 2])"), "(2,) bfloat16");
  EXPECT_NE(error_of("torch.randn(3).type('HalfTensor')").find("a type such as 'torch.HalfTensor'"), std::string::npos);
  EXPECT_EQ(type("torch.tensor([torch.tensor(2), 1])"), "(2,) int32");  // int64 is computed in int32
  EXPECT_EQ(type("torch.tensor([torch.randn(()).half(), torch.tensor(1)])"), "(2,) float16");
  EXPECT_EQ(type("torch.tensor([[torch.randn(()).half(), 1.5]])"), "(1, 2) float32");
  EXPECT_EQ(type("torch.tensor([True, torch.tensor(1, dtype=torch.int8)])"), "(2,) int8");
  EXPECT_NE(error_of("torch.tensor([torch.ones(2), torch.ones(2)])").find("numbers in lists of equal lengths"),
            std::string::npos);
  EXPECT_EQ(type("torch.atan2(torch.arange(3), torch.tensor(1.5, dtype=torch.float16))"), "(3,) float16");
  EXPECT_EQ(type("torch.copysign(torch.tensor(1.5, dtype=torch.float16), torch.randn(3))"), "(3,) float32");
  EXPECT_EQ(type("torch.ldexp(torch.randn(3).half(), torch.arange(3))"), "(3,) float16");
  EXPECT_EQ(type("torch.nansum(torch.arange(3))"), "() int32");
  EXPECT_EQ(type("torch.linalg.norm(torch.randn(3).half(), dtype=torch.float32)"), "() float32");
  EXPECT_EQ(type("torch.norm(torch.randn(3), dtype=torch.float16)"), "() float16");
  EXPECT_EQ(type("F.group_norm(torch.randn(2, 4).half(), 2, torch.randn(4))"), "(2, 4) float16");
  EXPECT_EQ(type("F.batch_norm(torch.randn(2, 4).half(), torch.zeros(4), torch.ones(4))"), "(2, 4) float16");
  EXPECT_EQ(type("t = torch.tensor(2.5); t.fill_(4.0); t"), "() float32");
  EXPECT_EQ(type("t = torch.tensor(2.5); t.fill_(4.0); torch.randn(3).half() * t"), "(3,) float16");
  EXPECT_EQ(type("torch.where(torch.tensor([True]), torch.tensor([2], dtype=torch.uint8), torch.tensor(1000))"),
            "(1,) uint8");
  EXPECT_EQ(parse_expression("torch.set_default_dtype(torch.bfloat16); torch.tensor(0.1, dtype=torch.float32)"),
            parse_expression("torch.full((), 0.1, dtype=torch.float32)"));
}

TEST(ExpressionLanguage, ModulesConvertTheirParametersAndBuffers) {
  const auto same = [](const std::string& text, const std::string& other) {
    EXPECT_EQ(parse_expression(text), parse_expression(other)) << text;
  };
  const std::string x = "x = torch.randn(5, 4); ", h = "m(x.half())", b = "m(x.bfloat16())";
  const std::string half = x + "m = nn.Linear(4, 3, dtype=torch.float16); ";
  const std::string bfloat = x + "m = nn.Linear(4, 3, dtype=torch.bfloat16); ";
  same(x + "m = nn.Linear(4, 3).half(); " + h, half + h);
  same(x + "m = nn.Linear(4, 3).to(torch.half); " + h, half + h);
  same(x + "m = nn.Linear(4, 3).to('cpu', torch.half); " + h, half + h);
  same(x + "m = nn.Linear(4, 3).to(device='cpu', dtype=torch.half); " + h, half + h);
  same(x + "m = nn.Linear(4, 3).to('cpu'); m.to(nn.Linear(1, 1, dtype=torch.half).weight); " + h, half + h);
  same(x + "m = nn.Linear(4, 3).bfloat16(); " + b, bfloat + b);
  same(x + "m = nn.Linear(4, 3).type(torch.bfloat16); " + b, bfloat + b);
  same(x + "m = nn.Linear(4, 3).half().float(); m(x)", x + "m = nn.Linear(4, 3); m(x)");
  same(x + "m = nn.Sequential(nn.Linear(4, 3)).half(); " + h,
       x + "m = nn.Sequential(nn.Linear(4, 3, dtype=torch.float16)); " + h);
  same("m = nn.LSTM(4, 3).half(); m(torch.randn(1, 1, 4).half())[0]",
       "m = nn.LSTM(4, 3, dtype=torch.float16); m(torch.randn(1, 1, 4).half())[0]");
  // A parameter that was used is converted from then on. A plain attribute is no buffer, and integers stay integers.
  same("m = nn.Linear(4, 3); y = m.weight + 1; m.half(); y, m.weight * 2",
       "m = nn.Linear(4, 3); y = m.weight + 1; y, m.weight.half() * 2");
  const std::string module =
      "class M(nn.Module):\n  def __init__(self):\n    super().__init__()\n    self.plain = torch.ones(2)\n"
      "    self.register_buffer('b', torch.ones(2))\n    self.register_buffer('i', torch.arange(2))\n"
      "    self.p = nn.Parameter(torch.arange(2.))\nm = M()\n";
  same(module + "m.half(); m.plain, m.b, m.i, m.p", module + "m.plain, m.b.half(), m.i, m.p.half()");
  EXPECT_EQ(value("len([p for p in nn.ParameterList([nn.Parameter(torch.arange(2.))]).parameters()])"), 1);
  EXPECT_EQ(value("1 if isinstance(nn.Parameter(torch.arange(2.)), nn.Parameter) else 2"), 1);
  EXPECT_EQ(value("len(nn.ModuleList([nn.ParameterList([p]) for p in [nn.Parameter(torch.arange(2.))] * 2])"
                  ".half().parameters())"),
            1);
  EXPECT_EQ(value("len([p for p in nn.Linear(2, 3).parameters() if p.requires_grad])"), 2);
  EXPECT_EQ(value("1 if torch.ones(3).requires_grad else 2"), 2);
  const std::string error = error_of("nn.Linear(4, 3).to(torch.int32)");
  EXPECT_NE(error.find("expected a dtype of floats for the parameters of a module, found int32"), std::string::npos)
      << error;
}

TEST(ExpressionLanguage, HooksCanBeRemoved) {
  const std::string start = "m = nn.ReLU(); x = torch.randn(3); ";
  const auto same = [&](const std::string& text, const std::string& other) {
    EXPECT_EQ(calls(start + text), calls(start + other)) << text;
  };
  same("h = m.register_forward_hook(lambda m, i, y: y * 2); y = m(x); h.remove(); y + m(x)", "m(x) * 2 + m(x)");
  same("h = m.register_forward_pre_hook(lambda m, i: i[0] * 2); y = m(x); h.remove(); h.remove(); y + m(x)",
       "m(x * 2) + m(x)");
  same(
      "h = m.register_forward_hook(lambda m, i, y: y * 2); m.register_forward_hook(lambda m, i, y: y * 3); h.remove(); "
      "m(x)",
      "m(x) * 3");
}

TEST(ExpressionLanguage, AnImportThatFailsHasAHandler) {
  const auto x = [](std::string text) {
    return parse_expression(text.append("\ntorch.full((1,), x)")).nodes[0].number("value");
  };
  EXPECT_EQ(x("try: import xformers; x = 1\nexcept ImportError: x = 2"), 2);
  EXPECT_EQ(x("try: import math; x = 1\nexcept ImportError: x = 2"), 1);
  EXPECT_EQ(x("try: import math\nexcept: x = 2\nelse: x = 3"), 3);
  EXPECT_EQ(x("try: from torch import nothing\nexcept ValueError: x = 2\nexcept (KeyError, Exception): x = 3"), 3);
  EXPECT_EQ(x("try: import xformers\nexcept ImportError as error: x = 1 if len(str(error)) > 9 else 0"), 1);
  EXPECT_EQ(x("def f():\n  try: import xformers\n  except ModuleNotFoundError: return 4\nx = f()"), 4);
  EXPECT_EQ(x("def f(): import xformers\ntry: f()\nexcept ImportError: x = 5"), 5);
}

TEST(ExpressionLanguage, AnImportThatFailsIsRefusedWhereItsNameIsUsed) {
  const std::string imports = "from tqdm import tqdm\nimport matplotlib.pyplot as plt\n";
  EXPECT_EQ(error_of(imports + "def plot(x): plt.plot(tqdm(x))\ntorch.randn(2)"), "");
  EXPECT_EQ(error_of(imports + "plt.plot(3)"),
            "<expression>:3:1: expected a name that has a value, found `plt`, whose import fails: <expression>:2:8: "
            "expected torch, math, numpy, einops, a module of Python's library or a name in one of them, found "
            "matplotlib.pyplot");
  EXPECT_NE(error_of("try: import math\nexcept ImportError: pass\nimport tqdm\ntqdm").find("whose import fails"),
            std::string::npos);
}

TEST(ExpressionLanguage, AFinallyBlockAlwaysRuns) {
  const auto x = [](std::string text) {
    return parse_expression(text.append("\ntorch.full((1,), x)")).nodes[0].number("value");
  };
  EXPECT_EQ(x("try: x = 1\nfinally: x += 1"), 2);
  EXPECT_EQ(x("try: import xformers\nexcept ImportError: x = 2\nelse: x = 5\nfinally: x += 1"), 3);
  EXPECT_EQ(x("try: x = 1\nexcept ImportError: x = 2\nelse: x = 5\nfinally: x += 1"), 6);
  EXPECT_EQ(x("def f(): return 4\ndef g():\n  try: return 3\n  finally: f()\nx = g()"), 3);
  EXPECT_EQ(x("def g():\n  try: return 3\n  finally: return 4\nx = g()"), 4);
  EXPECT_EQ(x("x = 0\nfor i in range(5):\n  try:\n    if i == 2: break\n  finally: x += 1"), 3);
  EXPECT_EQ(x("x = 0\ntry:\n  try: import xformers\n  finally: x += 1\nexcept ImportError: x += 5"), 6);
}

TEST(ExpressionLanguage, ListsCompareTheirElementsAsPythonDoes) {
  const auto x = [](const std::string& text) {
    return parse_expression(
               "from dataclasses import dataclass\n@dataclass\nclass P:\n  a: int\n  b: tuple = ()\n"
               "class Q:\n  def __init__(self, a): self.a = a\n"
               "  def __eq__(self, other): return self.a == other.a\n"
               "x = 1 if " +
               text + " else 2\ntorch.full((1,), x)")
        .nodes[0]
        .number("value");
  };
  EXPECT_EQ(x("P(1) in [P(2), P(1)] and Q(1) in (Q(1),)"), 1);
  EXPECT_EQ(x("P(1) in [P(2)] or Q(1) in [Q(2)]"), 2);
  EXPECT_EQ(x("[P(1), Q(2)] == [P(1), Q(2)] and [P(1)] != [P(2)] and (P(1),) != [P(1)]"), 1);
  EXPECT_EQ(x("P(1, (Q(1), 2)) == P(1, (Q(1), 2)) and P(1, (Q(1), 2)) != P(1, (Q(2), 2))"), 1);
  EXPECT_EQ(x("[P(1), P(2)].index(P(2)) == 1 and [Q(1), Q(1)].count(Q(1)) == 2"), 1);
  EXPECT_EQ(x("[3, 5, 7][torch.tensor([2, 1]).max()] == 7"), 1);
  EXPECT_EQ(x("{'a': [1], 'b': Q(2)} == {'b': Q(2), 'a': [1]} and [{}] == [{}]"), 1);
  EXPECT_EQ(x("{'a': 1} == {'a': 2} or {'a': 1} == {'b': 1} or {} == {'a': 1} or {} is {}"), 2);
}

TEST(ExpressionLanguage, EnumerationsHaveNamesAnOrderAndTexts) {
  const std::string classes =
      "from enum import Enum\nclass Z(Enum):\n  B = 1\n  A = 5\n"
      "class Act(str, Enum):\n  RELU = 'relu'\n  TANH = 'tanh'\n";
  const auto x = [&](const std::string& text) {
    return parse_expression(classes + "x = " + text + "\ntorch.full((1,), x)").nodes[0].number("value");
  };
  EXPECT_EQ(x("len(Z) * 100 + [z.value for z in Z][1] * 10 + Z['B'].value"), 251);
  EXPECT_EQ(x("1 if Z.A in Z and list(Z)[0] is Z.B and Z.A != 5 and not isinstance(Z.A, str) else 2"), 1);
  EXPECT_EQ(x("1 if Act.RELU == 'relu' and 'tanh' == Act.TANH and Act('relu') is Act.RELU else 2"), 1);
  EXPECT_EQ(x("1 if Act.RELU in ('gelu', 'relu') and 'relu' in [Act.RELU] and Act.RELU != 'tanh' else 2"), 1);
  EXPECT_EQ(x("1 if isinstance(Act.RELU, str) and type(Act.RELU) is Act else 2"), 1);
  EXPECT_NE(error_of(classes + "torch.ones(Z['C'].value)").find("expected the name of a member of the class Z"),
            std::string::npos);
  EXPECT_NE(error_of("class A(str): pass\ntorch.ones(2)").find("found str without Enum"), std::string::npos);
}

TEST(ExpressionLanguage, ATensorOfOneKnownIntegerIsASize) {
  const std::string n = "n = torch.tensor([2, 5, 3]).max(); x = torch.randn(8, 4); ",
                    k = "n = 5; x = torch.randn(8, 4); ";
  for (const std::string text : {"torch.arange(n)", "x[:n]", "torch.zeros(n, 2)", "x.narrow(0, 1, n)", "x[1:n, 0]",
                                 "sum([x[i] for i in range(n)])", "torch.ones((n, n))"})
    EXPECT_EQ(calls(n + text).substr(calls(n + text).rfind(" -> ")),
              calls(k + text).substr(calls(k + text).rfind(" -> ")))
        << text;
  EXPECT_NE(error_of("x = torch.randint(4, ()); torch.arange(x)"), "");
  EXPECT_NE(error_of("torch.arange(torch.tensor(2.5))").find("expected an integer for start"), std::string::npos);
}

TEST(ExpressionLanguage, StridesAreKnownOrRefused) {
  const auto refused = [](const std::string& text, std::string_view words) {
    EXPECT_NE(error_of("x = torch.randn(4, 5); q = torch.randn(1, 2, 4, 4); " + text).find(words), std::string::npos)
        << text;
  };
  EXPECT_EQ(value("torch.ones(4, 5).t().stride(-1)"), 5);
  EXPECT_EQ(value("torch.ones(4, 5).as_strided((3, 2), (1, 5)).stride(1)"), 5);
  refused("F.scaled_dot_product_attention(q, q, q).stride()", "expected a tensor whose strides are known");
  refused("x.as_strided((4, 5), (5, 1), 1)", "expected indices within the memory's 20 elements, found sizes [4, 5]");
  refused("x.as_strided((4, 5), (5,))", "a stride for each size");
  refused("y = x.as_strided((3,), (1,)); x += 1; y", "expected a tensor whose memory is known");
  refused("y = x.as_strided((3,), (1,)); y += 1; x", "expected a tensor whose memory is known");
}

TEST(ExpressionLanguage, NumbersAreFoldedAsPythonHasThem) {
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
  EXPECT_EQ(value("math.sqrt(torch.tensor(64.0)) + math.floor(torch.tensor([2.5])) + math.pow(torch.tensor(2), 3)"),
            18);
  EXPECT_NE(error_of("math.sqrt(torch.randn(()))").find("a number that does not depend on the values of inputs"),
            std::string::npos);
  EXPECT_EQ(value("math.pi"), 3.14159265358979323846);
  EXPECT_EQ(value("float('-inf')"), -INFINITY);
  EXPECT_EQ(value("-float('inf')"), -INFINITY);
  EXPECT_EQ(value("1 if float('nan') != torch.nan and math.nan != math.nan else 2"), 1);
  EXPECT_EQ(value("int(-3.7) + float('0.5')"), -2.5);
  EXPECT_EQ(value("len((1, 2, 3)) + abs(-2) + min(3, 2) + max([4, 5])"), 12);
  EXPECT_EQ(value("~5"), -6);
  EXPECT_EQ(value("(1 < 2) == True"), 1);
}

TEST(ExpressionLanguage, Indices) {
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

TEST(ExpressionLanguage, RotaryEmbedding) {
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

const char* const modules_inside_modules = R"(
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
m(torch.randn(3, 4)))";

TEST(ExpressionLanguage, ModulesInsideModulesNameTheirParameters) {
  EXPECT_EQ(printed(modules_inside_modules), R"(
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

TEST(ExpressionLanguage, TheOutputIsTheLastExpressionOrElseTheLastAssignment) {
  EXPECT_EQ(calls("x = torch.randn(4); y = x.exp(); z = x.neg()"), "neg(x) -> (4,) float32\n");
  EXPECT_EQ(calls("x = torch.randn(4); x.exp(); z = x.neg()"), "exp(x) -> (4,) float32\n");
  EXPECT_EQ(parse_expression("x = torch.randn(4, 6); x.chunk(3, 1)").outputs.size(), 3U);
  EXPECT_EQ(parse_expression("x = torch.randn(4); x.exp(), x").outputs.size(), 2U);
  EXPECT_EQ(calls("torch.arange(8)"), "arange(end=8) -> (8,) int32\n");
}

TEST(ExpressionLanguage, InputsHaveNamesAndValues) {
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

TEST(ExpressionLanguage, ParametersHaveTheValuesOfPytorchButForNorms) {
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

TEST(ExpressionLanguage, ParametersKeepRandomNumbersThatAreUsedElsewhere) {
  const std::string both = "x = torch.randn(3, 4); w = nn.Parameter(x.t()); ";
  EXPECT_EQ(calls(both + "x, w"), "transpose(x, dim0=0, dim1=1) -> (4, 3) float32\n");
  EXPECT_EQ(calls(both + "w * 2"), "mul(p_w, mul_c1) -> (4, 3) float32\n");
  EXPECT_EQ(error_of(both + "assert w.stride() == (1, 4); w * 2"), "");
  EXPECT_EQ(error_of("w = nn.Parameter(torch.zeros(3)); w.data[0] = 1; w * 2"), "");
  EXPECT_NE(error_of("x = torch.zeros(3); w = nn.Parameter(x); w.data[0] = 1; w * x").find("share memory"),
            std::string::npos);
  EXPECT_NE(error_of("x = torch.zeros(3); w = nn.Parameter(x); x[0] = 1; w * 2").find("share memory"),
            std::string::npos);
}

TEST(ExpressionLanguage, StateDictsHaveWhatPytorchSaves) {
  EXPECT_EQ(error_of(R"(
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(3)
        self.a = nn.Linear(2, 2, bias=False)
        self.b = self.a
        self.register_buffer("kept", torch.ones(2))
        self.register_buffer("mask", torch.ones(2), persistent=False)
m = M()
norm = ["norm.weight", "norm.bias", "norm.running_mean", "norm.running_var", "norm.num_batches_tracked"]
assert list(m.state_dict()) == ["kept"] + norm + ["a.weight", "b.weight"], str(list(m.state_dict()))
assert [n for n, b in m.named_buffers()] == ["kept", "mask"] + norm[2:]
assert [n for n, b in m.named_buffers(prefix="m", recurse=False)] == ["m.kept", "m.mask"]
assert len(list(m.parameters(recurse=False))) == 0
assert m.norm.num_batches_tracked.dtype == torch.int64
torch.randn(2)
)"),
            "");
}

TEST(ExpressionLanguage, LongListsAreConstants) {
  const Graph g = parse_expression("torch.tensor([[0.1 * i, 1] for i in range(20)])");
  ASSERT_EQ(g.nodes.size(), 2U);  // the constant and its reshape
  ASSERT_NE(g.nodes[0].source.values, nullptr);
  EXPECT_EQ((*g.nodes[0].source.values)[6], 0.1 * 3);
  EXPECT_EQ(g.nodes[1].type, (TensorType{DType::f32, {20, 2}}));
  EXPECT_EQ(calls("t = torch.tensor([i * i for i in range(20)])\nx = torch.randn(4)\nx * 2 if t[3] == 9 else x"),
            "mul(x, mul_c1) -> (4,) float32\n");
}

TEST(ExpressionLanguage, SeveralBasesAreLookedUpAsInPython) {
  EXPECT_EQ(error_of(R"(
class Named:
    label = "named"
    def __init__(self, name="none", **options):
        super().__init__(**options)
        self.name = name
    def tags(self): return ["named"]
class Scaled(nn.Module):
    def __init__(self, scale=2.0):
        super().__init__()
        self.scale = scale
    def tags(self): return ["scaled"]
    def forward(self, x): return x * self.scale
class Shifted(Scaled):
    def tags(self): return ["shifted"] + super().tags()
    def forward(self, x): return super().forward(x) + 1
class Both(Named, Shifted):
    def tags(self): return ["both"] + super().tags()
class Left(Scaled):
    def tags(self): return ["left"] + super().tags()
class Diamond(Left, Shifted, Named): pass
class Wide(nn.Linear, Named):
    def forward(self, x): return super().forward(x) * 2
both = Both("b", scale=3.0)
assert both.name == "b" and both.scale == 3.0 and both.label == "named"
assert both.tags() == ["both", "named"] and Diamond().tags() == ["left", "shifted", "scaled"]
assert isinstance(both, Scaled) and isinstance(both, nn.Module) and issubclass(Both, Named)
assert Wide(4, 2).tags() == ["named"] and not hasattr(Wide(4, 2), "name")
Wide(3, 2)(both(torch.randn(5, 3)))
)"),
            "");
  EXPECT_EQ(calls("class A:\n  def forward(self, x): return x * 2\nclass B(A, nn.Module, metaclass=type): pass\n"
                  "B()(torch.randn(3))"),
            "mul(x, mul_c1) -> (3,) float32\n");
}

TEST(ExpressionLanguage, AModuleMayDefineItsOwnCall) {
  EXPECT_EQ(error_of(R"(
class Doubled(nn.Module):
    def __call__(self, x): return x * 2
class Counted(nn.Module):
    calls = 0
    def forward(self, x, scale=1): return x * scale
    def __call__(self, *args, **options):
        self.calls += 1
        return super().__call__(*args, **options) + 1
class Derived(Counted):
    def forward(self, x, scale=1): return x - scale
counted, derived, linear = Counted(), Derived(), nn.Linear(2, 2)
assert Doubled()(3) == 6 and counted(3, scale=2) == 7 and counted.__call__(1) == 2 and counted.calls == 2
assert derived(3) == 3 and counted.forward(3) == 3
counted.register_forward_hook(lambda module, inputs, result: result * 10)
assert counted(1) == 11
assert callable(counted) and callable(linear) and not callable(object())
linear.__call__(torch.randn(3, 2))
)"),
            "");
  EXPECT_NE(error_of("x = object()\nx()").find("expected a method __call__(self, …) of a called object"),
            std::string::npos);
}

TEST(ExpressionLanguage, ObjectsHaveTheTruthOfTheirMethods) {
  EXPECT_EQ(error_of(R"(
class Flag:
    def __init__(self, on): self.on = on
    def __bool__(self): return self.on
    def __len__(self): return 1
class Bag:
    def __init__(self, *items): self.items = items
    def __len__(self): return len(self.items)
class Plain: pass
assert Flag(True) and not Flag(False) and Bag(0) and not Bag() and Plain() and object()
assert (Bag() or 3) == 3 and [1 if b else 0 for b in (Bag(), Bag(1))] == [0, 1]
assert str(object()) and not isinstance(object(), nn.Module)
torch.randn(2)
)"),
            "");
  EXPECT_NE(error_of("class A:\n  def __bool__(self): return 'x'\n1 if A() else 2")
                .find("__bool__: expected True, False or an integer, found the string 'x'"),
            std::string::npos);
}

TEST(ExpressionLanguage, StringsHaveEscapes) {
  EXPECT_EQ(value(R"(len('\t\'"\x41\101\u0041'))"), 6);
  EXPECT_EQ(value(R"(len('\d\\') + len(r'\n\''))"), 7);
  EXPECT_EQ(value("len('a\\\nb')"), 2);
  EXPECT_EQ(value(R"(1 if 'a\n'.strip() == 'a' and f'\n{1}\t' == '\n1\t' and f'\{2}' == '\\2' else 2)"), 1);
  EXPECT_EQ(error_of("'''A comment, \\n with an escape.'''\ntorch.ones(2)"), "");
  EXPECT_EQ(error_of(R"(x = 'a\N{DOT ABOVE}')"),
            "<expression>:1:5: expected the number of a character, such as `\\u00b0`, found a name after `\\N`");
  EXPECT_EQ(error_of(R"(x = f'\u04{1}')"),
            "<expression>:1:6: expected 4 hexadecimal digits of a character after `\\u`, found `04`");
}

TEST(ExpressionLanguage, SpecialMethodsOfModulesThatHoldOthersAreThoseOfSuper) {
  EXPECT_EQ(error_of(R"(
class Reversed(nn.ModuleList):
    def __getitem__(self, index): return super().__getitem__(-1 - index)
    def __iter__(self): return iter(list(super().__iter__())[::-1])
    def __len__(self): return super().__len__() + 1
class Names(nn.ModuleDict):
    def __iter__(self): return super().__iter__()
class Backward(nn.Sequential):
    def __iter__(self): return iter([module for _, module in reversed(list(self.named_children()))])
class Next(nn.Module):
    def forward(self, x): return x + 1
class Double(nn.Module):
    def forward(self, x): return x * 2
parts = Reversed([Next(), Double()])
assert parts[0](3) == 6 and parts[1](3) == 4 and [part(3) for part in parts] == [6, 4] and len(parts) == 3
assert list(Names({"next": Next()})) == ["next"] and Backward(Next(), Double())(3) == 7
assert nn.ModuleList([Next()]).__len__() == 1 and not hasattr(Next(), "__len__")
torch.randn(2)
)"),
            "");
}

TEST(ExpressionLanguage, AMethodThatReturnsNotImplementedLeavesTheResultToTheOtherOperand) {
  EXPECT_EQ(error_of(R"(
class Left:
    def __init__(self, x): self.x = x
    def __eq__(self, other): return self.x == other.x if isinstance(other, Left) else NotImplemented
    def __add__(self, other): return NotImplemented
    def __iadd__(self, other): return NotImplemented
class Right:
    def __eq__(self, other): return True
    def __radd__(self, other): return 5
class Odd:
    def __eq__(self, other): return True
    def __ne__(self, other): return True
assert Left(1) == Left(1) and Left(1) != Left(2) and Left(1) != 3 and 3 != Left(1) and Left(1) == Right()
assert Left(1) + Right() == 5 and Odd() != Odd() and Odd() == Odd()
total = Left(1)
total += Right()
assert total == 5
torch.randn(2)
)"),
            "");
  EXPECT_NE(error_of("class A:\n  def __add__(self, other): return NotImplemented\nA() + 3")
                .find("expected tensors or numbers around `+`"),
            std::string::npos);
}

TEST(ExpressionLanguage, SpecialMethodsThatAreNotCalledAreRefused) {
  const auto refused = [](const std::string& text, std::string_view words) {
    EXPECT_NE(error_of(text).find(words), std::string::npos) << text << "\n" << error_of(text);
  };
  refused("class A:\n  def __new__(cls): return 3\nA()", "A: expected a class without __new__");
  refused("class A:\n  def __setattr__(self, name, value): pass\nA()", "A: expected a class without __setattr__");
  refused("class A:\n  def __iter__(self): return self\nsum(A())", "__iter__: expected a list or iter(…), found a A");
  refused("class A:\n  def __len__(self): return -1\nlen(A())", "`__len__` returns an integer of at least 0");
  refused("class A: pass\na, b = A()", "expected a tuple, a list or another sequence, found a A");
  refused("class A: pass\nA[int]", "found the class A");
}

TEST(ExpressionLanguage, RoundsByAllDigitsOfTheDouble) {
  EXPECT_EQ(value("round(2.675, 2)"), 2.67);
  EXPECT_EQ(value("round(0.125, 2)"), 0.12);
  EXPECT_EQ(value("round(0.375, 2)"), 0.38);
  EXPECT_EQ(value("round(1350.0, -2)"), 1400);
  EXPECT_EQ(value("round(9007199254740993) % 10"), 3);
  EXPECT_EQ(value("round(9007199254740993, 2) % 10"), 3);
  EXPECT_EQ(value("round(3.7, -9223372036854775807 - 1)"), 0);
  EXPECT_EQ(value("[0] * round(4, 1) == [0] * 4 and round(1250, -2)"), 1200);
}

TEST(ExpressionLanguage, TheEnvironmentIsEmpty) {
  const std::string start = "import os\nfrom os import environ, getenv\n";
  EXPECT_EQ(error_of(start + R"(
assert int(os.environ.get("BLOCK", "3")) == 3 and os.getenv("HOME") is None and getenv("A", 2) == 2
assert "HOME" not in environ
os.environ["BLOCK"] = "5"
assert environ["BLOCK"] == "5" and os.getenv("BLOCK", "3") == "5"
torch.randn(2)
)"),
            "");
  EXPECT_NE(error_of(start + "os.environ['HOME']").find("expected a key of the dict"), std::string::npos);
}

TEST(ExpressionLanguage, ParametersThatAConstructorUsesHaveTheirFullNames) {
  EXPECT_EQ(calls(R"(
class Scaled(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n))
        self.offset = self.weight.new_ones(n)
    def forward(self, x): return x * self.weight + self.offset
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Scaled(3), Scaled(3)
    def forward(self, x): return self.second(self.first(x))
Model()(torch.randn(2, 3))
)"),
            "full(shape=[3], value=1.0) -> (3,) float32\n"
            "full(shape=[3], value=1.0) -> (3,) float32\n"
            "mul(x, p_first_weight) -> (2, 3) float32\n"
            "add(mul, full) -> (2, 3) float32\n"
            "mul(add, p_second_weight) -> (2, 3) float32\n"
            "add(mul_1, full_1) -> (2, 3) float32\n");
}

TEST(ExpressionLanguage, MatchSelectsByPatterns) {
  EXPECT_EQ(error_of(R"(
from dataclasses import dataclass
@dataclass
class Point:
    x: int
    y: int
class Mode:
    FAST = "fast"
def kind(value):
    match value:
        case 0 | 1: return "bit"
        case -1: return "minus"
        case None: return "none"
        case True: return "true"
        case Mode.FAST: return "mode"
        case "relu" | "gelu" as name: return name
        case str(): return "text"
        case int(n) if n > 100: return "large " + str(n)
        case float(f): return f
        case (): return "empty"
        case [a]: return a
        case a, b: return a + b
        case [1, *rest]: return rest
        case [*_, 9]: return "nine"
        case {"act": act, "size": [n, _]}: return act + str(n)
        case {"kind": "open", **rest}: return rest
        case Point(0, y): return y
        case Point(x=x, y=7): return x
        case _: return "other"
match = [kind(v) for v in (1, -1, None, Mode.FAST, "gelu", "tanh", 101, 2.5, (), [3], (4, 5), [1, 2, 3], (2, 3, 9))]
assert match == ["bit", "minus", "none", "mode", "gelu", "text", "large 101", 2.5, "empty", 3, 9, [2, 3], "nine"]
assert kind({"act": "elu", "size": (6, 6), "more": 1}) == "elu6" and kind({"act": 1}) == "other" and kind(50) == "other"
more = {"kind": "open", "a": 1, "b": 2}
assert kind(more) == {"a": 1, "b": 2} and len(more) == 3 and kind({"kind": "open"}) == {}
assert kind(Point(0, 3)) == 3 and kind(Point(4, 7)) == 4 and kind(Point(4, 4)) == "other"
for i in range(3):
    match i:
        case 1: break
assert i == 1
torch.randn(2)
)"),
            "");
  EXPECT_NE(error_of("class A: pass\nmatch A():\n  case A(1): pass\ntorch.randn(2)").find("`name=`"),
            std::string::npos);
}

TEST(ExpressionLanguage, FunctionsThatYield) {
  EXPECT_EQ(error_of(R"(
from contextlib import contextmanager
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.ReLU()])
        self.log = []
    def steps(self, more=()):
        for i, layer in enumerate(self.layers):
            yield i, layer
        yield from more
    @contextmanager
    def scope(self, name, end="end"):
        self.log.append(name)
        yield len(self.log)
        self.log.append(end)
    def forward(self, x):
        with self.scope("a") as a, self.scope("b", end="b end") as b:
            for i, layer in self.steps():
                x = layer(x)
            self.log.append(a + 10 * b)
            return x
m = M()
y = m(torch.randn(2, 3))
assert m.log == ["a", "b", 21, "b end", "end"], str(m.log)
assert [i for i, _ in m.steps([(7, None)])] == [0, 1, 7]
y
)"),
            "");
  EXPECT_NE(error_of("from contextlib import contextmanager\n@contextmanager\ndef f():\n  yield 1\n  yield 2\n"
                     "with f(): pass\ntorch.randn(2)")
                .find("expected one `yield`"),
            std::string::npos);
  // A class of the text may have the name of one of the language's own.
  EXPECT_EQ(error_of("class GeneratorContext:\n  def __enter__(self): return 2.0\n  def __exit__(self, *error): pass\n"
                     "with GeneratorContext() as k: y = torch.randn(2) * k\ny"),
            "");
}

TEST(ExpressionLanguage, MemoryFormats) {
  for (const char* text :
       {"x.to(memory_format=torch.channels_last)", "x.contiguous(memory_format=torch.channels_last)",
        "x.clone(memory_format=torch.channels_last)", "x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)",
        "x.to(memory_format=torch.channels_last) * 2", "conv.weight"})
    EXPECT_EQ(error_of(std::string("x = torch.randn(2, 3, 4, 5); conv = nn.Conv2d(3, 2, (4, 5))\n"
                                   "conv = conv.to(memory_format=torch.channels_last)\ny = ") +
                       text +
                       "\nassert y.stride() == (60, 1, 15, 3) and not y.is_contiguous()\n"
                       "assert y.is_contiguous(memory_format=torch.channels_last)\n"
                       "assert y.contiguous().stride() == (60, 20, 5, 1)\ny"),
              "")
        << text;
  EXPECT_EQ(error_of("assert not torch.randn(2, 3, 4, 5).is_contiguous(memory_format=torch.channels_last)\n"
                     "torch.randn(2)"),
            "");
  EXPECT_NE(error_of("torch.randn(2, 3).to(memory_format=torch.channels_last)").find("of 4 dimensions"),
            std::string::npos);
}

TEST(ExpressionLanguage, Lines) {
  EXPECT_EQ(calls("x = torch.randn(\n    4,  # a comment\n  8)\n\n\n(x\n +\n x)\n"), "add(x, x) -> (4, 8) float32\n");
  EXPECT_EQ(calls("x = torch.randn(4) \\\n  + 1\r\n# the end"), "add(x, add_c1) -> (4,) float32\n");
  EXPECT_EQ(calls("def f(x):\n\ty = x.exp()\n\n        # eight spaces are a tab\n        return y\nf(torch.randn(4));"),
            "exp(x) -> (4,) float32\n");
  EXPECT_EQ(calls("x = y = torch.randn(4); [a, (b, c)] = x, (y, 3); a * c"), "mul(x, mul_c1) -> (4,) float32\n");
  EXPECT_EQ(calls("s = (2, 3); x = torch.randn(4, *s); x.view(4, *s[::1])"),
            "reshape(x, shape=[4, 2, 3]) -> (4, 2, 3) float32\n");
}

TEST(ExpressionLanguage, ScalarsAreNamedAfterTheOperationAndTheirPlace) {
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
  EXPECT_EQ(scalar("10000000000 * torch.randn(4)"), "mul_c1 other");  // needs more than 32 bits
}

TEST(ExpressionLanguage, Math) {
  EXPECT_DOUBLE_EQ(value("math.exp(1)"), 2.718281828459045);
  EXPECT_DOUBLE_EQ(value("math.e"), 2.718281828459045);
  EXPECT_DOUBLE_EQ(value("math.log(10)"), 2.302585092994046);
  EXPECT_DOUBLE_EQ(value("math.log(8, 2)"), 3);
  EXPECT_DOUBLE_EQ(value("math.sin(1)"), 0.8414709848078965);
  EXPECT_DOUBLE_EQ(value("math.cos(1)"), 0.5403023058681398);
  EXPECT_DOUBLE_EQ(value("math.tanh(1)"), 0.7615941559557649);
  EXPECT_DOUBLE_EQ(value("math.pow(2, 0.5)"), 1.4142135623730951);
  EXPECT_EQ(value("bool(3)"), 1);
}

// Returns the values of an expression of x = ((1, 2, 3), (4, 5, 6)).
Values computed(std::string_view text) {
  const Graph g = parse_expression(std::string("x = torch.randn(2, 3); ").append(text));
  std::vector<Values> sources(g.nodes.size());
  sources[0] = {1, 2, 3, 4, 5, 6};
  return evaluate(g, sources)[0];
}

TEST(ExpressionLanguage, WhatIsMadeOfSeveralOperationsHasTheValuesOfPytorch) {
  EXPECT_EQ(computed("x.repeat_interleave(2, dim=1)"), (Values{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}));
  EXPECT_EQ(computed("torch.repeat_interleave(x, 2, 0)"), (Values{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
  EXPECT_EQ(computed("torch.outer(x[0], x[1])"), (Values{4, 5, 6, 8, 10, 12, 12, 15, 18}));
  EXPECT_EQ(computed("x.std(1)"), (Values{1, 1}));
  EXPECT_EQ(computed("x.var(1, unbiased=False) * 3"), (Values{2, 2}));
  EXPECT_EQ(computed("x.add(x, alpha=2)"), (Values{3, 6, 9, 12, 15, 18}));
  EXPECT_EQ(computed("x.sub(1, alpha=2)"), (Values{-1, 0, 1, 2, 3, 4}));
  EXPECT_EQ(computed("x.clamp(2, 5)"), (Values{2, 2, 3, 4, 5, 5}));
  EXPECT_EQ(computed("x.square()"), (Values{1, 4, 9, 16, 25, 36}));
  EXPECT_EQ(computed("F.layer_norm(x * 0, [3], bias=x[1])"), (Values{4, 5, 6, 4, 5, 6}));
  EXPECT_EQ(computed("a, b = x.split([1, 2], 1); torch.cat((b, a), -1)"), (Values{2, 3, 1, 5, 6, 4}));
  EXPECT_EQ(computed("torch.stack(x.unbind(1))"), (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(computed("x.T.flatten()"), (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(computed("x.unflatten(1, (3, 1)).permute(2, 1, 0)"), (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(computed("x[:, ::2][..., -1]"), (Values{3, 6}));
  EXPECT_EQ(computed("x.narrow(1, 1, 2)"), (Values{2, 3, 5, 6}));
  EXPECT_EQ(computed("2 - x"), (Values{1, 0, -1, -2, -3, -4}));
  EXPECT_EQ(computed("60 / x"), (Values{60, 30, 20, 15, 12, 10}));
  EXPECT_EQ(computed("2 ** x"), (Values{2, 4, 8, 16, 32, 64}));
  EXPECT_EQ(computed("3 < x"), (Values{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(computed("x.where(x > 2, 0)"), (Values{0, 0, 3, 4, 5, 6}));
  EXPECT_EQ(computed("v, _ = torch.max(x, 0); v - torch.min(x, 0).values"), (Values{3, 3, 3}));
}

TEST(ExpressionLanguage, OutputsInsideOfOutputs) {
  const auto shapes = [](std::string_view text) {
    const Graph g = parse_expression(text);
    std::vector<Shape> all;
    for (const int output : g.outputs) all.push_back(g.nodes[static_cast<std::size_t>(output)].type.shape);
    return all;
  };
  using Shapes = std::vector<Shape>;
  EXPECT_EQ(shapes("nn.LSTM(4, 5)(torch.randn(3, 2, 4))"), (Shapes{{3, 2, 5}, {1, 2, 5}, {1, 2, 5}}));
  EXPECT_EQ(shapes("torch.max(torch.randn(3, 4), -1)"), (Shapes{{3}, {3}}));
  EXPECT_EQ(shapes("torch.max(torch.randn(3, 4), -1)[0]"), Shapes{{3}});
  EXPECT_EQ(shapes("torch.max(torch.randn(3, 4))"), Shapes{{}});
  EXPECT_EQ(shapes("x = torch.randn(3); (x, None, [x[:2], {'a': x[:1], 'b': (None, x + 1)}])"),
            (Shapes{{3}, {2}, {1}, {3}}));
}

TEST(ExpressionLanguage, TheDefaultTypeOfFloats) {
  const auto type = [](std::string_view text, DType dtype = DType::f32) {
    const Graph g = parse_expression(text, "test", dtype);
    return g.nodes[static_cast<std::size_t>(g.outputs.at(0))].type.dtype;
  };
  for (const char* text : {"torch.randn(3)", "torch.zeros(3)", "torch.full((3,), 0.5)", "torch.arange(0., 3.)",
                           "torch.nn.Linear(3, 4)(torch.rand(3))", "torch.randn(3) * 2 + 0.5"}) {
    EXPECT_EQ(type(text), DType::f32) << text;
    EXPECT_EQ(type(text, DType::bf16), DType::bf16) << text;
    EXPECT_EQ(type(std::string("torch.set_default_dtype(torch.float16); ") + text), DType::f16) << text;
  }
  EXPECT_EQ(type("torch.randn(3, dtype=torch.float32)", DType::bf16), DType::f32);
  EXPECT_EQ(type("torch.arange(3)", DType::bf16), DType::i32);
  EXPECT_EQ(type("torch.zeros(3, dtype=torch.get_default_dtype())", DType::f16), DType::f16);
  for (const char* text : {"torch.arange(3) / 2", "torch.arange(3) * 0.5", "torch.sqrt(torch.arange(3))",
                           "torch.deg2rad(torch.arange(3))", "torch.where(torch.arange(3) > 1, 1.0, 0.0)"})
    EXPECT_EQ(type(text, DType::bf16), DType::bf16) << text;
  EXPECT_EQ(type("torch.arange(3).float()", DType::bf16), DType::f32);
  EXPECT_EQ(type("torch.FloatTensor([1, 2]) * torch.arange(2)", DType::bf16), DType::f32);
  // These promote as in PyTorch.
  EXPECT_EQ(type("torch.randn(3, dtype=torch.float16) + torch.randn(3, dtype=torch.bfloat16)"), DType::f32);
  EXPECT_EQ(type("torch.randn(3, dtype=torch.float16) + torch.randn(3)"), DType::f32);
  EXPECT_EQ(type("torch.randn(3, dtype=torch.bfloat16) + torch.arange(3)"), DType::bf16);
  EXPECT_EQ(type("torch.randn(3, dtype=torch.bfloat16) * 0.1"), DType::bf16);
}

TEST(ExpressionLanguage, ReplacesVariablesOnTheSameLine) {
  const auto replaced = [](std::string_view text) { return replace_variable(std::string(text), "test", "h", "7"); };
  EXPECT_EQ(replaced("h = 3  # tall\nx = h\n"), "h = 3; h = 7  # tall\nx = h\n");
  EXPECT_EQ(replaced("h = w = 3"), "h = w = 3; h = 7");
  EXPECT_EQ(replaced("d, (h, w) = 1, (2, 3)\n"), "d, (h, w) = 1, (2, 3); h = 7\n");
  EXPECT_EQ(replaced("d = 1; h = w = 3; k = h"), "d = 1; h = w = 3; h = 7; k = h");
  EXPECT_EQ(replaced("h: int = (\n    3,  # one\n)  # two\n"), "h: int = (\n    3,  # one\n); h = 7  # two\n");
  EXPECT_EQ(replaced("h = 'a' \\\n  # b\n"), "h = 'a'; h = 7 \\\n  # b\n");
  EXPECT_EQ(replaced("h = 3\nh = 4"), "h = 3; h = 7\nh = 4; h = 7");
  EXPECT_EQ(replaced("def f():\n    h = 3\n    return h\nif True:\n    h = 4\nhh = 5"), std::nullopt);
  EXPECT_THROW(replaced("h = "), Error);
}

}  // namespace
}  // namespace deplo::ir::torch
