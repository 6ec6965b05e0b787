// Tests which ways of writing attention become one kernel, which do not and why, and that the values stay the same.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <set>

#include "core/rng.h"
#include "ir/canonical/canonical.h"
#include "ir/interpret/interpret.h"
#include "ir/torch/expression/expression.h"
#include "ir/torch/model.h"
#include "ir/torch/pt2/pt2.h"
#include "ir/walk.h"
#include "rules/cost/least_work.h"
#include "rules/decompose/decompose.h"
#include "rules/fusion/run_module.h"
#include "rules/options.h"

namespace deplo::rules::attention_test {
namespace {

using ::testing::HasSubstr;
const FuseOptions on{.fixed = {{"attention", "fused"}}}, off{.fixed = {{"attention", "split"}}};

ir::Module fused(const std::string& code, const FuseOptions& options = on) {
  return fuse(compose(decompose(ir::torch::parse_expression(code))), options);
}

int softmax_sums(const ir::Program& kernel) {
  int count = 0;
  ir::for_each(kernel.body, [&](const ir::Stmt& stmt) { count += stmt.as<ir::SoftmaxSum>() != nullptr ? 1 : 0; });
  return count;
}
int softmax_sums(const ir::Module& module) {
  int count = 0;
  for (const ir::Program& kernel : module.kernels) count += softmax_sums(kernel);
  return count;
}

struct Sizes {
  int queries, keys, width;
};
constexpr std::array sizes = {Sizes{1, 5, 16}, Sizes{7, 33, 24}, Sizes{33, 5, 16}};

// Returns code that defines q, k and v with 4 heads, K and V with 2 heads, a float mask m, a condition c, and a mask of
// whole rows.
std::string inputs(const Sizes& s) {
  return fmt::format(
      "Q=torch.randn(2,{0},{2});q=torch.randn(2,4,{0},{2});m=torch.randn({0},{1})\n"
      "k=torch.randn(2,4,{1},{2});v=torch.randn(2,4,{1},{2});K=torch.randn(2,2,{1},{2});V=torch.randn(2,2,{1},{2})\n"
      "c=m>-1;rows=(torch.arange({0})<2)[:,None];inf=float('inf')\n",
      s.queries, s.keys, s.width);
}

struct Form {
  const char* what;
  const char* code;
  std::size_t kernels = 1;
};

TEST(FuseAttention, IsOneKernelHoweverItIsWritten) {
  const Form forms[] = {
      {"as a function", "F.scaled_dot_product_attention(q,k,v)"},
      {"causal", "F.scaled_dot_product_attention(q,k,v,is_causal=True)"},
      {"a mask that is added", "F.scaled_dot_product_attention(q,k,v,m,scale=0.3)"},
      {"a mask of truth values", "F.scaled_dot_product_attention(q,k,v,attn_mask=c|rows)"},
      {"a mask that hides whole rows", "F.scaled_dot_product_attention(q,k,v,attn_mask=~rows)"},
      {"a mask that is added and hides whole rows",
       "F.scaled_dot_product_attention(q,k,v,attn_mask=torch.where(rows,-inf,m))"},
      {"grouped queries", "F.scaled_dot_product_attention(q,K,V,is_causal=True,enable_gqa=True)"},
      {"a scale", "F.softmax((q@k.transpose(-2,-1))*0.2,-1)@v"},
      {"a divisor", "F.softmax((q@k.mT)/math.sqrt(q.shape[-1]),-1)@v"},
      {"q is scaled before", "F.softmax((q*0.2)@k.mT,-1)@v"},
      {"q and k are scaled before", "F.softmax((q*0.2)@(k/3).mT,-1)@v"},
      {"a mask that is added, written out", "F.softmax((q@k.mT)*0.2+m,-1)@v"},
      {"masked_fill", "F.softmax((q@k.mT*0.2).masked_fill(m>0.5,-inf),-1)@v"},
      {"masked_fill, whole rows", "F.softmax((q@k.mT).masked_fill(rows,-inf),-1)@v"},
      {"where", "F.softmax(torch.where(c,q@k.mT,-inf),-1)@v"},
      {"a maximum", "s=q@k.mT*0.2;e=(s-s.amax(-1,keepdim=True)).exp();(e/e.sum(-1,keepdim=True))@v"},
      {"the quotient last", "s=q@k.mT*0.2;e=(s-s.amax(-1,keepdim=True)).exp();(e@v)/e.sum(-1,keepdim=True)"},
      {"a reciprocal", "s=q@k.mT*0.2;e=(s-s.amax(-1,keepdim=True)).exp();(e*(1/e.sum(-1,keepdim=True)))@v"},
      {"the quotient last, whole rows hidden",
       "s=(q@k.mT).masked_fill(rows,-inf);e=(s-s.amax(-1,True)).exp();(e@v)/e.sum(-1,True)"},
      {"hidden rows give 0",
       "s=(q@k.mT).masked_fill(rows,-inf);p=F.softmax(s,-1);torch.where(s.amax(-1,True)==-inf,0.0,p)@v"},
      {"heads repeated", "F.softmax(q@K.repeat_interleave(2,1).mT,-1)@V.repeat_interleave(2,1)"},
      {"heads expanded",
       "n=K.shape[-2];d=K.shape[-1];k=K[:,:,None].expand(2,2,2,n,d).reshape(2,4,n,d)\n"
       "v=V[:,:,None].expand(2,2,2,n,d).reshape(2,4,n,d);F.softmax(q@k.mT,-1)@v"},
      {"three dimensions", "F.softmax(Q@K[:,0].mT,-1)@V[:,0]"},
      {"two dimensions", "F.softmax(Q[0]@K[0,0].mT,-1)@V[0,0]"},
      {"a vector of values", "F.softmax(q@k.mT,-1)@v[0,0,:,0]"},
      {"heads behind queries, of few values", "(F.softmax(q@k.mT,-1)@v[...,:3]).transpose(1,2)"},
      {"heads side by side", "F.scaled_dot_product_attention(q,k,v).transpose(1,2).reshape(2,q.shape[2],-1)"},
      {"grouped heads side by side",
       "F.scaled_dot_product_attention(q,K,V,enable_gqa=True).transpose(1,2).reshape(2,q.shape[2],-1)"},
      {"an epilogue", "F.scaled_dot_product_attention(q,k,v)*torch.sigmoid(q)"},
  };
  for (const Form& form : forms)
    for (const Sizes& s : sizes) {
      const std::string code = inputs(s) + form.code;
      const ir::Module module = fused(code);
      EXPECT_EQ(module.kernels.size(), form.kernels) << form.what << "\n" << ir::print(module);
      EXPECT_EQ(softmax_sums(module), 1) << form.what << "\n" << ir::print(module);
      EXPECT_EQ(softmax_sums(fused(code, off)), 0) << form.what;
      EXPECT_EQ(fused_difference(ir::torch::parse_expression(code), 5, on), "") << form.what;
    }
}

// Queries, keys and values are parts of one projection, which are read with an offset. Like the output, the projection
// has one dimension for all heads.
TEST(FuseAttention, OfHeadsThatOneProjectionHasIsOneKernel) {
  const std::string code =
      "h = torch.randn(2, 9, 192).unflatten(2, (3, 4, 16)).permute(2, 0, 3, 1, 4)\n"
      "F.scaled_dot_product_attention(h[0], h[1], h[2], is_causal=True).transpose(1, 2).flatten(2)";
  const ir::Module module = fused(code);
  EXPECT_EQ(module.kernels.size(), 1U) << ir::print(module);
  EXPECT_EQ(softmax_sums(module), 1) << ir::print(module);
  EXPECT_EQ(fused_difference(ir::torch::parse_expression(code), 5, on), "");
}

// nn.MultiheadAttention and nn.TransformerEncoderLayer as torch.export writes them, each call as a graph of its own.
// Attention is fused in all calls, except in those that also return their weights. tests/ir/torch/pt2_test.cpp compares
// the values of all calls with PyTorch's.
TEST(FuseAttention, OfExportedModulesIsOneKernel) {
  const std::set<std::size_t> weights = {2, 4};
  for (const char* name : {"multihead_2.15.0.pt2", "multihead_core_aten_2.15.0.pt2"}) {
    ir::torch::Graph graph = ir::torch::read_pt2(std::filesystem::path(DEPLO_SOURCE_DIR) / "tests/data/pt2" / name);
    const std::vector<ir::torch::Id> outputs = graph.outputs;
    ASSERT_EQ(outputs.size(), 16U);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      SCOPED_TRACE(fmt::format("{}: output {}", name, i));
      graph.outputs = {outputs[i]};
      const ir::Module module = fuse(compose(decompose(graph)), on);
      EXPECT_EQ(softmax_sums(module), weights.contains(i) ? 0 : 1) << ir::print(module);
      EXPECT_EQ(fused_difference(graph, 5, on, 1e-11), "");
    }
  }
}

TEST(FuseAttention, StaysApartWhereOneKernelIsNotTheSameOrDoesNotPay) {
  const Form forms[] = {
      {"the maximum of other scores", "s=q@k.mT;e=(s-(s*2).amax(-1,keepdim=True)).exp();(e/e.sum(-1,keepdim=True))@v",
       3},
      {"the maximum of other keys", "s=q@k.mT;e=(s-s.amax(-2,keepdim=True)).exp();(e/e.sum(-1,keepdim=True))@v", 4},
      {"the sum of other scores", "s=q@k.mT;e=(s-s.amax(-1,True)).exp();(e/(s*2-s.amax(-1,True)).exp().sum(-1,True))@v",
       3},
      {"no maximum: e^s may be too large", "e=(q@k.mT).exp();(e/e.sum(-1,keepdim=True))@v", 3},
      {"sums that are not divided: 0 is no NaN", "s=(q@k.mT).masked_fill(rows,-inf);(s-s.amax(-1,True)).exp()@v", 3},
      {"a total and something more",
       "s=(q@k.mT).masked_fill(rows,-inf);e=(s-s.amax(-1,True)).exp();(e@v)/(e.sum(-1,True)+1)", 3},
      {"a softmax alone", "F.softmax(q@k.mT,-1)", 2},
      {"scores in memory", "F.softmax(m,-1)@v", 2},
      {"probabilities that somebody sees", "p=F.softmax(q@k.mT,-1);(p@v,p)", 3},
      {"scores that somebody sees", "s=q@k.mT;(F.softmax(s,-1)@v,s)", 3},
      {"more values than a block holds", "F.softmax(q@k.mT,-1)@torch.randn(k.shape[-2],300)", 3},
  };
  for (const Form& form : forms) {
    const std::string code = inputs({7, 5, 16}) + form.code;
    const ir::Module module = fused(code);
    EXPECT_EQ(module.kernels.size(), form.kernels) << form.what << "\n" << ir::print(module);
    EXPECT_EQ(softmax_sums(module), 0) << form.what << "\n" << ir::print(module);
    EXPECT_EQ(fused_difference(ir::torch::parse_expression(code), 5, on), "") << form.what;
  }
}

TEST(FuseAttention, IsThisNest) {
  const std::string code =
      "q=torch.randn(2,4,7,16);k=torch.randn(2,2,5,16);v=torch.randn(2,2,5,16)\n"
      "F.scaled_dot_product_attention(q,k,v,is_causal=True,enable_gqa=True).transpose(1,2).reshape(2,7,64)";
  const ir::Module module = fused(code);
  ASSERT_EQ(module.kernels.size(), 1U);
  EXPECT_EQ(ir::print(module.kernels[0]), R"(=== loop: reshape ===
input q: f32[2, 4, 7, 16]
input k: f32[2, 2, 5, 16]
input v: f32[2, 2, 5, 16]
output reshape: f32[2, 7, 64]
for a0 in 0..2: # free
  for a1 in 0..7: # free
    for a2 in 0..4: # free
      for a3 in 0..16: # free
        for a4 in 0..5: # reduce
          for a5 in 0..16: # reduce
            in0 = load q[a0, a2, a1, a5]
            in1 = load k[a0, (a2 / 2), a4, a5]
            v0 = multiply(in0, in1)
            acc0 <- add(acc0, v0)
          in2 = load v[a0, (a2 / 2), a4, a3]
          v1 = multiply(acc0, 0.25)
          v2:bool = index (a4 < (a1 + 1))
          v3 = select(v2, v1, -inf)
          acc1, acc2, acc3 <- softmax_sum(v3, 1, in2)
        v4 = divide(acc3, acc2)
        reshape[a0, a1, ((a2 * 16) + a3)] = v4
)");
}

TEST(FuseAttention, HasOneKey) {
  const std::string inputs = "q=torch.randn(2,7,16);k=torch.randn(2,5,16);v=torch.randn(2,5,16)\n";
  const auto key = [&](const std::string& code) {
    return ir::print(ir::canonical(fused(inputs + code).kernels[0]).program);
  };
  const std::string expected = key("F.scaled_dot_product_attention(q,k,v)");
  EXPECT_EQ(key("F.softmax(q@k.mT*0.25,-1)@v"), expected);
  EXPECT_EQ(key("s=q@k.mT*0.25;e=(s-s.amax(-1,True)).exp();(e@v)/e.sum(-1,True)"), expected);
}

// Operands of both products are loaded, so that a schedule can stage them. If an operand is computed, its computation
// stays a separate kernel.
TEST(FuseAttention, LoadsItsOperands) {
  for (const char* form : {"k=k*2;F.scaled_dot_product_attention(q,k,k)", "F.scaled_dot_product_attention(q,k,v*v)",
                           "F.scaled_dot_product_attention(torch.tanh(q),k,v)"}) {
    const ir::Module module = fused(inputs({7, 33, 16}) + form);
    EXPECT_EQ(module.kernels.size(), 2U) << form << "\n" << ir::print(module);
    EXPECT_EQ(softmax_sums(module.kernels.back()), 1) << form;
  }
}

// Returns code for a random attention, written in a random way, with random operations around it.
std::string random_attention(Rng& rng) {
  const auto one_of = [&](const std::vector<std::string>& choices) { return choices[rng.below(choices.size())]; };
  constexpr std::array extents = {1, 3, 4, 5, 9};
  const auto extent = [&] { return extents[rng.below(extents.size())]; };
  const int groups = 1 + static_cast<int>(rng.below(3));
  std::string code = fmt::format(
      "q=torch.randn(2,{0},{2},{4});k=torch.randn(2,{1},{3},{4});v=torch.randn(2,{1},{3},{5});m=torch.randn({2},{3})\n"
      "inf=float('inf');rows=(torch.arange({2})<1)[:,None]\n",
      2 * groups, 2, extent(), extent(), extent(), extent());
  code += one_of({"", "q=q*0.3\n", "k=k/2\n", "q=q+1\n", "v=torch.tanh(v)\n"});
  if (groups > 1) code += fmt::format("k=k.repeat_interleave({0},1);v=v.repeat_interleave({0},1)\n", groups);
  code += "s=" + one_of({"q@k.mT", "(q@k.mT)*0.4", "(q@k.mT)/3", "torch.tanh(q@k.mT)"}) + "\n";
  code += one_of({"", "s=s+m\n", "s=s.masked_fill(m>0.5,-inf)\n", "s=s.masked_fill(rows,-inf)\n",
                  "s=torch.where(m>-0.5,s,-inf)\n", "s=s.masked_fill(torch.ones_like(s).triu(1)>0,-inf)\n"});
  code += "e=(s-s.amax(-1,True)).exp()\n";
  code += "o=" + one_of({"F.softmax(s,-1)@v", "(e/e.sum(-1,True))@v", "(e@v)/e.sum(-1,True)",
                         "(e*(1/e.sum(-1,True)))@v", "(F.softmax(s,-1)*0.5)@v"});
  return code + "\n" +
         one_of({"o", "o*2", "o.transpose(1,2)", "o.transpose(1,2).reshape(2,q.shape[2],-1)", "o.sum(-1)"});
}

TEST(FuseAttention, RandomOnesMeanTheSame) {
  const std::uint64_t cases = std::max<std::uint64_t>(test_options().cases / 4, 50);
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < cases; ++i) {
    Rng rng(test_options().seed + i);
    const std::string code = random_attention(rng);
    found += static_cast<std::uint64_t>(softmax_sums(fused(code)));
    ASSERT_EQ(fused_difference(ir::torch::parse_expression(code), i, on), "") << code;
  }
  EXPECT_GT(found, cases / 2);  // all except attentions with one key, and sums of a column
}

TEST(FuseAttention, LeavesTheProjectionsAroundIt) {
  ir::torch::Model model{
      .name = "small", .hidden = 64, .ffn = 96, .heads = 4, .kv_heads = 2, .head_dim = 16, .layers = 1};
  const auto block = compose(decompose(ir::torch::build_block(model, 0, 7)));
  const ir::Module with = fuse(block, on), without = fuse(block, off);
  EXPECT_EQ(with.kernels.size() + 2, without.kernels.size()) << ir::print(with);
  EXPECT_EQ(softmax_sums(with), 1);
}

// In the work, the product of each score counts once, however many values the score weighs.
TEST(FuseAttention, Work) {
  const ir::Module module = fused("q=torch.randn(2,7,16);k=torch.randn(2,5,16);F.scaled_dot_product_attention(q,k,k)");
  constexpr double rows = 2 * 7, scores = rows * 5, product = 2 * 16, step = 1 + 3 + 1 + 2 * 16;
  EXPECT_EQ(ir::work(module.kernels[0]).flops, scores * (product + step) + rows * 16);
  EXPECT_EQ(least_work(module.kernels[0]).flops, ir::work(module.kernels[0]).flops);
}

TEST(FuseAttention, TwoAreTwoKernels) {
  const std::string code =
      "q=torch.randn(2,7,16);k=torch.randn(2,5,16)\n"
      "F.scaled_dot_product_attention(q,k,k)-0.5*F.scaled_dot_product_attention(q*2,k,k)";
  const ir::Module module = fused(code);
  EXPECT_EQ(softmax_sums(module), 2) << ir::print(module);
  for (const ir::Program& kernel : module.kernels) EXPECT_LE(softmax_sums(kernel), 1);
  EXPECT_EQ(fused_difference(ir::torch::parse_expression(code), 5, on), "");
}

// The product after one softmax gives the scores of the next one. A search for an attention stops at its own scores. A
// search that also visited the earlier softmaxes took eight times as long with each of them.
TEST(FuseAttention, ChainsStopAtTheirScores) {
  const auto chain = [](int softmaxes) {
    return fmt::format(
        "x=torch.randn(1,4,5,5)\n"
        "for i in range({}): x=F.softmax(nn.BatchNorm2d(4)(nn.Conv2d(4,4,3,padding=1)(x)),-1)\nx",
        softmaxes);
  };
  EXPECT_GE(fused(chain(16), {}).kernels.size(), 32);
  EXPECT_EQ(fused_difference(ir::torch::parse_expression(chain(3)), 5, {}), "");
}

// PyTorch rounds probabilities because its kernels store them. The fused kernel does not store them.
TEST(FuseAttention, ProbabilitiesAreNotRounded) {
  for (const char* dtype : {"bfloat16", "float16"})
    for (const char* form : {"F.scaled_dot_product_attention(q,k,v)", "F.softmax(q@k.mT*0.25,-1)@v",
                             "F.softmax(q@k.mT*0.25,-1,dtype=torch.float32).to(q.dtype)@v"}) {
      const std::string code = fmt::format(
          "q=torch.randn(2,7,16,dtype=torch.{0});k=torch.randn(2,33,16,dtype=torch.{0});"
          "v=torch.randn(2,33,16,dtype=torch.{0})\n{1}",
          dtype, form);
      const ir::Module module = fused(code);
      EXPECT_EQ(module.kernels.size(), 1U) << code << ir::print(module);
      EXPECT_THAT(ir::print(module), ::testing::Not(HasSubstr("round_")));
      EXPECT_EQ(fused_difference(ir::torch::parse_expression(code), 5, on, 0x1p-7), "") << code;
    }
}

TEST(FuseAttention, IsEvaluatedAtAPoint) {
  const ir::Program program =
      fused("q=torch.randn(2,7,16);k=torch.randn(2,5,16);F.scaled_dot_product_attention(q,k,k)").kernels[0];
  Rng rng(11);
  ir::Memory memory;
  std::map<std::string, ir::Numbers, std::less<>> inputs;
  for (const ir::Buffer& buffer : program.buffers) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < ir::span(buffer); ++i) values.push_back(static_cast<float>(rng.uniform(-2, 2)));
    memory[buffer.name] = {values.begin(), values.end()};
    if (buffer.role == ir::Role::input) inputs[buffer.name] = values;
  }
  ir::interpret(program, memory);
  std::map<std::string, std::int64_t, std::less<>> at;
  for (const auto& [axis, extent] : ir::free_axes(program)) at[axis] = extent - 1;
  const std::vector<ir::Point> points = ir::evaluate_at(program, inputs, at, true);
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].value, memory[points[0].buffer][static_cast<std::size_t>(points[0].offset)]);
  EXPECT_GT(points[0].rounding, 0);
  EXPECT_LT(points[0].rounding, 1e-3);
}

}  // namespace
}  // namespace deplo::rules::attention_test
