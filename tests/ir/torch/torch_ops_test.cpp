// Types that operations infer, and what operations refuse.
#include "ir/torch/operations/ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ir/torch/operations/operation.h"
#include "ir/torch/torch_case.h"

namespace deplo::ir::torch {
namespace {

using ::testing::HasSubstr;
using Types = std::vector<TensorType>;

TEST(TorchOps, AreSortedAndKnown) {
  EXPECT_GE(operations().size(), 63U);
  EXPECT_TRUE(std::ranges::is_sorted(operations(), {}, &Operation::name));
  EXPECT_NE(find_operation("rms_norm"), nullptr);
  EXPECT_EQ(find_operation("rmsnorm"), nullptr);
  EXPECT_THAT(typed("rmsnorm", {f32({2})}), HasSubstr("found 'rmsnorm'; did you mean 'rms_norm'?"));
}

TEST(TorchOps, HaveAMeaningADecompositionAndNamesInEveryFrontEnd) {
  for (const Operation& operation : operations()) {
    SCOPED_TRACE(operation.name);
    EXPECT_TRUE(operation.infer && operation.evaluate && operation.decompose);
    if (operation.name == "whole_quotient") continue;                        // other functions consist of it
    EXPECT_TRUE(!operation.functions.empty() || operation.name == "index");  // written as x[i, j]
    EXPECT_FALSE(operation.readers.empty());
  }
}

TEST(TorchOps, CheckTheNumberOfArguments) {
  EXPECT_EQ(typed("neg", {}), "neg: expected 1 tensor argument, found 0");
  EXPECT_EQ(typed("add", {f32({2})}), "add: expected 2 tensor arguments, found 1");
  EXPECT_EQ(typed("linear", Types(4, f32({2}))), "linear: expected 2 to 3 tensor arguments, found 4");
  EXPECT_EQ(typed("cat", {}), "cat: expected at least 1 tensor arguments, found 0");
}

TEST(TorchOps, CheckAttributes) {
  EXPECT_EQ(typed("sum", {f32({2})}, {{"dim", whole(0)}}),
            "sum: expected one of the attributes dims, keepdim, found 'dim'; did you mean 'dims'?");
  EXPECT_EQ(typed("neg", {f32({2})}, {{"dim", whole(0)}}), "neg: expected no attributes, found 'dim'");
  EXPECT_EQ(typed("softmax", {f32({2})}), "softmax: expected dim (an integer), found none");
  EXPECT_EQ(typed("softmax", {f32({2})}, {{"dim", 0.5}}),
            "softmax: expected an integer for dim, found another kind of value");
  EXPECT_EQ(typed("gelu", {f32({2})}, {{"approximate", std::string("tan")}}),
            "gelu: expected approximate 'none' or 'tanh', found 'tan'");
  // An integer is accepted for a float, and for a list of one element.
  EXPECT_EQ(inferred("layer_norm", {f32({2, 3})}, {{"dims", whole(1)}, {"eps", whole(1)}}).number("eps"), 1);
  EXPECT_EQ(inferred("sum", {f32({2, 3})}, {{"dims", whole(-1)}}).integers("dims"), List{1});
}

TEST(TorchOps, BroadcastAndPromoteAsPyTorch) {
  EXPECT_EQ(typed("add", {f32({5, 1, 3}), f32({4, 1})}), "(5, 4, 3) float32");
  EXPECT_EQ(typed("mul", {f32({}), f32({2})}), "(2,) float32");
  EXPECT_EQ(typed("add", {f32({3, 4}), f32({3})}), "add: expected shapes that broadcast, found (3, 4) and (3,)");
  EXPECT_EQ(typed("add", {i32({2}), f32({2})}), "(2,) float32");
  EXPECT_EQ(typed("add", {i32({2}), f16({2})}), "(2,) float16");
  EXPECT_EQ(typed("add", {f16({2}), bf16({2})}), "(2,) float32");
  EXPECT_EQ(typed("mul", {boolean({2}), i32({2})}), "(2,) int32");
  EXPECT_EQ(typed("mul", {boolean({2}), boolean({2})}), "(2,) bool");
  // A tensor without dimensions does not widen a tensor with dimensions if both are of the same kind.
  EXPECT_EQ(typed("add", {f16({2}), f32({})}), "(2,) float16");
  EXPECT_EQ(typed("add", {f32({}), i32({2})}), "(2,) float32");
  EXPECT_EQ(typed("sub", {boolean({2}), boolean({2})}), "sub: expected numbers, found (2,) bool and (2,) bool");
  EXPECT_EQ(typed("sub", {i32({2}), boolean({2})}), "sub: expected numbers, found (2,) int32 and (2,) bool");
}

TEST(TorchOps, PythonNumbersDoNotWidenTheirOwnKind) {
  Builder b;
  const Id half = b.input("h", f16({2})), ints = b.input("i", i32({2})), zero = b.input("z", f16({}));
  const Id number = b.scalar(0.5, DType::f32), three = b.scalar(3, DType::i32), minus = b.scalar(-1, DType::i32);
  EXPECT_EQ(b.type(b.call("mul", {half, number})), f16({2}));
  EXPECT_EQ(b.type(b.call("mul", {number, half})), f16({2}));
  EXPECT_EQ(b.type(b.call("mul", {zero, number})), f16({}));
  EXPECT_EQ(b.type(b.call("mul", {ints, number})), f32({2}));
  EXPECT_EQ(b.type(b.call("mul", {half, three})), f16({2}));
  EXPECT_EQ(b.type(b.call("mul", {three, number})), f32({}));
  EXPECT_EQ(b.type(b.call("pow", {ints, three})), i32({2}));
  EXPECT_THROW(b.call("pow", {ints, minus}), Error);
  EXPECT_EQ(b.type(b.call("masked_fill", {half, b.input("m", boolean({3, 1})), number})), f16({3, 2}));
  EXPECT_THROW(b.call("masked_fill", {ints, b.input("m", boolean({2})), number}), Error);
}

TEST(TorchOps, ElementwiseTypes) {
  EXPECT_EQ(typed("exp", {i32({2})}), "(2,) float32");
  EXPECT_EQ(typed("exp", {f16({2})}), "(2,) float16");
  EXPECT_EQ(typed("neg", {i32({2})}), "(2,) int32");
  EXPECT_EQ(typed("abs", {boolean({2})}), "abs: expected numbers, found (2,) bool");
  EXPECT_EQ(typed("silu", {i32({2})}), "silu: expected floating-point numbers, found (2,) int32");
  EXPECT_EQ(typed("gelu", {i32({2})}), "gelu: expected floating-point numbers, found (2,) int32");
  EXPECT_EQ(typed("logical_not", {f32({2})}), "(2,) bool");
  EXPECT_EQ(typed("div", {i32({2}), i32({2})}), "(2,) float32");
  EXPECT_EQ(typed("lt", {f32({2, 1}), i32({3})}), "(2, 3) bool");
  EXPECT_EQ(typed("logical_and", {f32({2}), i32({2})}), "(2,) bool");
  EXPECT_EQ(typed("where", {boolean({4, 1}), f32({3}), i32({})}), "(4, 3) float32");
  EXPECT_EQ(typed("where", {f32({3}), f32({3}), f32({3})}),
            "where: expected a condition of dtype bool, found (3,) float32, (3,) float32 and (3,) float32");
  EXPECT_THAT(typed("masked_fill", {f32({3}), f32({3}), f32({})}), HasSubstr("a mask of dtype bool"));
  EXPECT_THAT(typed("masked_fill", {f32({3}), boolean({3}), f32({1})}), HasSubstr("a value without dimensions"));
  EXPECT_EQ(typed("to", {f32({3})}, {{"dtype", DType::i32}}), "(3,) int32");
}

TEST(TorchOps, Reductions) {
  EXPECT_EQ(typed("sum", {f32({2, 3, 4})}), "() float32");
  EXPECT_EQ(typed("sum", {f32({2, 3, 4})}, dims({}, true)), "(1, 1, 1) float32");
  EXPECT_EQ(typed("sum", {f32({2, 3, 4})}, dims({-1, 0})), "(3,) float32");
  EXPECT_EQ(inferred("sum", {f32({2, 3, 4})}, dims({-1, 0})).integers("dims"), (List{0, 2}));
  EXPECT_EQ(inferred("sum", {f32({2, 3})}).integers("dims"), (List{0, 1}));
  EXPECT_EQ(typed("sum", {f32({})}), "() float32");
  EXPECT_EQ(typed("sum", {boolean({2})}), "() int64");
  EXPECT_EQ(typed("prod", {i32({2})}, dims({0}, true)), "(1,) int64");
  EXPECT_EQ(typed("amax", {i32({2, 3})}, dims({1})), "(2,) int32");
  EXPECT_EQ(typed("mean", {i32({2})}), "mean: expected floating-point numbers, found (2,) int32");
  EXPECT_EQ(typed("var", {f32({2, 3})}, dims({1})), "(2,) float32");
  EXPECT_EQ(typed("sum", {f32({2, 3})}, dims({2})), "sum: expected dims from -2 to 1, found 2");
  EXPECT_EQ(typed("sum", {f32({2, 3})}, dims({1, -1})), "sum: expected each dimension once, found [1, -1]");
  EXPECT_EQ(typed("softmax", {f32({2, 3})}, dim(-1)), "(2, 3) float32");
  EXPECT_EQ(typed("softmax", {f32({2, 3})}, dim(-3)), "softmax: expected dim from -2 to 1, found -3");
  EXPECT_EQ(typed("softmax", {f32({})}, dim(0)), "() float32");  // counts as a vector of one element
  EXPECT_EQ(typed("sum", {f32({})}, dims({-1}, true)), "() float32");
  EXPECT_EQ(typed("softmax", {f32({})}, dim(1)), "softmax: expected dim from -1 to 0, found 1");
  EXPECT_THAT(typed("log_softmax", {i32({2})}, dim(0)), HasSubstr("floating-point numbers"));
}

TEST(TorchOps, Norms) {
  EXPECT_EQ(typed("layer_norm", {f32({5, 2, 3}), f32({2, 3}), f32({2, 3})}, {{"dims", whole(2)}}), "(5, 2, 3) float32");
  EXPECT_EQ(typed("rms_norm", {f32({5, 3}), f32({5})}, {{"dims", whole(1)}}),
            "rms_norm: expected a weight (3,) float32, found (5, 3) float32 and (5,) float32");
  EXPECT_EQ(typed("layer_norm", {f32({5, 3})}, {{"dims", whole(1)}, {"eps", std::nan("")}}),
            "layer_norm: expected a number for eps, found nan");
  EXPECT_THAT(typed("layer_norm", {f32({5, 3}), f32({3}), f32({1})}, {{"dims", whole(1)}}),
              HasSubstr("expected a bias (3,) float32"));
  EXPECT_EQ(typed("rms_norm", {f32({5, 3})}, {{"dims", whole(3)}}),
            "rms_norm: expected dims from 1 to 2, the dimensions of the input, found 3");
  EXPECT_EQ(inferred("rms_norm", {f32({5, 3})}, {{"dims", whole(1)}}).number("eps"), 0x1p-23);
  EXPECT_EQ(inferred("layer_norm", {f32({5, 3})}, {{"dims", whole(1)}}).number("eps"), 1e-5);
}

TEST(TorchOps, Matmul) {
  EXPECT_EQ(typed("matmul", {f32({3, 4}), f32({4, 5})}), "(3, 5) float32");
  EXPECT_EQ(typed("matmul", {f32({4}), f32({4})}), "() float32");
  EXPECT_EQ(typed("matmul", {f32({4}), f32({7, 4, 5})}), "(7, 5) float32");
  EXPECT_EQ(typed("matmul", {f32({7, 3, 4}), f32({4})}), "(7, 3) float32");
  EXPECT_EQ(typed("matmul", {f32({7, 1, 3, 4}), f32({2, 4, 5})}), "(7, 2, 3, 5) float32");
  EXPECT_EQ(typed("matmul", {f32({3, 4}), f32({5, 6})}),
            "matmul: expected (…, M, K) and (…, K, N), found (3, 4) float32 and (5, 6) float32");
  EXPECT_EQ(typed("matmul", {f32({3, 4}), f16({4, 5})}),
            "matmul: expected numbers of one dtype, found (3, 4) float32 and (4, 5) float16");
  EXPECT_THAT(typed("matmul", {f32({}), f32({4})}), HasSubstr("at least one dimension"));
  EXPECT_THAT(typed("matmul", {f32({2, 3, 4}), f32({3, 4, 5})}), HasSubstr("shapes that broadcast"));
  EXPECT_EQ(typed("linear", {f32({2, 3, 4}), f32({5, 4}), f32({5})}), "(2, 3, 5) float32");
  EXPECT_THAT(typed("linear", {f32({2, 4}), f32({4, 5})}), HasSubstr("an input (…, in) and a weight (out, in)"));
  EXPECT_THAT(typed("linear", {f32({2, 4}), f32({5, 4}), f32({4})}), HasSubstr("a bias (out,)"));
}

TEST(TorchOps, Attention) {
  const auto type = [](const Types& types, Attributes a = {}) {
    return typed("scaled_dot_product_attention", types, a);
  };
  const Attributes gqa = {{"enable_gqa", true}}, causal = {{"is_causal", true}};
  const Types heads = {f32({1, 8, 5, 4}), f32({1, 2, 7, 4}), f32({1, 2, 7, 6})};
  EXPECT_EQ(type({f32({5, 4}), f32({7, 4}), f32({7, 6})}), "(5, 6) float32");
  EXPECT_EQ(type(heads, gqa), "(1, 8, 5, 6) float32");
  EXPECT_THAT(type(heads), HasSubstr("shapes that broadcast, found (1, 8) and (1, 2)"));
  EXPECT_THAT(type({heads[0], f32({1, 3, 7, 4}), f32({1, 3, 7, 6})}, gqa), HasSubstr("heads of q that are a multiple"));
  EXPECT_THAT(type({heads[0], heads[1], f32({1, 8, 7, 6})}, gqa), HasSubstr("as many heads of k as of v"));
  EXPECT_THAT(type({f32({5, 4}), f32({7, 4}), f32({7, 6})}, gqa), HasSubstr("a dimension of heads"));
  EXPECT_THAT(type({f32({5, 4}), f32({7, 3}), f32({7, 6})}), HasSubstr("q (…, L, E), k (…, S, E) and v (…, S, Ev)"));
  EXPECT_THAT(type({i32({5, 4}), i32({7, 4}), i32({7, 6})}), HasSubstr("floating-point numbers"));
  Types masked = heads;
  masked.push_back(boolean({5, 7}));
  EXPECT_EQ(type(masked, gqa), "(1, 8, 5, 6) float32");
  masked[3] = f32({8, 1, 7});
  EXPECT_EQ(type(masked, gqa), "(1, 8, 5, 6) float32");
  EXPECT_EQ(type(masked, {{"enable_gqa", true}, {"is_causal", true}}),
            "scaled_dot_product_attention: expected either is_causal or a mask, found both");
  masked[3] = f32({2, 1, 5, 7});
  EXPECT_THAT(type(masked, gqa), HasSubstr("a mask that broadcasts to (1, 8, 5, 7), found (2, 1, 5, 7)"));
  masked[3] = f16({5, 7});
  EXPECT_THAT(type(masked, gqa), HasSubstr("a mask of dtype bool or of q's dtype"));
  const Node node = inferred("scaled_dot_product_attention", {f32({5, 16}), f32({7, 16}), f32({7, 6})}, causal);
  EXPECT_EQ(node.number("scale"), 0.25);
}

}  // namespace
}  // namespace deplo::ir::torch
