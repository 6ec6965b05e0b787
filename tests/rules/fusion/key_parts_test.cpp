// Tests attention that is split along its keys: which two kernels it becomes, on which targets it is split, and that
// the kernels compute the same values as one kernel or three.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "core/error.h"
#include "ir/torch/evaluate.h"
#include "ir/torch/expression/expression.h"
#include "ir/walk.h"
#include "rules/decompose/decompose.h"
#include "rules/fusion/run_module.h"
#include "rules/programs.h"

namespace deplo::rules::key_parts_test {
namespace {

FuseOptions in_parts(std::int64_t parts) { return {.fixed = {{"attention", "fused"}, {"key_parts", parts}}}; }

ir::Module fused(const std::string& code, const FuseOptions& options, const FusionObserver& observer = {}) {
  return fuse(compose(decompose(ir::torch::parse_expression(code))), options, observer);
}

constexpr const char* decode =
    "q=torch.randn(4,1,16);k=torch.randn(2,7,16);v=torch.randn(2,7,16)\n"
    "F.scaled_dot_product_attention(q,k,v,enable_gqa=True)*2";

TEST(KeyParts, AreTheseTwoKernels) {
  EXPECT_EQ(ir::print(fused(decode, in_parts(3))), R"(# 0: q, k, v -> mul_parts
=== loop: mul_parts ===
input q: f32[4, 1, 16]
input k: f32[2, 7, 16]
input v: f32[2, 7, 16]
output mul_parts: f32[3, 2, 2, 3, 16]
for a0 in 0..2: # free
  for a1 in 0..2: # free
    for a2 in 0..3: # free
      for a3 in 0..16: # free
        for a4 in 0..3: # reduce
          for a5 in 0..16: # reduce
            in0 = load q[((a0 * 2) + a1), 0, a5]
            in1 = load k[a0, (min((a2 * 3), 4) + a4), a5]
            v0 = multiply(in0, in1)
            acc0 <- add(acc0, v0)
          in2 = load v[a0, (min((a2 * 3), 4) + a4), a3]
          v1 = multiply(acc0, 0.25)
          v4:bool = index (((a2 * 3) - 4) < (a4 + 1))
          v5 = select(v4, v1, -inf)
          acc1, acc2, acc3 <- softmax_sum(v5, 1, in2)
        mul_parts[0, a0, a1, a2, a3] = acc1
        mul_parts[1, a0, a1, a2, a3] = acc2
        mul_parts[2, a0, a1, a2, a3] = acc3
# 1: mul_parts -> mul
=== loop: mul ===
input mul_parts: f32[3, 2, 2, 3, 16]
output mul: f32[4, 1, 16]
for a0 in 0..2: # free
  for a1 in 0..2: # free
    for a2 in 0..16: # free
      for a3 in 0..3: # reduce
        in3 = load mul_parts[0, a0, a1, a3, a2]
        in4 = load mul_parts[1, a0, a1, a3, a2]
        in5 = load mul_parts[2, a0, a1, a3, a2]
        acc1, acc2, acc3 <- softmax_sum(in3, in4, in5)
      v2 = divide(acc3, acc2)
      v3 = multiply(v2, 2)
      mul[((a0 * 2) + a1), 0, a2] = v3
)");
}

TEST(KeyParts, OfOneAreOneKernel) {
  EXPECT_EQ(fused(decode, in_parts(1)), fused(decode, {.fixed = {{"attention", "fused"}}}));
}

// Each part has a key of its own.
TEST(KeyParts, AreNoMoreThanKeys) {
  EXPECT_EQ(fused(decode, in_parts(100)).kernels[0].find("mul_parts")->shape, (ir::Shape{3, 2, 2, 7, 16}));
  EXPECT_EQ(fused(decode, in_parts(5)).kernels[0].find("mul_parts")->shape, (ir::Shape{3, 2, 2, 4, 16}));
  const std::string one = "q=torch.randn(4,1,16);k=torch.randn(4,1,16);F.softmax(q@k.mT*torch.ones(1,1),-1)@k";
  EXPECT_EQ(fused(one, in_parts(2)).kernels.size(), fused(one, in_parts(1)).kernels.size());
}

TEST(KeyParts, HaveANameOfTheirOwn) {
  const ir::Module module =
      fused("mul_parts=torch.randn(7,16);F.scaled_dot_product_attention(mul_parts,mul_parts,mul_parts)*2", in_parts(2));
  ASSERT_NE(module.find("mul_parts_"), nullptr) << ir::print(module);
  EXPECT_EQ(module.find("mul_parts_")->type.shape, (ir::Shape{3, 7, 2, 16})) << ir::print(module);
}

struct Decode {
  int keys, heads, group, queries;
  const char *mask, *dtype;

  std::string code() const {
    return fmt::format(
        "t=torch.{5};q=torch.randn({1},{3},16,dtype=t);k=torch.randn({2},{0},16,dtype=t);v=torch.randn({2},{0},16,"
        "dtype=t)\n"
        "m=torch.randn({3},{0});c=(m>-0.5)&(torch.arange({3})!=1)[:,None];inf=float('inf')\n"
        "F.scaled_dot_product_attention(q,k,v{4},enable_gqa=True)",
        keys, heads, heads / group, queries, mask, dtype);
  }
};

// With three queries, the mask c hides all keys from the second query, and a causal mask hides most parts from all
// queries.
TEST(KeyParts, MeanTheSame) {
  constexpr std::array masks = {"", ",is_causal=True", ",attn_mask=c", ",attn_mask=torch.where(c,m,-inf).to(t)"};
  constexpr std::array dtypes = {"float32", "float16", "bfloat16"};
  constexpr std::array groups = {1, 4, 8};
  constexpr std::array queries = {1, 3};
  std::size_t next = 0;
  for (const int keys : {1, 7, 33, 129, 513, 2048})
    for (const std::int64_t parts : {2, 3, 7})
      for (const char* mask : masks) {
        const int group = groups.at(next % 3), heads = keys > 1000 ? group : 8;
        const Decode one = {keys, heads, group, queries.at(next / 3 % 2), mask, dtypes.at(next / 2 % 3)};
        ++next;
        const double tolerance = one.dtype == std::string_view("float32") ? 1e-6 : 0x1p-7;
        EXPECT_EQ(fused(one.code(), in_parts(parts)).kernels.size(), keys == 1 ? 1U : 2U) << one.code();
        EXPECT_EQ(fused_difference(ir::torch::parse_expression(one.code()), next, in_parts(parts), tolerance), "")
            << one.code() << "\nin parts " << parts;
      }
}

// The epilogues read the kernels' results with the axes of heads and values merged, or separately.
TEST(KeyParts, MeanTheSameBehindEveryEpilogue) {
  const std::string inputs =
      "q=torch.randn(2,4,3,16);k=torch.randn(2,4,9,16);m=torch.randn(3,9);x=torch.randn(2,4,3,16)\n";
  for (const char* code : {"F.scaled_dot_product_attention(q,k,k)*torch.sigmoid(x)+x[0]",
                           "F.scaled_dot_product_attention(q,k,k).transpose(1,2).reshape(2,3,-1)",
                           "s=q@k.mT;e=(s-s.amax(-1,True)).exp();(e@k)/e.sum(-1,True)+s.amax(-1,True)",
                           "F.scaled_dot_product_attention(q,k,k,m)-F.scaled_dot_product_attention(x,k,k)"}) {
    const auto graph = ir::torch::parse_expression(inputs + code);
    EXPECT_EQ(fused_difference(graph, 7, in_parts(2)), "") << code;
    EXPECT_THAT(ir::print(fuse(compose(decompose(graph)), in_parts(2))), ::testing::HasSubstr("_parts")) << code;
  }
}

/// Returns "" if the changed module still computes what the graph computes, otherwise the first difference.
std::string difference(const Decode& one, const std::function<void(ir::Module&)>& change) {
  const auto graph = ir::torch::parse_expression(one.code());
  const auto sources = random_sources(graph, 3);
  ir::Module module = fuse(compose(decompose(graph)), in_parts(3));
  change(module);
  const auto expected = ir::torch::evaluate(graph, sources)[0], found = run(module, graph, sources)[0];
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!(std::abs(found[i] - expected[i]) <= 1e-6)) return fmt::format("expected {}, found {}", expected[i], found[i]);
  return "";
}

TEST(KeyParts, FaultsShow) {
  const Decode one = {31, 2, 1, 1, "", "float32"};
  EXPECT_EQ(difference(one, [](ir::Module&) {}), "");
  const auto combining = [](const auto& edit) { return [edit](ir::Module& module) { edit(module.kernels[1].body); }; };
  const auto each_load = [&](std::string name, const std::function<void(ir::Load&)>& edit) {
    return combining([name, edit](ir::Body& body) {
      int found = 0;
      ir::for_each(body, [&](ir::Stmt& stmt) {
        if (auto* load = stmt.as<ir::Load>(); load != nullptr && load->index[0].is_constant(name == "score" ? 0 : 1))
          edit(*load), ++found;
      });
      EXPECT_EQ(found, 1);
    });
  };
  EXPECT_NE(difference(one, each_load("score", [](ir::Load& load) { load.index[2] = 0; })), "") << "a stale maximum";
  EXPECT_NE(difference(one, each_load("total", [](ir::Load& load) { load.index[2] = 0; })), "") << "another's total";
  EXPECT_NE(difference(one, combining([](ir::Body& body) {
                         ir::for_each(body, [](ir::Stmt& stmt) {
                           if (auto* loop = stmt.as<ir::Loop>(); loop != nullptr && loop->axis.bind == ir::Bind::reduce)
                             loop->axis.extent -= 1;
                         });
                       })),
            "")
      << "the last part left out";
  EXPECT_NE(difference(one, combining([](ir::Body& body) {
                         edit_bodies(body, [](ir::Body& inner) {
                           if (inner.empty()) return;
                           auto* step = inner.back().as<ir::SoftmaxSum>();
                           if (step == nullptr) return;
                           const std::string total = step->sums[0];
                           const ir::Arg weight = step->weights[0];
                           step->sums.erase(step->sums.begin());
                           step->weights.erase(step->weights.begin());
                           inner.emplace_back(ir::Accum{total, {}, ir::Op::add, {weight}});
                         });
                       })),
            "")
      << "a total that is not scaled";
  const auto summing = [](const std::function<void(ir::Loop & keys)>& edit) {
    return [edit](ir::Module& module) {
      ir::for_each(module.kernels[0].body, [&](ir::Stmt& stmt) {
        auto* loop = stmt.as<ir::Loop>();
        if (loop != nullptr && !loop->body.empty() && loop->body.back().as<ir::SoftmaxSum>() != nullptr) edit(*loop);
      });
    };
  };
  EXPECT_NE(difference(one, summing([](ir::Loop& keys) { keys.axis.extent -= 1; })), "") << "a part's last key short";
  EXPECT_NE(difference(one, summing([](ir::Loop& keys) {
                         for (ir::Stmt& stmt : keys.body)
                           if (auto* own = stmt.as<ir::Index>()) own->value = 1;
                       })),
            "")
      << "shared keys counted twice";
}

// The parts give 2 blocks to each of 132 or 108 multiprocessors, and 1 block to each of 2 cores.
TEST(KeyParts, AreAsManyAsTheTargetHasUnitsFor) {
  const std::string
      heads = "q=torch.randn(32,1,16);k=torch.randn(8,{0},16);F.scaled_dot_product_attention(q,k,k,enable_gqa=True)",
      one = "q=torch.randn(1,{1},16);k=torch.randn(1,{0},16);F.scaled_dot_product_attention(q,k,k)";
  const auto chosen = [](const std::string& code, const char* target) {
    std::vector<KeyParts> found;
    FusionObserver observer;
    observer.parted = [&](const KeyParts& parts) { found.push_back(parts); };
    fused(code, {.target = load_target(target), .fixed = {{"attention", "fused"}}}, observer);
    EXPECT_EQ(found.size(), 1U) << code;
    return fmt::format("{} of {}: {}", found.at(0).parts, found.at(0).keys, found.at(0).why);
  };
  const auto of_heads = [&](int keys) { return fmt::format(fmt::runtime(heads), keys); };
  const auto of_one = [&](int keys, int queries) { return fmt::format(fmt::runtime(one), keys, queries); };
  EXPECT_EQ(chosen(of_heads(4096), "sm_90"), "16 of 256: of 8 blocks for 132 multiprocessors");
  EXPECT_EQ(chosen(of_heads(32768), "sm_90"), "32 of 1024: of 8 blocks for 132 multiprocessors");
  EXPECT_EQ(chosen(of_heads(32768), "sm_80"), "25 of 1312: of 8 blocks for 108 multiprocessors");
  EXPECT_EQ(chosen(of_heads(500), "sm_90"), "1 of 500: 500 keys are too few to split, with 4 rows per block");
  EXPECT_EQ(chosen(of_heads(4096), "opencl-cpu"), "1 of 4096: of 8 blocks for 2 cores");
  EXPECT_EQ(chosen(of_one(32768, 1), "opencl-cpu"), "2 of 16384: of 1 block for 2 cores");
  EXPECT_EQ(chosen(of_one(4099, 1), "opencl-cpu"), "2 of 2064: of 1 block for 2 cores");
  EXPECT_EQ(chosen(of_one(32768, 256), "sm_90"), "4 of 8192: of 2 blocks for 132 multiprocessors");
  EXPECT_EQ(chosen(of_one(32768, 32768), "sm_90"), "1 of 32768: of 256 blocks for 132 multiprocessors");
}

TEST(KeyParts, StayOneWhereTheSweepIsNotAlone) {
  std::string why;
  FusionObserver observer;
  observer.parted = [&](const KeyParts& parts) { why = parts.why; };
  fused("q=torch.randn(3,16);k=torch.randn(9,16);F.softmax(q@k.T,-1)@k[:,0]", in_parts(2), observer);
  EXPECT_EQ(why, "the values of a row have no axis of their own");
}

}  // namespace
}  // namespace deplo::rules::key_parts_test
