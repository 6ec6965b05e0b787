// Tests that the fused kernels compute what the Torch graph computes, and which merges the guard refuses.
#include "rules/fusion/fuse.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "drawn_seeds.h"
#include "ir/torch/expression/expression.h"
#include "ir/torch/model.h"
#include "rules/decompose/decompose.h"
#include "rules/fusion/random_graph.h"
#include "rules/fusion/run_module.h"
#include "rules/options.h"

namespace deplo::rules::fuse_test {
namespace {

ir::Module fused(std::string_view code, const FuseOptions& options = {}) {
  return fuse(compose(decompose(ir::torch::parse_expression(code))), options);
}

// Describes the fault of the shortest prefix of the failing graph that fails.
std::string shrink(std::uint64_t seed, int steps, const FuseOptions& options) {
  for (int n = 1; n <= steps; ++n)
    if (const std::string fault = fused_difference(random_graph(seed, n), seed, options); !fault.empty())
      return fmt::format("seed {}, {} of {} steps: {}", seed, n, steps, fault);
  return fmt::format("seed {}: fails with {} steps only in one run", seed, steps);
}

TEST(Fuse, RandomGraphsMeanTheSame) {
  const std::uint64_t cases = std::max<std::uint64_t>(test_options().cases / 4, 50);
  for (std::uint64_t i = 0; i < cases; ++i) {
    const std::uint64_t seed = first_seed(test_options().seed) + i;
    const int steps = 1 + static_cast<int>(seed % 12);
    for (const char* attention : {"split", "fused"}) {
      const FuseOptions options{.fixed = {{"attention", attention}}};
      ASSERT_EQ(fused_difference(random_graph(seed, steps), seed, options), "") << shrink(seed, steps, options);
    }
  }
}

TEST(Fuse, BlocksMeanTheSame) {
  ir::torch::Model model{
      .name = "small", .hidden = 64, .ffn = 96, .heads = 4, .kv_heads = 2, .head_dim = 16, .layers = 1};
  for (const std::int64_t seq : {1, 7, 33})
    for (const bool bias : {false, true})
      for (const bool norm : {false, true}) {
        model.qkv_bias = bias, model.qk_norm = norm;
        for (const char* attention : {"split", "fused"})
          EXPECT_EQ(fused_difference(ir::torch::build_block(model, 0, seq), 1, {.fixed = {{"attention", attention}}}),
                    "")
              << seq << bias << norm << attention;
      }
}

TEST(Fuse, BlocksAreAtMostSixteenKernels) {
  for (const char* name : {"tinyllama-1.1b", "qwen2.5-7b", "qwen3-embedding-0.6b"})
    for (const std::int64_t seq : {1, 32, 128, 512}) {
      const ir::Module block = fuse(compose(decompose(ir::torch::build_block(ir::torch::load_model(name), 0, seq))));
      EXPECT_LE(block.kernels.size(), 16) << name << " " << seq;
      for (const ir::Program& kernel : block.kernels) EXPECT_EQ(ir::verify(kernel), "") << ir::print(kernel);
    }
}

TEST(Fuse, IsDeterministic) {
  for (const std::uint64_t seed : drawn_seeds(20)) {
    const auto graph = compose(decompose(random_graph(seed, 10)));
    EXPECT_EQ(ir::print(fuse(graph)), ir::print(fuse(graph)));
  }
}

struct Count {
  const char* what;
  std::string code;
  std::size_t kernels;
};

// Returns code for a matmul with packed weights: an integer holds eight columns of 4 bits, and each column has a scale.
std::string packed_linear(int rows) {
  return fmt::format(
      "torch.randn({},32)@((((torch.randint(-2147483648,2147483647,(32,6)).unsqueeze(2)>>torch.arange(0,32,4))&15)"
      ".reshape(32,48)-8)*torch.randn(48))",
      rows);
}

// One line per case: what is merged or not, and why.
TEST(Fuse, KernelCounts) {
  const Count counts[] = {
      {"a chain", "x=torch.randn(8,9)\ntorch.tanh(torch.exp(x)*2+1)", 1},
      {"softmax: three sweeps", "F.softmax(torch.randn(4,8),dim=-1)", 1},
      {"layer norm: three sweeps", "nn.LayerNorm(33)(torch.randn(7,33))", 1},
      {"group norm: a row is scaled as channels", "F.relu(nn.GroupNorm(3,12)(torch.randn(2,12,5)))", 1},
      {"instance norm: a row is an image", "nn.InstanceNorm2d(4)(torch.randn(2,4,5,7))/2", 1},
      {"the sum of a row is repeated, not reshaped", "torch.randn(6,5).sum(1)+torch.randn(1,4,1)", 2},
      {"a norm in another order is a copy", "F.layer_norm(torch.randn(2,9,5),(5,)).transpose(1,2)", 2},
      {"the sum of a column stands in the way of its rows", "x=torch.randn(64,65)\nx-x.sum(0)", 2},
      {"a matmul and its epilogue", "F.gelu(torch.randn(8,9)@torch.randn(9,10)+torch.randn(10))", 1},
      {"a computed operand of a matmul, however cheap", "F.relu(torch.randn(8,9))@torch.randn(9,10)", 2},
      {"silu(g) * u into a matmul", "(F.silu(torch.randn(8,9))*torch.randn(8,9))@torch.randn(9,10)", 2},
      {"a transposed operand is read, not computed", "torch.randn(9,8).T@torch.randn(9,10)", 1},
      {"a vector that an epilogue computes", "torch.randn(8,9)@torch.randn(9,10)*(torch.randn(10)+1)", 1},
      {"two matmuls in a row", "torch.randn(8,9)@torch.randn(9,10)@torch.randn(10,11)", 2},
      {"two matmuls side by side", "x=torch.randn(8,9)\n(x@torch.randn(9,10))*(x@torch.randn(9,10))", 2},
      {"norm, then matmul: its columns would be serial", "nn.RMSNorm(33)(torch.randn(7,33))@torch.randn(33,65)", 2},
      {"attention", "q=torch.randn(2,7,8)\nF.scaled_dot_product_attention(q,q,q,is_causal=True)", 1},
      {"attention in which a query sees no key",
       "q=torch.randn(2,7,8)\nF.scaled_dot_product_attention(q,q,q,attn_mask=(torch.arange(7)>2)[:,None])", 1},
      {"a cheap producer of two outputs is computed in each",
       "x=torch.randn(8,9)\ny=F.relu(x)\n(torch.exp(y).sum(0),y.sum(1))", 2},
      {"an output is written, whoever else reads it", "x=torch.randn(8,9)\ny=x@x.T\n(y,torch.exp(y))", 2},
      {"a transpose is a way of reading", "x=torch.randn(8,9)\ntorch.exp(x.T)", 1},
      {"nothing but a transpose is a copy", "torch.randn(8,9).T", 1},
      {"an input that is an output", "x=torch.randn(3)\n(x,x+1)", 1},
      {"no input at all", "torch.arange(8)*2", 1},
      {"a gather computes what it gathers", "w=torch.exp(torch.randn(9,5))\nF.embedding(torch.randint(0,9,(4,)),w)", 1},
      {"a gather of a gather", "w=torch.randn(9,5)+1\nw[torch.randint(0,9,(4,3))][:,torch.randint(0,3,(2,))]*2", 1},
      {"a gather from a range", "torch.arange(9)[torch.randint(0,9,(4,))]//2", 1},
      {"a gather from sums", "w=torch.randn(9,5,3).sum(-1)\nw[torch.randint(0,9,(4,))]", 2},
      {"a batch of matmuls with gathered rows and weights",
       "x=torch.randn(7,8)\nw=torch.randn(3,8,9)\n"
       "x[torch.randint(0,7,(20,))].view(5,4,8)@w[torch.randint(0,3,(5,))]",
       1},
      {"few tokens, each with a weight of its own",
       "x=torch.randn(2,8)\nw=torch.randn(3,8,9)\n"
       "torch.bmm(x[:,None].expand(2,2,8).reshape(4,1,8),w[torch.randint(0,3,(4,))])",
       1},
      {"topk: ranks; indices and values", "torch.topk(torch.randn(7,9),2)", 2},
      {"a scan", "torch.cumsum(torch.randn(7,60),-1)", 1},
      {"and so along another dimension", "torch.cumsum(torch.randn(7,6,5),0)", 1},
      {"with what comes before it and after it",
       "x=torch.randn(5,61)\nn=torch.rand(5)\ntorch.cumsum(x*(x>0),1)/(n[:,None]+1)-x", 1},
      {"along another dimension, too", "x=torch.randn(5,7)\nn=torch.rand(5)\ntorch.cumsum(x*2,0)/(n[:,None]+1)-x", 1},
      {"of what comes before each place",
       "x=torch.randn(5,61)\ntorch.cumsum(torch.cat((torch.zeros(5,1),x),1)[:,:-1],1)", 1},
      {"from the last to the first", "torch.cumsum(torch.randn(5,61).flip(1),1).flip(1)", 1},
      {"a scan of a scan", "torch.cumsum(torch.cumprod(torch.rand(5,61),1),1)", 1},
      {"a scan of a scan along another dimension", "torch.cumsum(torch.cumsum(torch.randn(5,7),0),1)", 2},
      {"extremes and their places", "torch.cummax(torch.randn(5,61),1)", 1},
      {"a sum of a scan is a sweep of its own", "(torch.cumsum(torch.randn(5,61),1)**2).sum(1)", 2},
      {"a scan of sums, too", "torch.cumsum(torch.softmax(torch.randn(5,61),1),1)", 2},
      {"each row scanned once", "(torch.cumsum(torch.randn(5,7),1)[:,:,None]*torch.randn(1,1,6))", 2},
      {"neighbours in a scan are read from memory", "c=torch.cumsum(torch.randn(5,61),1)\nc[:,1:]-c[:,:-1]", 2},
      {"a sort of 256: ranks; indices and values", "torch.sort(torch.randn(7,256))", 2},
      {"a longer one: ranks; indices; a kernel for each merge", "torch.sort(torch.randn(7,1000))", 4},
      {"no merge is part of the next one", "torch.topk(torch.randn(2,5000),1300)", 7},
      {"the first few of many: the best groups, and then the best of their elements",
       "torch.topk(torch.randn(2,5000),7)", 12},
      {"rows are looked up where they are normalised",
       "F.layer_norm(torch.randn(50,64)[torch.randint(0,50,(9,))],(64,))", 1},
      {"elements are looked up once, not for each pair",
       "x=torch.randn(500)[torch.randint(0,500,(60,))]\n(x[:,None]<x).sum(1)", 2},
      {"rows are looked up for each head", "torch.randn(6,7,16)*torch.randn(50,16)[torch.randint(0,50,(7,))]", 1},
      {"a bias that many rows share is looked up once",
       "torch.randn(40,7,9)*2+torch.randn(30,1)[torch.randint(0,30,(7,9)),0]", 2},
      {"a search is one kernel", "torch.searchsorted(torch.arange(1000.0)*2,torch.randn(9))", 1},
      {"index_add is a sum over the rows that name the place",
       "torch.randn(5,9).index_add(0,torch.randint(0,5,(20,)),torch.randn(20,9))", 1},
      {"what is no number is left to the kernel", "x=torch.zeros(3)\nx/x", 1},
      {"a scalar", "torch.randn(8).sum()", 1},
      {"weights of 4 bits are unpacked where few rows are multiplied with them", packed_linear(16), 1},
      {"and so with an epilogue", "F.silu(" + packed_linear(3) + ")", 1},
      {"for many rows once", packed_linear(17), 2},
  };
  for (const Count& c : counts) {
    const ir::Module module = fused(c.code);
    EXPECT_EQ(module.kernels.size(), c.kernels) << c.what << "\n" << ir::print(module);
    EXPECT_EQ(fused_difference(ir::torch::parse_expression(c.code), 3), "") << c.what;
  }
}

// On CPUs, the channels are the columns if neighbouring positions read elements 3 or more apart. Such positions would
// not be lanes of a vector, in whatever order their dimensions lie.
TEST(Fuse, ColumnsOfAConvolutionAreItsChannelsWherePlacesLieApart) {
  const FuseOptions on_cpu{.target = load_target("opencl-cpu")};
  for (const int padding : {0, 1})
    for (const int stride : {1, 2, 3, 5}) {
      const std::string code =
          fmt::format("F.conv1d(torch.randn(2,4,61),torch.randn(8,4,3),stride={},padding={})", stride, padding);
      const std::string text = ir::print(fused(code, on_cpu));
      const bool channels = text.find("  for a1 in 0..8: # free\n    for a2 in 0..12: # reduce\n") != std::string::npos;
      EXPECT_EQ(channels, stride > 2) << text;
      EXPECT_EQ(fused_difference(ir::torch::parse_expression(code), 3, on_cpu), "") << code;
    }
}

// If units would be idle, a reduction is split into four parts of at least 2^14 elements.
TEST(Fuse, LongReductionsOfFewRowsAreInParts) {
  const Count counts[] = {
      {"a sum of everything", "torch.randn(65536).sum()", 2},
      {"few rows", "torch.amax(torch.randn(3,98304),-1)", 2},
      {"along columns", "torch.randn(65536,3).sum(0)", 2},
      {"a product of two vectors", "torch.dot(torch.randn(65536),torch.randn(65536))", 2},
      {"one row is scaled in a kernel of its own", "torch.softmax(torch.randn(1,65536),-1)", 4},
      {"several rows are swept by their blocks", "torch.softmax(torch.randn(3,65536),-1)", 1},
      {"a matmul has schedules that split it", "torch.randn(2,65536)@torch.randn(65536,2)", 1},
      {"too short for four parts", "torch.randn(65532).sum()", 1},
      {"no parts of equal length", "torch.randn(65537).sum()", 1},
  };
  const FuseOptions on_gpu{.target = load_target("sm_90")};
  for (const Count& c : counts) {
    const ir::Module module = fused(c.code, on_gpu);
    EXPECT_EQ(module.kernels.size(), c.kernels) << c.what << "\n" << ir::print(module);
    EXPECT_EQ(fused_difference(ir::torch::parse_expression(c.code), 3, on_gpu), "") << c.what;
  }
  const std::string text = ir::print(fused(counts[0].code, on_gpu));
  EXPECT_NE(text.find("for a0 in 0..4: # free\n  for a1 in 0..16384: # reduce\n"), std::string::npos) << text;
}

// On a CPU, a part has at least 4096 elements, and at most as many as keep the bound on rounding errors small.
TEST(Fuse, LongScansOfFewLinesAreInParts) {
  const Count counts[] = {
      {"one line: totals, their scan, and the parts", "torch.cumsum(torch.randn(16384),0)", 3},
      {"few columns", "torch.cumprod(torch.rand(16384,2)+0.5,0)", 3},
      {"with what comes after it", "x=torch.randn(2,16384)\ntorch.cumsum(x*2,1)-x", 3},
      {"reversed: a copy turns the result", "torch.cumsum(torch.randn(16384).flip(0),0).flip(0)", 4},
      {"extremes", "torch.cummax(torch.randn(2,8192),1)[0]", 3},
      {"no parts of equal length: a copy drops the end", "torch.cumsum(torch.randn(16411),0)", 4},
      {"integers", "torch.cumsum(torch.randint(-9,9,(3,16411)),1)", 4},
      {"as many lines as keep a CPU busy", "torch.cumsum(torch.randn(16,8192),1)", 1},
      {"too short for two parts", "torch.cumsum(torch.randn(8190),0)", 1},
      {"many lines whose chains of additions are long", "torch.cumsum(torch.randn(16,32770),1)", 3},
  };
  const FuseOptions on_cpu{.target = load_target("opencl-cpu")};
  for (const Count& c : counts) {
    const ir::Module module = fused(c.code, on_cpu);
    EXPECT_EQ(module.kernels.size(), c.kernels) << c.what << "\n" << ir::print(module);
    EXPECT_EQ(fused_difference(ir::torch::parse_expression(c.code), 3, on_cpu), "") << c.what;
  }
  for (const int length : {64, 65, 97, 300, 1009, 4099})  // on a GPU the totals are scanned in parts, too
    for (const char* op : {"cumsum", "cumprod", "cummin"}) {
      const std::string code =
          fmt::format("torch.{}(torch.rand(2,{})+0.1,1){}", op, length, op == std::string("cummin") ? "[1]" : "");
      EXPECT_EQ(fused_difference(ir::torch::parse_expression(code), 3, {.target = load_target("sm_90")}), "") << code;
    }
}

TEST(Fuse, WithoutTheGuardMatmulsNest) {
  const char* mlp = "x=torch.randn(8,64)\nnn.Linear(256,64,bias=False)(nn.Linear(64,256,bias=False)(x))";
  EXPECT_EQ(fused(mlp).kernels.size(), 2);
  EXPECT_EQ(fused(mlp, {.guard = false}).kernels.size(), 1);
}

TEST(Fuse, WithoutMergingOneKernelPerNode) {
  EXPECT_EQ(fused("torch.exp(torch.neg(torch.randn(16))[5:8])", {.merge = false}).kernels.size(), 3);
}

TEST(Fuse, WeightsAreStoredAsTheMatmulReadsThem) {
  const ir::Module module = fused("nn.Linear(5,3,bias=False)(torch.randn(2,5))");
  const auto weight = std::find_if(module.tensors.begin(), module.tensors.end(),
                                   [](const ir::Tensor& t) { return t.kind == ir::Tensor::Kind::parameter; });
  ASSERT_NE(weight, module.tensors.end());
  EXPECT_EQ(weight->type.shape, (ir::Shape{5, 3}));
  EXPECT_EQ(weight->permutation, (std::vector<int>{1, 0}));
  EXPECT_THAT(ir::print(module), ::testing::HasSubstr("p_weight[a2, a1]"));
}

// An integer holds eight columns, so neighbouring columns are in the same integer or in the next one.
TEST(Fuse, WeightsThatColumnsShareAreStoredAlongThem) {
  const ir::Module module = fused(
      "w=nn.Parameter(torch.randn(32,6))\n"
      "torch.randn(3,32)@(w.unsqueeze(2)*torch.arange(8)).reshape(32,48)");
  EXPECT_NE(ir::print(module).find("load p_w[a2, (a1 / 8)]"), std::string::npos) << ir::print(module);
}

// On CPUs, windows that begin at neighbouring elements, or at every second element, are lanes of a vector. Lanes cannot
// check the padding one by one, so a copy with padding is made.
TEST(Fuse, ACopyIsPaddedForWindowsThatAreNeighbours) {
  const char* const neighbours = "F.max_pool2d(torch.randn(2,3,9,10),3,1,1)";
  const char* const every_second = "F.max_pool2d(torch.randn(2,3,9,10),3,2,1)";
  const char* const apart = "F.max_pool2d(torch.randn(2,3,9,10),3,3,1)";
  const FuseOptions cpu{.target = load_target("opencl-cpu")}, gpu{.target = load_target("sm_90")};
  EXPECT_EQ(fused(neighbours, cpu).kernels.size(), 2U);
  EXPECT_EQ(fused(every_second, cpu).kernels.size(), 2U);
  EXPECT_EQ(fused(neighbours, gpu).kernels.size(), 1U);
  EXPECT_EQ(fused(apart, cpu).kernels.size(), 1U);
  EXPECT_EQ(fused_difference(ir::torch::parse_expression(neighbours), 1, cpu), "");
  EXPECT_EQ(fused_difference(ir::torch::parse_expression(every_second), 1, cpu), "");
}

// A depthwise convolution reads planes, so its padded input consists of planes. The copy walks lines of both tensors.
TEST(Fuse, ACopyWalksTheLinesOfItsResult) {
  const char* const code = "nn.Conv2d(4, 4, 3, padding=1, groups=4, bias=False)(torch.randn(1, 4, 8, 10))";
  const FuseOptions cpu{.target = load_target("opencl-cpu")};
  EXPECT_EQ(ir::print(fused(code, cpu).kernels[0]),
            "=== loop: convolution_padded ===\n"
            "input x: f32[1, 4, 8, 10]\n"
            "output convolution_padded: f32[4, 10, 12]\n"
            "for a0 in 0..4: # free\n"
            "  for a1 in 0..10: # free\n"
            "    for a2 in 0..12: # free\n"
            "      in0 = load x[0, a0, (max(min(a1, 8), 1) - 1), (max(min(a2, 10), 1) - 1)]\n"
            "      v0:bool = index (((0 < a1) && (a1 < 9)) && ((0 < a2) && (a2 < 11)))\n"
            "      v1 = select(v0, in0, 0)\n"
            "      convolution_padded[a0, a1, a2] = v1\n");
  EXPECT_EQ(fused_difference(ir::torch::parse_expression(code), 1, cpu), "");
}

// If a line has at most half a vector, the channels are the columns, and the kernel writes them one by one.
TEST(Fuse, ChannelsOfShortLinesAreColumns) {
  const auto places = [](std::int64_t side, std::int64_t kernel) {
    const std::string code =
        fmt::format("nn.Conv2d(32, 32, {0}, padding={1}, groups=32, bias=False)(torch.randn(1, 32, {2}, {2}))", kernel,
                    kernel / 2, side);
    const FuseOptions cpu{.target = load_target("opencl-cpu")};
    EXPECT_EQ(fused_difference(ir::torch::parse_expression(code), 1, cpu), "");
    return ir::print(fused(code, cpu).kernels.back());
  };
  const auto channels_are_last = ::testing::HasSubstr("for a2 in 0..32: # free\n      for a3 in 0..9: # reduce");
  EXPECT_THAT(places(8, 3), channels_are_last);
  EXPECT_THAT(places(9, 3), ::testing::Not(channels_are_last));
  // With a kernel of 5 x 5, channels as columns would read too many cache lines.
  EXPECT_THAT(places(8, 5), ::testing::HasSubstr("for a0 in 0..32: # free\n"));
}

// Rows and columns become one dimension, and then the channels join it, because a group's elements are contiguous.
TEST(Fuse, TheImagesOfAGroupAreOneRow) {
  const ir::Module module = fused("nn.GroupNorm(2,4)(torch.randn(3,4,5,7))");
  ASSERT_EQ(module.kernels.size(), 1U);
  EXPECT_THAT(ir::print(module.kernels[0]), ::testing::HasSubstr("x: f32[3, 140]\n"));
}

// A kernel may view their dimensions differently, such as a batch of rows as one dimension, or extents of 1 first.
TEST(Fuse, InputsAndOutputsHaveTheShapesOfTheGraph) {
  for (const char* code :
       {"torch.bmm(torch.randn(7,33,129),torch.randn(7,129,1))", "torch.bmm(torch.randn(7,1,33),torch.randn(7,33,5))",
        "x=torch.randn(3,7,1,5)\n(x.permute(3,1,0,2).sum(0),torch.exp(x))"}) {
    const ir::torch::Graph graph = ir::torch::parse_expression(code);
    const ir::Module module = fuse(compose(decompose(graph)));
    for (std::size_t o = 0; o < graph.outputs.size(); ++o)
      EXPECT_EQ(module.find(module.outputs[o])->type, graph.nodes[static_cast<std::size_t>(graph.outputs[o])].type)
          << code;
    for (const ir::torch::Node& node : graph.nodes)
      if (node.kind == ir::torch::Node::Kind::input) {
        EXPECT_EQ(module.find(node.name)->type, node.type) << code;
      }
    EXPECT_EQ(fused_difference(graph, 1), "") << code;
  }
}

// A PyTorch file may contain NaN as a constant. The text of a kernel cannot contain it, so the kernel computes it.
TEST(Fuse, WhatIsNoNumberIsComputed) {
  ir::torch::Builder builder;
  const ir::torch::Id x = builder.input("x", {ir::DType::f32, {3, 5}});
  const ir::torch::Id nan = builder.scalar(std::nan(""), ir::DType::f32);
  const ir::torch::Id zero = builder.scalar(0, ir::DType::f32);
  const ir::torch::Id where = builder.call("where", {builder.call("lt", {x, zero}), x, nan});
  const ir::torch::Id full = builder.call("full", {}, {{"shape", ir::Shape{3, 5}}, {"value", std::nan("")}});
  EXPECT_EQ(fused_difference(builder.finish({where, full}), 1), "");
}

TEST(Fuse, NamesOfTheUserAreNotThoseOfKernels) {
  const char* code =
      "a0=torch.randn(3,4)\nv0=torch.randn(3,4)\nin0=torch.randn(4)\nacc0=a0.sum(-1,True)\na0*v0+in0+acc0";
  EXPECT_EQ(fused_difference(ir::torch::parse_expression(code), 1), "");
  EXPECT_THAT(ir::print(fused(code)), ::testing::HasSubstr("load a0_1[a0, a1]"));
}

// Inside a kernel, values are f32. They are rounded when a tensor is stored, and where the user converts them.
TEST(Fuse, HalvesAreRoundedWhereTheyAreStored) {
  const std::string text = ir::print(fused("x = torch.randn(4, dtype=torch.float16); torch.exp(x * 3) + 1"));
  EXPECT_THAT(text, ::testing::HasSubstr("input x: f16[4]"));
  EXPECT_THAT(text, ::testing::HasSubstr("output add: f16[4]"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("round_f16(")));
  EXPECT_THAT(ir::print(fused("(torch.randn(4) * 3).to(torch.bfloat16).float() + 1")),
              ::testing::HasSubstr("= round_bf16("));
}

// A maximum is rounded when it is stored as an f16. The numbers that it is compared with are rounded alike, so that each
// row contains its maximum.
TEST(Fuse, HalvesAreRoundedWhereTheyAreComparedForEquality) {
  const std::string halves = "x = torch.randn(4, dtype=torch.float16); y = torch.randn(4, dtype=torch.float16); ";
  for (const char* comparison : {"x * 3 == y", "x != y * 3"})
    EXPECT_THAT(ir::print(fused(halves + comparison)), ::testing::HasSubstr("= round_f16(")) << comparison;
  for (const char* comparison : {"x == y", "x * 3 < y"})
    EXPECT_THAT(ir::print(fused(halves + comparison)), ::testing::Not(::testing::HasSubstr("round_f16(")))
        << comparison;
  const char* code =
      "x = torch.randint(0, 9, (4, 5, 1)); y = torch.randint(0, 9, (5, 3)); "
      "values, indices = torch.max(x.half() * 0.1 + y.half(), 1); (values, indices)";
  EXPECT_EQ(fused_difference(ir::torch::parse_expression(code), 1, {}, 1e-3), "");
}

// The largest f16 is 65504. Intermediate sums may be larger, so tensors between kernels are f32.
TEST(Fuse, WhatManyHalvesAmountToIsF32) {
  for (const char* code : {"torch.randn(64, 4, dtype=torch.float16).sum((0, 1)) * 1e-3",
                           "(torch.rand(64, 64, dtype=torch.float16) * 200).mean((0, 1))",
                           "torch.nn.functional.softmax(torch.randn(4, 9, dtype=torch.bfloat16), -1)"}) {
    const ir::Module module = fused(code);
    for (const ir::Tensor& tensor : module.tensors) {
      const bool between = tensor.kind == ir::Tensor::Kind::computed && tensor.name != module.outputs.at(0);
      EXPECT_TRUE(!between || tensor.type.dtype == ir::DType::f32) << code << "\n" << tensor.name;
    }
  }
}

}  // namespace
}  // namespace deplo::rules::fuse_test
