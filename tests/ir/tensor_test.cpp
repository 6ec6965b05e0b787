// Tensor IR: its text, what the verifier refuses, its meaning.
#include "ir/tensor/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "ir/tensor/emitter.h"

namespace deplo::ir::tensor {
namespace {

const Expr i = coordinate(0), j = coordinate(1);
constexpr double infinity = std::numeric_limits<double>::infinity();

Node input(std::string name, Shape shape, DType dtype = DType::f32) {
  return {std::move(name), {dtype, std::move(shape)}, Input{}, {}};
}
Node scalar(std::string name, double value, DType dtype = DType::f32) {
  return {std::move(name), {dtype, {}}, Scalar{value}, {}};
}
Node elementwise(std::string name, Op op, std::vector<int> args, Shape shape, DType dtype = DType::f32) {
  return {std::move(name), {dtype, std::move(shape)}, Elementwise{op}, std::move(args)};
}
Node reduction(std::string name, Op op, int axis, int arg, Shape shape) {
  return {std::move(name), {DType::f32, std::move(shape)}, Reduction{op, axis}, {arg}};
}
Node index_map(std::string name, std::vector<IndexMap::Branch> branches, std::vector<int> args, Shape shape) {
  return {std::move(name), {DType::f32, std::move(shape)}, IndexMap{std::move(branches)}, std::move(args)};
}
Node coordinates(std::string name, Expr value, Shape shape, DType dtype) {
  return {std::move(name), {dtype, std::move(shape)}, Coordinate{std::move(value)}, {}};
}

// Returns the values of the last node. The inputs are the first nodes.
std::vector<double> values(std::vector<Node> nodes, const std::vector<std::vector<double>>& inputs) {
  Graph graph{std::move(nodes), {}};
  graph.outputs = {static_cast<int>(graph.nodes.size()) - 1};
  EXPECT_EQ(verify(graph), "");
  std::vector<std::vector<double>> sources = inputs;
  sources.resize(graph.nodes.size());
  return evaluate(graph, sources).front();
}

// Fifty equal elements are not added one by one: the sum becomes a product.
TEST(Emitter, SumsEqualElementsByAProduct) {
  const auto reduced = [](Op op, Dims dims) {
    Emitter e(8);
    e.start("sum");
    const int x = e.add(input("x", {3, 1}));
    e.graph().outputs = {e.reduce(op, e.broadcast(x, {3, 50}), std::move(dims), "reduce")};
    EXPECT_EQ(verify(e.graph()), "");
    std::vector<std::vector<double>> sources(e.size());
    sources[0] = {1, 2, 4};
    const auto is_reduction = [](const Node& node) { return node.as<Reduction>() != nullptr; };
    return std::pair(evaluate(e.graph(), sources).front(), std::ranges::count_if(e.graph().nodes, is_reduction));
  };
  EXPECT_EQ(reduced(Op::add, {1}), std::pair(std::vector<double>{50, 100, 200}, 0L));
  EXPECT_EQ(reduced(Op::maximum, {1}), std::pair(std::vector<double>{1, 2, 4}, 0L));
  EXPECT_EQ(reduced(Op::add, {0, 1}), std::pair(std::vector<double>{350}, 1L));
  EXPECT_EQ(reduced(Op::multiply, {1}).second, 1) << "a power";
}

TEST(Tensor, Text) {
  Graph graph{
      {input("x", {4, 3}), Node{"p", {DType::f32, {1, 3}}, Parameter{}, {}}, scalar("eps", 1e-6), scalar("two", 2),
       scalar("yes", 1, DType::boolean), scalar("n", 7, DType::i32), input("at", {4, 2}, DType::i32)},
      {}};
  graph.nodes.push_back(elementwise("sum", Op::add, {0, 2}, {4, 3}));
  graph.nodes.push_back(reduction("s", Op::add, 0, 7, {1, 3}));
  graph.nodes.push_back(reduction("top", Op::maximum, 1, 7, {4, 1}));
  graph.nodes.push_back(index_map("cat", {{0, {min(i, 3), j}, less(i, 4)}, {1, {0, j}, 1}}, {0, 1}, {5, 3}));
  graph.nodes.push_back(index_map("g", {{0, {i, min(Expr(ExprOp::max, var("g1"), 0), 2)}, 1}}, {0, 6}, {4, 2}));
  graph.nodes.push_back(coordinates("mask", less(j, i + 1), {4, 3}, DType::boolean));
  graph.outputs = {10, 9};
  EXPECT_EQ(verify(graph), "");
  EXPECT_EQ(print(graph),
            "# Graph: 13 nodes, 2 inputs, 2 outputs\n"
            "inputs:\n"
            "x: (4, 3) float32\n"
            "at: (4, 2) int32\n"
            "constants:\n"
            "p: (1, 3) float32\n"
            "eps: () float32 = 1e-06\n"
            "two: () float32 = 2.0\n"
            "yes: () bool = True\n"
            "n: () int32 = 7\n"
            "sum = add(x, eps) -> (4, 3) float32\n"
            "s = sum(sum, axis=-2) -> (1, 3) float32\n"
            "top = max(sum, axis=-1) -> (4, 1) float32\n"
            "cat = where (i < 4): x[min(i, 3), j] else: p[na, j] -> (5, 3) float32\n"
            "g = x[i, min(max(at[i, j], 0), 2)] -> (4, 2) float32\n"
            "mask = (j < (i + 1)) -> (4, 3) bool\n"
            "outputs:\n"
            "cat: (5, 3) float32\n"
            "top: (4, 1) float32\n");
}

struct Refused {
  std::string problem;
  Node node;  // follows the nodes x: (4, 3), at: (4, 2) int32, s: 2.0
};

std::vector<Refused> refused() {
  return {
      {"x: expected a unique name", input("x", {1})},
      {"node 3: expected a name", input("", {1})},
      {"n: expected no negative extent, found -1", input("n", {-1})},
      {"n: expected arguments that precede it, found 3", elementwise("n", Op::exp, {3}, {4, 3})},
      {"n: expected arguments that precede it, found -1", elementwise("n", Op::exp, {-1}, {4, 3})},
      {"n: expected 0 arguments, found 1", {"n", {DType::f32, {4, 3}}, Input{}, {0}}},
      {"n: expected a scalar of rank 0, found (1,) float32", {"n", {DType::f32, {1}}, Scalar{1}, {}}},
      {"n: expected 2 arguments, found 1", elementwise("n", Op::add, {0}, {4, 3})},
      {"n: expected a scalar operation, found lanes_add", elementwise("n", Op::lanes_add, {0}, {4, 3})},
      {"n: expected arguments of shape (4, 2) or scalars, found x: (4, 3) float32",
       elementwise("n", Op::exp, {0}, {4, 2})},
      {"n: expected arguments of float32, found at: (4, 2) int32", elementwise("n", Op::add, {1, 2}, {4, 2})},
      {"n: expected arguments of int32, found s: () float32",
       elementwise("n", Op::less, {1, 2}, {4, 2}, DType::boolean)},
      {"n: expected a bool result, found float32", elementwise("n", Op::less, {0, 0}, {4, 3})},
      {"n: expected arguments of bool, found x: (4, 3) float32",
       elementwise("n", Op::logical_not, {0}, {4, 3}, DType::boolean)},
      {"n: expected a bool condition, found (4, 3) float32", elementwise("n", Op::select, {0, 0, 0}, {4, 3})},
      {"n: expected integers or bool, found (2,) float32", coordinates("n", i, {2}, DType::f32)},
      {"n: expected a condition, found i", coordinates("n", i, {3}, DType::boolean)},
      {"n: expected a coordinate, found j", coordinates("n", j, {3}, DType::i32)},
      {"n: expected an axis of (4, 3), found 2", reduction("n", Op::add, 2, 0, {4, 1})},
      {"n: expected an operation with a neutral element, found subtract", reduction("n", Op::subtract, 1, 0, {4, 1})},
      {"n: expected the type (4, 1) of (4, 3) float32 with axis 1 collapsed, found (4,) float32",
       reduction("n", Op::add, 1, 0, {4})},
      {"n: expected a branch", index_map("n", {}, {0}, {4})},
      {"n: expected a branch of an argument, found 1", index_map("n", {{1, {i, 0}, 1}}, {0}, {4})},
      {"n: expected a last branch without a condition, found (i < 2)",
       index_map("n", {{0, {i, 0}, less(i, 2)}}, {0}, {4})},
      {"n: expected 2 coordinates, found 1", index_map("n", {{0, {i}, 1}}, {0}, {4})},
      {"n: expected a coordinate from 0 to 3, found i", index_map("n", {{0, {i, 0}, 1}}, {0}, {5})},
      {"n: expected a coordinate from 0 to 3, found (i - 1)", index_map("n", {{0, {i - 1, 0}, 1}}, {0}, {4})},
      {"n: expected a coordinate, found g1", index_map("n", {{0, {var("g1"), 0}, 1}}, {0}, {4})},
      {"n: expected a coordinate, found a0", index_map("n", {{0, {var("a0"), 0}, 1}}, {0}, {4})},
      {"n: expected a coordinate from 0 to 3, found g1", index_map("n", {{0, {var("g1"), 0}, 1}}, {0, 1}, {4, 2})},
      {"n: expected indices (4,) int32, found (4, 2) int32", index_map("n", {{0, {var("g1"), 0}, 1}}, {0, 1}, {4})},
      {"n: expected an argument of float32, found (4, 2) int32", index_map("n", {{0, {i, j}, 1}}, {1}, {4, 2})},
  };
}

TEST(Tensor, VerifyRefuses) {
  for (const Refused& c : refused()) {
    const Graph graph{{input("x", {4, 3}), input("at", {4, 2}, DType::i32), scalar("s", 2), c.node}, {0}};
    EXPECT_EQ(verify(graph), c.problem);
  }
  EXPECT_EQ(verify({{input("x", {1})}, {1}}), "output 1: expected a node");
}

TEST(Tensor, ARangeThatOnlyTheWholeExpressionShows) {
  // The intervals of i + j and of i alone do not show that the difference is j.
  EXPECT_EQ(verify({{input("x", {2}), index_map("n", {{0, {i + j - i}, 1}}, {0}, {8, 2})}, {1}}), "");
}

TEST(Tensor, ElementwiseWithScalars) {
  const std::vector<Node> nodes{input("x", {3}), scalar("one", 1), elementwise("n", Op::subtract, {1, 0}, {3})};
  EXPECT_EQ(values(nodes, {{1, 2, 4}}), (std::vector<double>{0, -1, -3}));
}

std::vector<double> copied(std::vector<double> from, DType dtype) {
  const auto count = static_cast<std::int64_t>(from.size());
  return values({input("x", {count}), elementwise("n", Op::copy, {0}, {count}, dtype)}, {std::move(from)});
}

// IEEE 754: binary16 has 11 bits of significand, and its smallest step is 2^-24; bfloat16 has 8 bits and the exponents
// of f32. A copy to these types does not round, because they only say how the tensor is stored.
TEST(Tensor, CopiesConvert) {
  EXPECT_EQ(copied({2.75, -2.75, 0.5}, DType::i32), (std::vector<double>{2, -2, 0}));
  EXPECT_EQ(copied({2.75, 0, -0.0, NAN}, DType::boolean), (std::vector<double>{1, 0, 0, 1}));
  EXPECT_EQ(copied({2049}, DType::f16), (std::vector<double>{2049}));
  const auto rounded = [](Op op, std::vector<double> from, DType dtype) {
    const auto count = static_cast<std::int64_t>(from.size());
    return values({input("x", {count}), elementwise("n", op, {0}, {count}, dtype)}, {std::move(from)});
  };
  EXPECT_EQ(rounded(Op::round_f16, {2049, 2051, 65519, 65520, -65520, 0x1p-24, 0x1p-25, 0x1.8p-24}, DType::f16),
            (std::vector<double>{2048, 2052, 65504, infinity, -infinity, 0x1p-24, 0, 0x1p-23}));
  EXPECT_EQ(rounded(Op::round_bf16, {257, 259, 1 + 0x1p-8, 1 + 0x1.8p-8}, DType::bf16),
            (std::vector<double>{256, 260, 1, 1 + 0x1p-7}));
}

TEST(Tensor, CopiesOfOneDtypeRoundNothing) { EXPECT_EQ(copied({0.1}, DType::f32), (std::vector<double>{0.1})); }

TEST(Tensor, ReductionsAlongEachAxis) {
  const std::vector<double> x{1, 2, 3, 4, 5, 6};
  const Node in = input("x", {2, 3});
  EXPECT_EQ(values({in, reduction("n", Op::add, 0, 0, {1, 3})}, {x}), (std::vector<double>{5, 7, 9}));
  EXPECT_EQ(values({in, reduction("n", Op::multiply, 1, 0, {2, 1})}, {x}), (std::vector<double>{6, 120}));
  EXPECT_EQ(values({in, reduction("n", Op::maximum, 1, 0, {2, 1})}, {x}), (std::vector<double>{3, 6}));
  EXPECT_EQ(values({in, reduction("n", Op::minimum, 0, 0, {1, 3})}, {x}), (std::vector<double>{1, 2, 3}));
}

TEST(Tensor, IndexMapsTakeTheFirstBranchThatHolds) {
  const std::vector<IndexMap::Branch> branches{{0, {min(i, 1)}, less(i, 2)}, {1, {i % 2}, less(i, 4)}, {0, {1}, 1}};
  EXPECT_EQ(values({input("x", {2}), input("y", {2}), index_map("n", branches, {0, 1}, {5})}, {{1, 2}, {3, 4}}),
            (std::vector<double>{1, 2, 3, 4, 2}));
}

TEST(Tensor, AGatherClamps) {
  const Expr at = min(Expr(ExprOp::max, var("g1"), 0), 2);
  EXPECT_EQ(values({input("x", {3}), input("at", {4}, DType::i32), index_map("n", {{0, {at}, 1}}, {0, 1}, {4})},
                   {{5, 6, 7}, {2, 0, -1, 9}}),
            (std::vector<double>{7, 5, 5, 7}));
}

TEST(Tensor, Coordinates) {
  EXPECT_EQ(values({coordinates("n", i * 3 + j, {2, 2}, DType::i32)}, {}), (std::vector<double>{0, 1, 3, 4}));
  EXPECT_EQ(values({coordinates("n", less(j, i + 1), {2, 2}, DType::boolean)}, {}), (std::vector<double>{1, 0, 1, 1}));
}

TEST(Tensor, EvaluateRefusesWhatIsTooLarge) {
  const Graph graph{{scalar("s", 1), elementwise("n", Op::copy, {0}, {1 << 14, 1 << 14})}, {1}};
  EXPECT_THROW(evaluate(graph, {{}, {}}), Error);
}

}  // namespace
}  // namespace deplo::ir::tensor
