// Tests which graphs `compose` returns, and that they compute the same values.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "drawn_seeds.h"
#include "ir/torch/expression/expression.h"
#include "rules/decompose/decompose.h"
#include "rules/decompose/decompose_case.h"
#include "rules/random_shapes.h"

namespace deplo::testing {
namespace {

using ir::DType;
using ir::Op;
using ir::Shape;
using ir::tensor::Graph;
using ir::torch::Builder;
using ir::torch::Id;
using Int = std::int64_t;

Graph composed(Builder& b, std::vector<Id> outputs) { return rules::compose(rules::decompose(b.finish(outputs))); }

// Returns the lines of the graph's text that are calls.
std::string calls(const Graph& graph) {
  const std::string text = ir::tensor::print(graph);
  std::string lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin) + 1;
    const std::string line = text.substr(begin, end - begin);
    if (line.find(" -> ") != std::string::npos) lines += line;
    begin = end;
  }
  return lines;
}

Id input(Builder& b, Shape shape, DType dtype = DType::f32) { return b.input("x", {dtype, std::move(shape)}); }
Id slice(Builder& b, Id x, Int dim, Int start, Int end) {
  return b.call("slice", {x}, {{"dim", dim}, {"start", start}, {"end", end}});
}
Id transpose(Builder& b, Id x) { return b.call("transpose", {x}, {{"dim0", Int{0}}, {"dim1", Int{1}}}); }
Id reshape(Builder& b, Id x, Shape shape) { return b.call("reshape", {x}, {{"shape", std::move(shape)}}); }

TEST(Compose, ATransposeThenASliceIsOneMap) {
  Builder b;
  const Id x = input(b, {4, 16});
  EXPECT_EQ(calls(composed(b, {slice(b, transpose(b, x), 0, 5, 8)})), "slice_1 = x[j, (i + 5)] -> (3, 4) float32\n");
}

TEST(Compose, HeadsAreSplitWithoutDivision) {
  Builder b;
  const Id x = input(b, {1, 32, 2048});
  const Id heads = reshape(b, x, {1, 32, 32, 64});
  EXPECT_EQ(calls(composed(b, {heads})), "reshape = x[na, j, ((k * 64) + l)] -> (1, 32, 32, 64) float32\n");
}

TEST(Compose, HeadsAreMergedWithDivision) {
  Builder b;
  const Id x = input(b, {1, 4, 7, 8});
  const Id back = b.call("transpose", {x}, {{"dim0", Int{1}}, {"dim1", Int{2}}});
  EXPECT_EQ(calls(composed(b, {reshape(b, back, {1, 7, 32})})),
            "reshape = x[na, (k / 8), j, (k % 8)] -> (1, 7, 32) float32\n");
}

TEST(Compose, WhatIsUndoneVanishesAndTheOutputKeepsItsName) {
  Builder b;
  const Id y = b.call("exp", {input(b, {6, 4})});
  const Id there = reshape(b, transpose(b, transpose(b, y)), {3, 8});
  const Id back = b.call("reshape", {there}, {{"shape", Shape{6, 4}}}, "back");
  EXPECT_EQ(calls(composed(b, {back})), "back = exp(x) -> (6, 4) float32\n");
}

TEST(Compose, AnOutputThatIsGivenIsCopied) {
  Builder b;
  const Id x = input(b, {6, 4});
  const Id same = b.call("reshape", {x}, {{"shape", Shape{6, 4}}}, "same");
  const Graph graph = composed(b, {x, same, b.call("full", {}, {{"shape", Shape{}}, {"value", 2.0}})});
  EXPECT_EQ(calls(graph), "x_copy = copy(x) -> (6, 4) float32\nfull = copy(full_value) -> () float32\n");
  EXPECT_EQ(graph.outputs.size(), 3U);
  EXPECT_EQ(graph.outputs[0], graph.outputs[1]);
}

TEST(Compose, ASliceOfAConcatenationTakesTheBranchesItReads) {
  Builder b;
  const Id x = input(b, {4, 2}), y = b.input("y", {DType::f32, {3, 2}}), z = b.input("z", {DType::f32, {5, 2}});
  const Id cat = b.call("cat", {x, y, z});
  EXPECT_EQ(calls(composed(b, {slice(b, cat, 0, 0, 4), slice(b, cat, 0, 5, 9), slice(b, cat, 0, 6, 7)})),
            "slice_2 = where (i < 2): y[(min(i, 1) + 1), j] else: z[(max(i, 2) - 2), j] -> (4, 2) float32\n"
            "slice_3 = y[2, j] -> (1, 2) float32\n"
            "slice_1 = copy(x) -> (4, 2) float32\n");
}

TEST(Compose, AConcatenationOfConcatenationsIsOneMap) {
  Builder b;
  const Id x = input(b, {2}), y = b.input("y", {DType::f32, {2}});
  const Id inner = b.call("cat", {x, y}), outer = b.call("cat", {inner, x});
  EXPECT_EQ(calls(composed(b, {outer})),
            "cat_1 = where (i < 2): x[min(i, 1)] where (i < 4): y[(max(min(i, 3), 2) - 2)] else: x[(max(i, 4) - 4)] -> "
            "(6,) float32\n");
}

TEST(Compose, EqualNodesAreOne) {
  Builder b;
  const Id x = input(b, {3, 4}), y = b.input("y", {DType::f32, {3, 4}});
  const Id a = b.call("add", {b.call("exp", {x}), b.scalar(1, DType::f32)});
  const Id c = b.call("add", {b.call("exp", {x}), b.scalar(1, DType::i32)});
  const Id d = b.call("add", {b.call("exp", {y}), b.scalar(1, DType::f32)});
  EXPECT_EQ(calls(composed(b, {b.call("mul", {a, c}), b.call("mul", {c, d})})),
            "exp_1 = exp(x) -> (3, 4) float32\n"
            "add = add(exp_1, scalar) -> (3, 4) float32\n"
            "exp_3 = exp(y) -> (3, 4) float32\n"
            "add_2 = add(exp_3, scalar) -> (3, 4) float32\n"
            "mul = multiply(add, add) -> (3, 4) float32\n"
            "mul_1 = multiply(add, add_2) -> (3, 4) float32\n");
}

TEST(Compose, MinusZeroIsNotZero) {
  Builder b;
  const Id x = input(b, {3});
  const Id plus = b.call("div", {x, b.scalar(0.0, DType::f32)}), minus = b.call("div", {x, b.scalar(-0.0, DType::f32)});
  const Graph graph = composed(b, {plus, minus});
  EXPECT_NE(graph.outputs[0], graph.outputs[1]);
}

TEST(Compose, ScalarsAreFoldedAndSpreadNowhere) {
  Builder b;
  const Id x = input(b, {3, 4});
  const Id half = b.call("div", {b.scalar(1, DType::f32), b.scalar(2, DType::i32)});
  const Id ones = b.call("full", {}, {{"shape", Shape{4}}, {"value", 1.0}});
  const Id threes = b.call("add", {ones, b.scalar(2, DType::f32)});
  const Graph graph = composed(b, {b.call("mul", {half, x}), b.call("add", {threes, x})});
  EXPECT_EQ(calls(graph), "mul = multiply(x, div) -> (3, 4) float32\nadd_1 = add(x, add_value) -> (3, 4) float32\n");
  for (const auto& n : graph.nodes) {
    const auto* scalar = n.as<ir::tensor::Scalar>();
    if (scalar != nullptr) {
      EXPECT_EQ(scalar->value, n.name == "div" ? 0.5 : 3);
    }
  }
}

TEST(Compose, AMaskIsMadeWhereItIsUsed) {
  Builder b;
  const Id x = input(b, {2, 3, 5, 5});
  const Id range = b.call("arange", {}, {{"end", Int{5}}});
  const Id rows = b.call("unsqueeze", {range}, {{"dim", Int{1}}});
  const Id mask = b.call("expand", {b.call("le", {range, rows})}, {{"shape", Shape{2, 3, 5, 5}}});
  EXPECT_EQ(calls(composed(b, {b.call("masked_fill", {x, mask, b.scalar(0, DType::f32)})})),
            "expand = (l < (k + 1)) -> (2, 3, 5, 5) bool\n"
            "masked_fill = select(expand, scalar, x) -> (2, 3, 5, 5) float32\n");
}

TEST(Compose, InputsStayAndParametersThatNothingReadsGo) {
  const ir::tensor::Node x{"x", {DType::f32, {2}}, ir::tensor::Input{}, {}};
  const ir::tensor::Node p{"p", {DType::f32, {2}}, ir::tensor::Parameter{}, {}};
  const ir::tensor::Node dead{"dead", {DType::f32, {2}}, ir::tensor::Elementwise{Op::add}, {0, 2}};
  ir::tensor::Node y = x, used{"used", {DType::f32, {2}}, ir::tensor::Elementwise{Op::exp}, {1}};
  y.name = "y";
  const Graph graph = rules::compose({{x, y, p, dead, used}, {4}});
  ASSERT_EQ(graph.nodes.size(), 3U);
  EXPECT_EQ(graph.nodes[0], x);
  EXPECT_EQ(graph.nodes[1], y);
  EXPECT_EQ(graph.nodes[2].name, "used");
}

TEST(Compose, AGatherReadsPastItsSourceAndNothingPastIt) {
  Builder b;
  const Id x = input(b, {7, 3}), index = b.input("index", {DType::i32, {4, 7}});
  const Id taken = b.call("gather", {transpose(b, x), b.call("slice", {index}, {{"dim", Int{0}}, {"end", Int{3}}})},
                          {{"dim", Int{1}}});
  EXPECT_EQ(calls(composed(b, {transpose(b, taken)})),
            "slice_1 = index[i, j] -> (3, 7) int32\n"
            "gather = x[min(max(slice_1[i, j], 0), 6), i] -> (3, 7) float32\n"
            "transpose_1 = gather[j, i] -> (7, 3) float32\n");
}

TEST(Compose, AGatherWhoseIndexIsKnownIsNone) {
  Builder b;
  const Id weight = input(b, {16, 3}), range = b.call("arange", {}, {{"start", Int{2}}, {"end", Int{7}}});
  const Id two = b.call("full", {}, {{"shape", Shape{16, 1}}, {"value", Int{2}}});
  const Graph graph =
      composed(b, {b.call("embedding", {weight, range}), b.call("gather", {weight, two}, {{"dim", Int{1}}})});
  EXPECT_EQ(calls(graph), "embedding = x[(i + 2), j] -> (5, 3) float32\ngather = x[i, 2] -> (16, 1) float32\n");
}

bool is_simple(const ir::tensor::IndexMap& map) {
  const auto long_text = [](const ir::Expr& e) { return print(e).size() > 60; };
  const auto& coordinates = map.branches.front().coordinates;
  return map.branches.size() == 1 && std::none_of(coordinates.begin(), coordinates.end(), long_text);
}

// Returns true if no index map reads an index map of one branch, except for maps that already have a long expression.
bool is_composed(const Graph& graph) {
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const ir::tensor::Node& n) {
    if (n.as<ir::tensor::IndexMap>() == nullptr) return true;
    return std::none_of(n.args.begin(), n.args.end(), [&](int a) {
      const auto* source = graph.nodes[static_cast<std::size_t>(a)].as<ir::tensor::IndexMap>();
      return source != nullptr && is_simple(*source);
    });
  });
}

TEST(Compose, ChainsOfShapeOperationsMeanTheSame) {
  for (const std::uint64_t seed : drawn_seeds(2000)) {
    Rng rng(seed);
    const ir::torch::Graph graph = random_shapes(rng);
    ASSERT_EQ(check_meaning(graph, random_sources(graph, rng)), "") << "seed " << seed << "\n" << print(graph);
    const Graph once = rules::compose(rules::decompose(graph));
    ASSERT_TRUE(is_composed(once)) << "seed " << seed << "\n" << print(once);
  }
}

// An elementwise operation has the dimension order of the product that it reads. If it reads two products with
// different orders, it can have the order of only one of them.
TEST(Compose, SumsOfProductsInTwoOrdersMeanTheSame) {
  std::array<Int, 3> first = {0, 1, 2}, second = first;
  const std::array<Int, 3> sum = {3, 4, 5};
  const auto product = [&](const std::array<Int, 3>& order) {
    std::array<Int, 3> shape{};
    for (std::size_t d = 0; d < 3; ++d) shape[static_cast<std::size_t>(order[d])] = sum[d];
    return fmt::format("(torch.randn({},{},6) @ torch.randn({},6,{})).permute({})", shape[0], shape[1], shape[0],
                       shape[2], fmt::join(order, ","));
  };
  Rng rng(0);
  do {
    do {
      const std::string code = fmt::format("F.relu({}) + {}", product(first), product(second));
      const ir::torch::Graph graph = ir::torch::parse_expression(code);
      ASSERT_EQ(check_meaning(graph, random_sources(graph, rng)), "") << code;
    } while (std::ranges::next_permutation(second).found);
  } while (std::ranges::next_permutation(first).found);
}

}  // namespace
}  // namespace deplo::testing
