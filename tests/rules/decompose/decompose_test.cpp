// Tests that the decomposition of every Torch IR operation computes the same values, also for awkward shapes, and
// checks the text of some decompositions.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "ir/torch/expression/expression.h"
#include "ir/torch/model.h"
#include "ir/torch/operations/operation.h"
#include "ir/torch/operations/ops.h"
#include "rules/decompose/decompose.h"
#include "rules/decompose/decompose_case.h"
#include "torch_values.h"

namespace deplo::testing {
namespace {

TEST(Decompose, MeansWhatTheOperationMeans) {
  Rng rng(1);
  for (const Case& c : all_cases()) {
    const ir::torch::Graph graph = graph_of(c);
    EXPECT_EQ(check_meaning(graph, sources_of(c, rng)), "") << describe(c);
  }
}

// Also checks PyTorch's recorded cases, which cover every operation.
TEST(Decompose, MeansWhatTheOperationMeansInTheCasesOfPyTorch) {
  std::set<std::string> covered;
  for (const tests::TorchCase& c : tests::torch_cases()) {
    const ir::torch::Graph graph = ir::torch::parse_expression(c.code);
    EXPECT_EQ(check_meaning(graph, tests::sources(graph, c.inputs)), "") << c.code;
    for (const ir::torch::Node& node : graph.nodes) covered.insert(node.op);
  }
  for (const ir::torch::Operation& operation : ir::torch::operations())
    EXPECT_TRUE(covered.contains(std::string(operation.name))) << operation.name;
}

bool has_required_attributes(const ir::torch::Operation& operation) {
  return std::ranges::any_of(operation.attributes, [](const ir::torch::AttributeSpec& spec) {
    return std::holds_alternative<ir::torch::Required>(spec.fallback);
  });
}

// Checks operations that need only one or two tensors, with the extents 1, 7 and 33 and every dtype.
TEST(Decompose, MeansWhatTheOperationMeansAtAwkwardShapes) {
  Rng rng(2);
  const std::vector<std::vector<Arg>> lists = {{f32({7, 33})},
                                               {f32({1})},
                                               {f32({})},
                                               {f16({1, 7})},
                                               {i32({7})},
                                               {boolean({7})},
                                               {number(2)},
                                               {f32({7, 1}, 0.5, 2), f32({33}, 0.5, 2)},
                                               {f32({}), f32({7})},
                                               {f32({7}), number(0.5)},
                                               {i32({7}, 1, 3), i32({1}, 1, 3)},
                                               {i32({7}, 1, 3), number(0.5)},
                                               {boolean({7}), boolean({7})}};
  int checked = 0;
  for (const ir::torch::Operation& operation : ir::torch::operations()) {
    if (has_required_attributes(operation)) continue;
    for (const std::vector<Arg>& args : lists) {
      const Case c{std::string(operation.name), args};
      std::optional<ir::torch::Graph> graph;
      try {
        graph = graph_of(c);
      } catch (const Error&) {  // the operation takes another number of arguments, or another dtype
        continue;
      }
      EXPECT_EQ(check_meaning(*graph, sources_of(c, rng)), "") << describe(c);
      ++checked;
    }
  }
  EXPECT_GE(checked, 200);
}

std::string composed_text(const ir::torch::Graph& graph) {
  return ir::tensor::print(rules::compose(rules::decompose(graph)));
}

// The listings of "A Principled ML Compiler Stack", part 1, except for names. A Scalar can be an argument without an
// index map.
TEST(Decompose, LinearReadsAsInTheSeed) {
  ir::torch::Builder b;
  const auto x = b.input("input", {ir::DType::f32, {4, 3}}), w = b.parameter("p_weight", {ir::DType::f32, {2, 3}});
  EXPECT_EQ(composed_text(b.finish({b.call("linear", {x, w})})),
            "# Graph: 7 nodes, 1 inputs, 1 outputs\n"
            "inputs:\n"
            "input: (4, 3) float32\n"
            "constants:\n"
            "p_weight: (2, 3) float32\n"
            "linear_a_bc = input[i, j] -> (4, 3, 2) float32\n"
            "linear_b_bc = p_weight[k, j] -> (4, 3, 2) float32\n"
            "linear_ew = multiply(linear_a_bc, linear_b_bc) -> (4, 3, 2) float32\n"
            "linear_reduce = sum(linear_ew, axis=-2) -> (4, 1, 2) float32\n"
            "linear = linear_reduce[i, na, j] -> (4, 2) float32\n"
            "outputs:\n"
            "linear: (4, 2) float32\n");
}

TEST(Decompose, RmsNormReadsAsInTheSeed) {
  ir::torch::Builder b;
  const auto x = b.input("x", {ir::DType::f32, {1, 32, 2048}}), w = b.parameter("p_weight", {ir::DType::f32, {2048}});
  const auto norm = b.call("rms_norm", {x, w}, {{"dims", std::int64_t{1}}, {"eps", 1e-6}});
  EXPECT_EQ(composed_text(b.finish({norm})),
            "# Graph: 13 nodes, 1 inputs, 1 outputs\n"
            "inputs:\n"
            "x: (1, 32, 2048) float32\n"
            "constants:\n"
            "p_weight: (2048,) float32\n"
            "rms_norm_mean_count: () float32 = 2048.0\n"
            "rms_norm_eps: () float32 = 1e-06\n"
            "rms_norm_sq = multiply(x, x) -> (1, 32, 2048) float32\n"
            "rms_norm_mean_sum = sum(rms_norm_sq, axis=-1) -> (1, 32, 1) float32\n"
            "rms_norm_mean = divide(rms_norm_mean_sum, rms_norm_mean_count) -> (1, 32, 1) float32\n"
            "rms_norm_add_eps = add(rms_norm_mean, rms_norm_eps) -> (1, 32, 1) float32\n"
            "rms_norm_rsq = rsqrt(rms_norm_add_eps) -> (1, 32, 1) float32\n"
            "rms_norm_rsq_bc = rms_norm_rsq[na, j, na] -> (1, 32, 2048) float32\n"
            "rms_norm_norm = multiply(x, rms_norm_rsq_bc) -> (1, 32, 2048) float32\n"
            "p_weight_bc = p_weight[k] -> (1, 32, 2048) float32\n"
            "rms_norm = multiply(rms_norm_norm, p_weight_bc) -> (1, 32, 2048) float32\n"
            "outputs:\n"
            "rms_norm: (1, 32, 2048) float32\n");
}

// The computation of configs/kernels/gelu.loop: seven operations on constants and one input, then the gate.
TEST(Decompose, GeluOfTheTanhFormIsTheKernelOfTheRepository) {
  ir::torch::Builder b;
  const auto x = b.input("x", {ir::DType::f32, {8, 4}});
  const auto gelu = b.call("gelu", {x}, {{"approximate", std::string("tanh")}});
  const std::string text = composed_text(b.finish({gelu}));
  EXPECT_EQ(text.substr(text.find("gelu_cube = ")),
            "gelu_cube = multiply(x, gelu_coefficient) -> (8, 4) float32\n"
            "gelu_cube_1 = multiply(gelu_cube, x) -> (8, 4) float32\n"
            "gelu_cube_2 = multiply(gelu_cube_1, x) -> (8, 4) float32\n"
            "gelu_inner = add(x, gelu_cube_2) -> (8, 4) float32\n"
            "gelu_scaled = multiply(gelu_inner, gelu_root) -> (8, 4) float32\n"
            "gelu_tanh = tanh(gelu_scaled) -> (8, 4) float32\n"
            "gelu_add = add(gelu_tanh, gelu_one) -> (8, 4) float32\n"
            "gelu_halved = multiply(x, gelu_half) -> (8, 4) float32\n"
            "gelu = multiply(gelu_halved, gelu_add) -> (8, 4) float32\n"
            "outputs:\n"
            "gelu: (8, 4) float32\n");
}

TEST(Decompose, NamesThatTheGraphHasAreNotGivenAgain) {
  ir::torch::Builder b;
  const auto x = b.input("silu_sigmoid", {ir::DType::f32, {3}}), y = b.input("get", {ir::DType::f32, {3}});
  const auto silu = b.call("silu", {x}), get = b.call("silu", {y}, {}, "get");
  const ir::tensor::Graph graph = rules::decompose(b.finish({silu, get}));
  EXPECT_EQ(ir::tensor::verify(graph), "");
  EXPECT_EQ(graph.nodes[2].name, "silu_sigmoid_1");
  EXPECT_FALSE(graph.nodes[4].name.starts_with("get_")) << graph.nodes[4].name;  // a prefix of OpenCL's functions
}

TEST(Decompose, InputsAndParametersKeepNameOrderAndSource) {
  ir::torch::Builder b;
  const ir::ValueSource uniform{{ir::Fill::Draw::uniform, 0, 2}, {}};
  const auto x = b.input("x", {ir::DType::f32, {3}}, uniform);
  b.input("unread", {ir::DType::i32, {2}});
  const auto p = b.parameter("p", {ir::DType::f32, {3}}, uniform);
  const ir::tensor::Graph graph = rules::decompose(b.finish({b.call("add", {x, p})}));
  ASSERT_EQ(graph.nodes.size(), 4U);
  EXPECT_EQ(graph.nodes[0], (ir::tensor::Node{"x", {ir::DType::f32, {3}}, ir::tensor::Input{uniform}, {}}));
  EXPECT_EQ(graph.nodes[1].name, "unread");
  EXPECT_EQ(graph.nodes[2], (ir::tensor::Node{"p", {ir::DType::f32, {3}}, ir::tensor::Parameter{uniform}, {}}));
  EXPECT_EQ(graph.nodes[3].name, "add");
}

// A model's block has rms_norm, grouped-query attention, rotary embeddings and gating. The sequence lengths are 1 and a
// prime.
TEST(Decompose, BlocksOfModelsMeanTheSame) {
  for (const std::int64_t seq : {1, 7}) {
    Rng rng(static_cast<std::uint64_t>(seq));
    const ir::torch::Model tiny{"tiny", 16, 24, 4, 2, 4, 1, 10000, 1e-6, true, true};
    const ir::torch::Graph graph = ir::torch::build_block(tiny, 0, seq);
    EXPECT_EQ(check_meaning(graph, random_sources(graph, rng)), "") << "seq " << seq;
  }
}

}  // namespace
}  // namespace deplo::testing
