// Tests kernels with several results: which kernels are joined, which stay separate and why, and that they compute the
// same values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "drawn_seeds.h"
#include "ir/torch/expression/expression.h"
#include "rules/decompose/decompose.h"
#include "rules/fusion/run_module.h"
#include "rules/options.h"

namespace deplo::rules::join_results_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

ir::tensor::Graph graph_of(const std::string& code) { return compose(decompose(ir::torch::parse_expression(code))); }

std::vector<ir::Program> kernels(const std::string& code) { return fuse(graph_of(code)).kernels; }

/// Returns the names of each kernel's outputs.
std::vector<std::vector<std::string>> results_of(const std::vector<ir::Program>& kernels) {
  std::vector<std::vector<std::string>> all;
  for (const ir::Program& kernel : kernels) {
    all.emplace_back();
    for (const ir::Buffer& buffer : kernel.buffers)
      if (buffer.role == ir::Role::output) all.back().push_back(buffer.name);
  }
  return all;
}

struct Case {
  std::string code;
  std::vector<std::vector<std::string>> results;
};

const std::vector<Case>& joined() {
  static const std::vector<Case> cases = {
      // A maximum and its index: the index needs the maximum.
      {"torch.max(torch.randn(5,9),-1)", {{"amax", "amin"}}},
      {"torch.max(torch.randn(5,900),-1)", {{"amax", "amin"}}},
      // One result per row and one result as long as the row, with and without a kept dimension.
      {"x=torch.randn(5,9);m=x.mean(-1,keepdim=True);c=x-m;c*torch.rsqrt((c*c).mean(-1,keepdim=True)),m",
       {{"mean", "mul_1"}}},
      {"x=torch.randn(5,9);x.mean(-1),F.softmax(x,-1)", {{"mean", "softmax"}}},
      // A sum that is an output, and its norm.
      {"x=torch.randn(5,9);h=x+torch.randn(5,9);h,F.rms_norm(h,(9,))", {{"add", "rms_norm"}}},
      // Two functions of the elements of one input.
      {"x=torch.randn(5,9);torch.exp(x),torch.sin(x)", {{"exp_1", "sin_1"}}},
      // A cell's two states, after the product for its gates.
      {"nn.LSTMCell(6,5)(torch.randn(3,6))", {{"add"}, {"add_1", "mul_2"}}},
  };
  return cases;
}

TEST(JoinResults, AreOneKernel) {
  for (const Case& c : joined()) EXPECT_EQ(results_of(kernels(c.code)), c.results) << c.code;
}

TEST(JoinResults, MeanTheSame) {
  for (const Case& c : joined())
    for (const char* target : {"opencl-cpu", "sm_80"})
      EXPECT_EQ(fused_difference(ir::torch::parse_expression(c.code), 1, {.target = load_target(target)}), "")
          << c.code << " " << target;
}

TEST(JoinResults, AreWrittenAsSoonAsTheyAreKnown) {
  const std::vector<ir::Program> all = kernels("x=torch.randn(5,9);x.mean(-1),x-x.mean(-1,keepdim=True)");
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(ir::print(all[0]), R"(=== loop: sub ===
input x: f32[5, 9]
output mean: f32[5]
output sub: f32[5, 9]
for a0 in 0..5: # free
  for a1 in 0..9: # reduce
    in0 = load x[a0, a1]
    acc0 <- add(acc0, in0)
  v0 = divide(acc0, 9)
  mean[a0] = v0
  for a2 in 0..9: # free
    in1 = load x[a0, a2]
    v1 = subtract(in1, v0)
    sub[a0, a2] = v1
)");
}

TEST(JoinResults, LeaveApartWhatSharesNoRows) {
  for (const char* code : {
           "x=torch.randn(5,9);x.sum(0),x.sum(1)",                           // sums of columns and of rows
           "x=torch.randn(5,9);x[:,0]*2,x*3",                                // no value is computed once per row
           "x=torch.randn(5,9);torch.exp(x),torch.sin(torch.randn(5,9))",    // no input is read twice
           "x=torch.randn(1,80);x@torch.randn(80,90),x@torch.randn(80,90)",  // x is small compared with two matrices
           "x=torch.randn(8,8);x@x.T,x*2",                                   // one is a contraction
           "x=torch.randn(5,9);torch.exp(x),torch.sin(x.T)",                 // different axes
       })
    EXPECT_THAT(kernels(code), SizeIs(2)) << code;
}

// The product reads exp(x), and the kernel of sin(…) reads the product. One kernel cannot run both before and after the
// product.
TEST(JoinResults, KeepTheOrder) {
  const std::string code = "x=torch.randn(8,8);y=torch.exp(x);p=y@y;y,p,torch.sin(y)+p.sum()";
  EXPECT_EQ(fused_difference(ir::torch::parse_expression(code), 1), "");
  for (const std::vector<std::string>& results : results_of(kernels(code))) EXPECT_THAT(results, SizeIs(1));
}

TEST(JoinResults, AreADecision) {
  const ir::tensor::Graph graph = graph_of("x=torch.randn(5,9);x.mean(-1),F.softmax(x,-1)");
  const Fused one = fuse(graph, Trail{}).value();
  EXPECT_THAT(one.forks, ElementsAre(Fork{"fusion.join_softmax", {1, 0}}));
  const Fused two = fuse(graph, Trail{{"fusion.join_softmax", std::int64_t{0}}}).value();
  EXPECT_THAT(results_of(two.module.kernels),
              UnorderedElementsAre(std::vector<std::string>{"mean"}, std::vector<std::string>{"softmax"}));
  EXPECT_EQ(print(two.trail), "fusion.join_softmax=0");
}

std::vector<std::string> reasons(const std::string& code) {
  std::vector<std::string> found;
  FusionObserver observer;
  observer.apart = [&](const Apart& pair) { found.push_back(pair.producer + ", " + pair.consumer + ": " + pair.why); };
  (void)fuse(graph_of(code), {}, observer);
  return found;
}

TEST(Apart, SaysWhyKernelsAreTwo) {
  EXPECT_THAT(reasons("F.softmax(torch.randn(5,9),-1)"), IsEmpty());
  EXPECT_THAT(reasons("x=torch.randn(5,9);h=x+torch.randn(5,9);h,F.rms_norm(h,(9,))"), IsEmpty());
  EXPECT_THAT(reasons("x=torch.randn(8,8);w=torch.randn(8,8);F.rms_norm(x,(8,))@w"),
              ElementsAre("rms_norm, matmul: a reduction inside a sweep of a free axis"));
  EXPECT_THAT(reasons("x=torch.randn(8,8);(x@x)@x"), ElementsAre("matmul, matmul_1: a reduction inside a reduction"));
  EXPECT_THAT(reasons("x=torch.randn(8,8);y=x@x;y,torch.relu(y)"),
              ElementsAre("matmul, relu: matmul is an output of the graph, and would be computed twice"));
}

}  // namespace
}  // namespace deplo::rules::join_results_test
