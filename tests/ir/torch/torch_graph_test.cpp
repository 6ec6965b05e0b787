#include <gtest/gtest.h>

#include "core/error.h"
#include "ir/emit/reserved.h"
#include "ir/text/words.h"
#include "ir/torch/graph.h"

namespace deplo::ir::torch::torch_graph_test {
namespace {

constexpr DType f32 = DType::f32;
using List = std::vector<std::int64_t>;

TEST(TorchGraph, PrintsAsTheArticlesDo) {
  Builder b;
  const Id x = b.input("x", {f32, {1, 32, 2048}});
  const Id weight = b.parameter("p_weight", {f32, {2048}});
  const Id norm = b.call("rms_norm", {x, weight}, {{"dims", std::int64_t{1}}, {"eps", 1e-6}});
  EXPECT_EQ(print(b.finish({norm})),
            "# Graph: 3 nodes, 1 inputs, 1 outputs\n"
            "inputs:\n"
            "x: (1, 32, 2048) float32\n"
            "constants:\n"
            "p_weight: (2048,) float32\n"
            "rms_norm = rms_norm(x, p_weight, dims=1, eps=1e-06) -> (1, 32, 2048) float32\n"
            "outputs:\n"
            "rms_norm: (1, 32, 2048) float32\n");
}

TEST(TorchGraph, ReferencesToNodesStayValidWhileNodesAreAdded) {
  Builder b;
  Id x = b.input("x", {f32, {2, 3}});
  const TensorType& type = b.type(x);
  for (int i = 0; i < 1000; ++i) x = b.call("relu", {x});
  EXPECT_EQ(&b.type(0), &type);
  EXPECT_EQ(type, (TensorType{f32, {2, 3}}));
}

TEST(TorchGraph, PrintsScalarsAndAttributesAsPython) {
  Builder b;
  const Id x = b.input("x", {f32, {4, 6}});
  const Id eps = b.scalar(1e-6, f32, "eps"), two = b.scalar(2, f32), three = b.scalar(3, DType::i32);
  const Id yes = b.scalar(1, DType::boolean, "yes");
  const Id sum = b.call("sum", {x}, {{"dims", List{-1}}, {"keepdim", true}});
  const Id all = b.call("sum", {x});
  const Id gelu = b.call("gelu", {x}, {{"approximate", std::string("tanh")}});
  const Id cut = b.call("slice", {x}, {{"dim", std::int64_t{1}}, {"start", std::int64_t{1}}});
  const Id part = b.call("slice", {x}, {{"dim", std::int64_t{1}}, {"end", std::int64_t{3}}});
  const Id half = b.call("to", {x}, {{"dtype", DType::f16}});
  const Id picked = b.call("where", {yes, b.call("mul", {x, b.call("add", {eps, two})}), three});
  EXPECT_EQ(print(b.finish({sum, all, gelu, cut, part, half, picked})),
            "# Graph: 14 nodes, 1 inputs, 7 outputs\n"
            "inputs:\n"
            "x: (4, 6) float32\n"
            "constants:\n"
            "eps: () float32 = 1e-06\n"
            "scalar: () float32 = 2.0\n"
            "scalar_1: () int32 = 3\n"
            "yes: () bool = True\n"
            "sum_1 = sum(x, dims=[1], keepdim=True) -> (4, 1) float32\n"
            "sum_2 = sum(x) -> () float32\n"
            "gelu = gelu(x, approximate='tanh') -> (4, 6) float32\n"
            "slice_1 = slice(x, dim=1, start=1) -> (4, 5) float32\n"
            "slice_2 = slice(x, dim=1, end=3) -> (4, 3) float32\n"
            "to = to(x, dtype=float16) -> (4, 6) float16\n"
            "add = add(eps, scalar) -> () float32\n"
            "mul = mul(x, add) -> (4, 6) float32\n"
            "where = where(yes, mul, scalar_1) -> (4, 6) float32\n"
            "outputs:\n"
            "sum_1: (4, 1) float32\n"
            "sum_2: () float32\n"
            "gelu: (4, 6) float32\n"
            "slice_1: (4, 5) float32\n"
            "slice_2: (4, 3) float32\n"
            "to: (4, 6) float16\n"
            "where: (4, 6) float32\n");
}

TEST(TorchGraph, NumbersNamesAsFxDoes) {
  Builder b;
  const Id x = b.input("x", {f32, {2}});
  const auto name = [&](Id id) { return b.node(id).name; };
  EXPECT_EQ(name(b.call("mul", {x, x})), "mul");
  EXPECT_EQ(name(b.call("mul", {x, x})), "mul_1");
  EXPECT_EQ(name(b.call("mul", {x, x})), "mul_2");
  EXPECT_EQ(name(b.call("pow", {x, x})), "pow_1");
  EXPECT_EQ(name(b.call("pow", {x, x})), "pow_2");
  EXPECT_EQ(name(b.call("abs", {x})), "abs_1");
  EXPECT_EQ(name(b.call("neg", {x}, {}, "mul_2")), "mul_3");
  EXPECT_EQ(name(b.call("neg", {x}, {}, "h_7")), "h_7");
  EXPECT_EQ(name(b.call("neg", {x}, {}, "h_7")), "h_1");
  EXPECT_EQ(name(b.call("neg", {x}, {}, "max")), "max_1");
  EXPECT_EQ(name(b.input("x", {f32, {2}})), "x_1");
  EXPECT_EQ(name(b.input("input", {f32, {2}})), "input");
}

TEST(TorchGraph, MakesEveryNameAnIdentifierThatNobodyReserves) {
  Builder b;
  for (const char* given :
       {"a.b-c", "3x",   "",       "kernel", "float4", "exp", "get_global_id", "__x",      "____",   "é",
        "for",   "load", "vload4", "min",    "class",  "_x",  "TreeHalve",     "__global", "cl_mem", "\n"}) {
    const std::string name = b.node(b.input(given, {f32, {2}})).name;
    EXPECT_TRUE(is_name(name)) << given << " → " << name;
    EXPECT_FALSE(is_reserved(name)) << given << " → " << name;
  }
  EXPECT_EQ(b.node(b.input("p.weight", {f32, {2}})).name, "p_weight");
  EXPECT_EQ(b.node(b.input("kernel", {f32, {2}})).name, "kernel_2");
  EXPECT_EQ(b.node(b.input("get_x", {f32, {2}})).name, "_get_x");
}

TEST(TorchGraph, FinishDropsWhatIsDeadAndKeepsInputs) {
  Builder b;
  const Id unused = b.input("unused", {f32, {2}});
  const Id dead = b.parameter("dead", {f32, {2}}), live = b.parameter("live", {f32, {2}});
  b.call("mul", {dead, b.scalar(2, f32)});
  b.call("neg", {unused});
  const Id used = b.call("neg", {b.call("exp", {live})});
  const Graph graph = b.finish({used, used});
  EXPECT_EQ(b.size(), 0U);
  ASSERT_EQ(graph.nodes.size(), 4U);
  EXPECT_EQ(graph.nodes[0].name, "unused");
  EXPECT_EQ(graph.nodes[1].name, "live");
  EXPECT_EQ(graph.nodes[2].args, std::vector<Id>{1});
  EXPECT_EQ(graph.nodes[3].args, std::vector<Id>{2});
  EXPECT_EQ(graph.outputs, (std::vector<Id>{3, 3}));
}

std::string message(const Shape& shape) {
  Builder b;
  try {
    b.input("x", {f32, shape});
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(TorchGraph, RefusesExtentsThatNoKernelHas) {
  EXPECT_EQ(message({2, 0}), "");
  EXPECT_EQ(message({-1}), "x: expected extents of at least 0, found (-1,)");
  EXPECT_EQ(message({1 << 20, 1 << 20}), "");
  EXPECT_EQ(message({1 << 20, 1 << 20, 2}), "x: expected at most 2^40 elements, found (1048576, 1048576, 2)");
  EXPECT_EQ(message({std::int64_t{1} << 62, std::int64_t{1} << 62}),
            "x: expected at most 2^40 elements, found (4611686018427387904, 4611686018427387904)");
  EXPECT_EQ(message(Shape(8, 1)), "");
  EXPECT_EQ(message(Shape(9, 1)), "x: expected at most 8 dimensions, found 9");
}

}  // namespace
}  // namespace deplo::ir::torch::torch_graph_test
