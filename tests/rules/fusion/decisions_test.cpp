// Tests the decisions of fusion: they are forks, all options of a fork compute the same values, and a trail replays or
// is rejected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drawn_seeds.h"
#include "ir/torch/expression/expression.h"
#include "rules/decompose/decompose.h"
#include "rules/fusion/random_graph.h"
#include "rules/fusion/run_module.h"
#include "rules/options.h"

namespace deplo::rules::decisions_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ir::tensor::Graph graph_of(const std::string& code) { return compose(decompose(ir::torch::parse_expression(code))); }

constexpr const char* attention = "q=torch.randn(17,8);F.scaled_dot_product_attention(q,q,q)";

TEST(Decisions, TheHeuristicsOptionComesFirst) {
  const Fused fused = fuse(graph_of(attention), Trail{}).value();
  EXPECT_THAT(fused.forks, ElementsAre(Fork{"fusion.attention_scaled_dot_product_attention", {"fused", "split"}}));
  EXPECT_EQ(print(fused.trail), "fusion.attention_scaled_dot_product_attention=fused");
  EXPECT_EQ(fused.module, fuse(graph_of(attention)));

  const FuseOptions on_gpu{.target = load_target("sm_90")};
  const ir::tensor::Graph sum = graph_of("torch.randn(65536).sum()");
  EXPECT_EQ(print(fuse(sum, Trail{}, on_gpu).value().trail), "fusion.sum_parts_sum_1_reduce=4");
  EXPECT_EQ(fuse(sum, parse_trail("fusion.sum_parts_sum_1_reduce=1"), on_gpu).value().module.kernels.size(), 1U);

  const FuseOptions on_cpu{.target = load_target("opencl-cpu")};
  const ir::tensor::Graph scan = graph_of("torch.cumsum(torch.randn(32768),0)");
  EXPECT_THAT(fuse(scan, Trail{}, on_cpu).value().forks, ElementsAre(Fork{"fusion.scan_parts_cumsum", {8, 1}}));
  EXPECT_EQ(fuse(scan, Trail{}, on_cpu).value().module.kernels.size(), 3U);
  EXPECT_EQ(fuse(scan, parse_trail("fusion.scan_parts_cumsum=1"), on_cpu).value().module.kernels.size(), 1U);

  const Fused split =
      fuse(graph_of(attention), Trail{{"fusion.attention_scaled_dot_product_attention", "split"}}).value();
  EXPECT_EQ(split.module, fuse(graph_of(attention), FuseOptions{.fixed = {{"attention", "split"}}}));
  EXPECT_EQ(split.forks, fused.forks);
}

TEST(Decisions, KeysInPartsAreOnesOfATargetThatIsNotBusy) {
  const std::string decode = "q=torch.randn(1,16);k=torch.randn(32768,16);F.scaled_dot_product_attention(q,k,k)";
  const FuseOptions options{.target = load_target("opencl-cpu")};
  const Fused fused = fuse(graph_of(decode), Trail{}, options).value();
  ASSERT_EQ(fused.forks.size(), 2U);
  EXPECT_EQ(fused.forks[1], (Fork{"fusion.key_parts_scaled_dot_product_attention", {2, 1, 4}}));
  const Fused one = fuse(graph_of(decode), Trail{{fused.forks[1].knob, std::int64_t{1}}}, options).value();
  EXPECT_EQ(one.module.kernels.size(), 1U);
}

// By default the guard keeps silu(x) * x out of the matmul, because the matmul would compute it again for each column.
TEST(Decisions, AMergeThatRepeatsWorkIsOne) {
  const Fused fused = fuse(graph_of("x=torch.randn(16,16);w=torch.randn(16,16);(F.silu(x)*x)@w"), Trail{}).value();
  EXPECT_THAT(fused.forks, ElementsAre(Fork{"fusion.merge_mul", {0, 1}}));
  const Fused merged = fuse(graph_of("x=torch.randn(16,16);w=torch.randn(16,16);(F.silu(x)*x)@w"),
                            Trail{{"fusion.merge_mul", std::int64_t{1}}})
                           .value();
  EXPECT_EQ(fused.module.kernels.size(), 2U);
  EXPECT_EQ(merged.module.kernels.size(), 1U);
}

// The second product reads the first one transposed.
TEST(Decisions, TheLayoutOfATensorBetweenKernelsIsOne) {
  const ir::tensor::Graph graph = graph_of("x=torch.randn(5,8)@torch.randn(8,16);x.T@torch.randn(5,3)");
  const Fused fused = fuse(graph, Trail{}).value();
  EXPECT_THAT(fused.forks, ElementsAre(Fork{"fusion.layout_matmul", {"readers", "plain"}}));
  const Fused plain = fuse(graph, Trail{{"fusion.layout_matmul", "plain"}}).value();
  EXPECT_EQ(fused.module.find("matmul")->type.shape, (ir::Shape{16, 5}));
  EXPECT_EQ(plain.module.find("matmul")->type.shape, (ir::Shape{5, 16}));
}

// On CPUs, the copy of A.T in A.T @ B is a decision if B has many columns and the sums are long. Computed tensors and
// parameters need no copy: they are stored as their reader wants them.
TEST(Decisions, TheCopyOfTransposedRowsIsOne) {
  const FuseOptions cpu{.target = load_target("opencl-cpu-avx2")}, gpu{.target = load_target("sm_90")};
  const std::string long_sums = "torch.randn(512,64).T @ torch.randn(512,512)";
  const Fused fused = fuse(graph_of(long_sums), Trail{}, cpu).value();
  ASSERT_THAT(fused.forks, ElementsAre(Fork{"fusion.merge_transpose", {0, 1}}));
  ASSERT_EQ(fused.module.kernels.size(), 2U);
  EXPECT_THAT(print(fused.module.kernels[1]), HasSubstr("load transpose[a0, a2]"));
  const Fused merged = fuse(graph_of(long_sums), Trail{{"fusion.merge_transpose", std::int64_t{1}}}, cpu).value();
  ASSERT_EQ(merged.module.kernels.size(), 1U);
  EXPECT_THAT(print(merged.module.kernels[0]), HasSubstr("load x[a2, a0]"));
  EXPECT_EQ(fuse(graph_of(long_sums), gpu).kernels.size(), 1U);
  for (const char* other :
       {"torch.randn(511,64).T @ torch.randn(511,512)", "torch.randn(512,64).T @ torch.randn(512,511)",
        "torch.randn(64,512) @ torch.randn(512,512).T", "nn.Linear(512, 512)(torch.randn(8,512))"})
    EXPECT_EQ(fuse(graph_of(other), cpu).kernels.size(), 1U) << other;
}

TEST(Decisions, WhatIsFixedIsNoFork) {
  EXPECT_TRUE(fuse(graph_of(attention), Trail{}, {.fixed = {{"attention", "fused"}}}).value().forks.empty());
}

TEST(Decisions, ATrailThatDoesNotFitSaysWhy) {
  const auto message = [](const Trail& trail) {
    const auto fused = fuse(graph_of(attention), trail);
    return fused.ok() ? "" : fused.failure().message;
  };
  EXPECT_EQ(message({{"fusion.attention_y", "split"}}),
            "graph: fusion.attention_y=split is left over: this graph has no such decision");
  EXPECT_EQ(message({{"fusion.attention_scaled_dot_product_attention", std::int64_t{3}}}),
            "graph: fusion.attention_scaled_dot_product_attention=3 is not legal here; expected one of fused, split");
}

TEST(Decisions, EveryOptionOfRandomGraphsMeansTheSameAndReplays) {
  std::size_t options = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::uint64_t seed = first_seed(test_options().seed) + i;
    SCOPED_TRACE(seed);
    const ir::torch::Graph graph = random_graph(seed, 3 + static_cast<int>(seed % 10));
    const ir::tensor::Graph tensors = compose(decompose(graph));
    const Fused heuristic = fuse(tensors, Trail{}).value();
    for (const Fork& fork : heuristic.forks)
      for (const deplo::Value& option : fork.options) {
        const Trail changes{{fork.knob, option}};
        EXPECT_EQ(fused_difference(graph, seed, {}, 1e-6, changes), "") << print(changes);
        const Fused fused = fuse(tensors, changes).value();
        EXPECT_EQ(fuse(tensors, fused.trail).value().module, fused.module) << print(fused.trail);
        ++options;
      }
  }
  EXPECT_GT(options, 20U) << "the graphs have decisions";
}

}  // namespace
}  // namespace deplo::rules::decisions_test
