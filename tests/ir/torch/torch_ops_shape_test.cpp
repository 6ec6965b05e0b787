// Types and normalised attributes of operations that rearrange, select or create elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "ir/torch/operations/ops.h"
#include "ir/torch/torch_case.h"

namespace deplo::ir::torch {
namespace {

using ::testing::HasSubstr;
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                       least = std::numeric_limits<std::int64_t>::min();

TEST(TorchOps, TransposeAndPermute) {
  EXPECT_EQ(typed("transpose", {f32({2, 3, 4})}, {{"dim0", whole(-1)}, {"dim1", whole(0)}}), "(4, 3, 2) float32");
  EXPECT_EQ(typed("transpose", {f32({2, 3})}, {{"dim0", whole(0)}, {"dim1", whole(2)}}),
            "transpose: expected dim1 from -2 to 1, found 2");
  EXPECT_EQ(typed("permute", {f32({2, 3, 4})}, {{"dims", List{-1, 0, 1}}}), "(4, 2, 3) float32");
  EXPECT_EQ(inferred("permute", {f32({2, 3, 4})}, {{"dims", List{-1, 0, 1}}}).integers("dims"), (List{2, 0, 1}));
  EXPECT_THAT(typed("permute", {f32({2, 3, 4})}, {{"dims", List{0, 1}}}), HasSubstr("each dimension once"));
  EXPECT_THAT(typed("permute", {f32({2, 3})}, {{"dims", List{0, -2}}}), HasSubstr("each dimension once"));
}

TEST(TorchOps, Reshape) {
  EXPECT_EQ(typed("reshape", {f32({2, 3, 4})}, shape({6, -1})), "(6, 4) float32");
  EXPECT_EQ(inferred("reshape", {f32({2, 3, 4})}, shape({6, -1})).integers("shape"), (List{6, 4}));
  EXPECT_EQ(typed("reshape", {f32({1})}, shape({})), "() float32");
  EXPECT_EQ(typed("reshape", {f32({})}, shape({-1})), "(1,) float32");
  const std::string message = "reshape: expected a shape of 24 elements with at most one extent of -1, found ";
  EXPECT_EQ(typed("reshape", {f32({2, 3, 4})}, shape({5, -1})), message + "(5, -1)");
  EXPECT_EQ(typed("reshape", {f32({2, 3, 4})}, shape({-1, -1})), message + "(-1, -1)");
  EXPECT_EQ(typed("reshape", {f32({2, 3, 4})}, shape({25})), message + "(25,)");
  EXPECT_EQ(typed("reshape", {f32({2, 3, 4})}, shape({-2, -12})), message + "(-2, -12)");
  EXPECT_EQ(typed("reshape", {f32({2, 3, 4})}, shape({0, -1})), message + "(0, -1)");
  EXPECT_THAT(typed("reshape", {f32({2, 3, 4})}, shape({most, most})), HasSubstr(message));
}

TEST(TorchOps, SqueezeAndUnsqueeze) {
  EXPECT_EQ(typed("unsqueeze", {f32({2, 3})}, dim(-1)), "(2, 3, 1) float32");
  EXPECT_EQ(typed("unsqueeze", {f32({2, 3})}, dim(0)), "(1, 2, 3) float32");
  EXPECT_EQ(typed("unsqueeze", {f32({2, 3})}, dim(3)), "unsqueeze: expected dim from -3 to 2, found 3");
  EXPECT_EQ(typed("squeeze", {f32({1, 2, 1})}), "(2,) float32");
  EXPECT_EQ(typed("squeeze", {f32({1, 2, 1})}, {{"dims", List{-1}}}), "(1, 2) float32");
  EXPECT_EQ(typed("squeeze", {f32({1, 2, 1})}, {{"dims", List{1}}}), "(1, 2, 1) float32");
  EXPECT_EQ(inferred("squeeze", {f32({1, 2, 1})}, {{"dims", List{1, -1}}}).integers("dims"), List{2});
  EXPECT_THAT(typed("squeeze", {f32({1, 2})}, {{"dims", List{2}}}), HasSubstr("dims from -2 to 1"));
}

TEST(TorchOps, Expand) {
  EXPECT_EQ(typed("expand", {f32({3, 1})}, shape({2, -1, 4})), "(2, 3, 4) float32");
  EXPECT_EQ(inferred("expand", {f32({3, 1})}, shape({2, -1, 4})).integers("shape"), (List{2, 3, 4}));
  EXPECT_EQ(typed("expand", {f32({})}, shape({2})), "(2,) float32");
  EXPECT_EQ(typed("expand", {f32({3, 2})}, shape({3, 4})),
            "expand: expected a shape that (3, 2) expands to, found (3, 4)");
  EXPECT_THAT(typed("expand", {f32({3, 2})}, shape({2})), HasSubstr("found (2,)"));
  EXPECT_EQ(typed("expand", {f32({3})}, shape({-1, 3})), "expand: expected extents of at least 0, found (-1, 3)");
  EXPECT_THAT(typed("expand", {f32({1})}, shape({most})), HasSubstr("at most 2^40 elements"));
}

TEST(TorchOps, SliceClampsAsPython) {
  const auto slice = [](std::int64_t start, std::int64_t end, std::int64_t step) {
    return Attributes{{"dim", whole(-1)}, {"start", start}, {"end", end}, {"step", step}};
  };
  EXPECT_EQ(typed("slice", {f32({2, 10})}, dim(1)), "(2, 10) float32");
  EXPECT_EQ(typed("slice", {f32({2, 10})}, slice(5, 8, 1)), "(2, 3) float32");
  EXPECT_EQ(typed("slice", {f32({2, 10})}, slice(-3, most, 1)), "(2, 3) float32");
  EXPECT_EQ(typed("slice", {f32({2, 10})}, slice(least, -1, 4)), "(2, 3) float32");
  EXPECT_EQ(typed("slice", {f32({2, 10})}, slice(0, 10, most)), "(2, 1) float32");
  const Node node = inferred("slice", {f32({2, 10})}, slice(-3, 99, 2));
  EXPECT_EQ((List{node.integer("dim"), node.integer("start"), node.integer("end"), node.integer("step")}),
            (List{1, 7, 10, 2}));
  const Node one = inferred("slice", {f32({2, 10})}, slice(2, 10, 8));
  EXPECT_EQ((List{one.integer("start"), one.integer("end"), one.integer("step")}), (List{2, 3, 1}));
  EXPECT_EQ(typed("slice", {f32({2, 10})}, slice(5, 5, 1)), "(2, 0) float32");
  EXPECT_EQ(typed("slice", {f32({2, 10})}, slice(7, 5, 3)), "(2, 0) float32");
  EXPECT_EQ(typed("slice", {f32({2, 10})}, slice(0, 5, 0)), "slice: expected a step of at least 1, found 0");
  EXPECT_EQ(typed("select", {f32({2, 10})}, {{"dim", whole(0)}, {"index", whole(-1)}}), "(10,) float32");
  EXPECT_EQ(typed("select", {f32({2, 10})}, {{"dim", whole(0)}, {"index", whole(2)}}),
            "select: expected index from -2 to 1, found 2");
}

TEST(TorchOps, CatAndStack) {
  EXPECT_EQ(typed("cat", {f32({2, 3}), i32({2, 4})}, dim(-1)), "(2, 7) float32");
  EXPECT_EQ(typed("cat", {f32({2, 3}), f32({3, 3})}), "(5, 3) float32");
  EXPECT_EQ(typed("cat", {f32({2, 3}), f32({3, 3})}, dim(1)),
            "cat: expected shapes that are equal except in dimension 1, found (2, 3) float32 and (3, 3) float32");
  EXPECT_THAT(typed("cat", {f32({2, 3}), f32({3})}), HasSubstr("tensors of one rank"));
  EXPECT_THAT(typed("cat", {f32({}), f32({})}), HasSubstr("a tensor with a dimension 0"));
  EXPECT_EQ(typed("stack", {f32({2, 3}), f32({2, 3})}, dim(-1)), "(2, 3, 2) float32");
  EXPECT_EQ(typed("stack", {f32({}), f32({}), f32({})}), "(3,) float32");
  EXPECT_THAT(typed("stack", {f32({2}), f32({3})}), HasSubstr("tensors of one shape"));
  EXPECT_THAT(typed("cat", {f32({1 << 20, 1 << 20}), f32({1 << 20, 1 << 20})}), HasSubstr("at most 2^40 elements"));
}

TEST(TorchOps, LookUps) {
  EXPECT_EQ(typed("embedding", {f16({10, 4}), i32({2, 3})}), "(2, 3, 4) float16");
  EXPECT_THAT(typed("embedding", {f32({10, 4}), f32({2})}), HasSubstr("indices of int32 or int64"));
  EXPECT_THAT(typed("embedding", {f32({10}), i32({2})}), HasSubstr("a weight of two dimensions"));
  EXPECT_EQ(typed("gather", {f32({3, 5}), i32({2, 9})}, dim(1)), "(2, 9) float32");
  EXPECT_THAT(typed("gather", {f32({3, 5}), i32({4, 9})}, dim(1)),
              HasSubstr("no larger than the tensor except in dimension 1"));
  EXPECT_THAT(typed("gather", {f32({3, 5}), i32({4})}, dim(1)), HasSubstr("as many dimensions"));
}

TEST(TorchOps, SelectedRowsTakeThePlaceOfTheirDimension) {
  EXPECT_EQ(typed("index_select", {f16({5, 3, 7}), i32({2, 4})}, dim(-2)), "(5, 2, 4, 7) float16");
  EXPECT_EQ(typed("index_select", {f32({5}), i32({})}), "() float32");
  EXPECT_THAT(typed("index_select", {f32({5}), boolean({5})}), HasSubstr("indices of integers"));
  EXPECT_THAT(typed("index_select", {f32({}), i32({5})}), HasSubstr("at least one dimension"));
  EXPECT_EQ(typed("one_hot", {i32({2, 3})}, {{"num_classes", whole(5)}}), "(2, 3, 5) int64");
  EXPECT_THAT(typed("one_hot", {i32({2})}, {{"num_classes", whole(-1)}}), HasSubstr("num_classes of at least 1"));
}

TEST(TorchOps, Scatters) {
  EXPECT_EQ(typed("scatter", {f32({3, 5}), i32({3, 9}), f32({3, 9})}, dim(1)), "(3, 5) float32");
  EXPECT_THAT(typed("scatter", {f32({3, 5}), i32({2, 9}), f32({2, 9})}, dim(1)),
              HasSubstr("of one shape, which is the tensor's except in dimension 1"));
  EXPECT_THAT(typed("scatter_add", {f32({3}), i32({2}), f32({4})}, dim(0)), HasSubstr("of one shape"));
  EXPECT_THAT(typed("scatter_add", {f32({3}), i32({2}), f16({2})}, dim(0)), HasSubstr("numbers of one dtype"));
  EXPECT_THAT(typed("scatter_add", {f32({1 << 20}), i32({1 << 20}), f32({1 << 20})}, dim(0)),
              HasSubstr("at most 67108864 pairs of a place and an index"));
}

TEST(TorchOps, OrdersAndSumsAlongADimension) {
  EXPECT_EQ(typed("argsort", {f16({3, 5})}, dim(0)), "(3, 5) int64");
  EXPECT_EQ(typed("argsort", {f32({3, 16385})}), "(3, 16385) int64");
  EXPECT_EQ(typed("argsort", {f32({3, 5})}, {{"count", whole(2)}}), "(3, 2) int64");
  EXPECT_THAT(typed("argsort", {f32({3, 5})}, {{"count", whole(6)}}), HasSubstr("a count from 0 to 5"));
  EXPECT_EQ(typed("argsort", {f32({})}), "() int64");
  EXPECT_EQ(typed("searchsorted", {f32({9}), f32({2, 3})}), "(2, 3) int64");
  EXPECT_EQ(typed("searchsorted", {f32({2, 9}), f32({2, 3})}), "(2, 3) int64");
  EXPECT_THAT(typed("searchsorted", {f32({2, 9}), f32({3})}), HasSubstr("of one dimension"));
  EXPECT_THAT(typed("searchsorted", {f32({2, 9}), f32({3, 3})}), HasSubstr("one for each row"));
  EXPECT_THAT(typed("searchsorted", {f32({9}), i32({3})}), HasSubstr("numbers of one dtype"));
  EXPECT_EQ(typed("cumsum", {boolean({3, 5})}, dim(-1)), "(3, 5) int64");
  EXPECT_EQ(typed("cumsum", {bf16({3, 5})}, dim(0)), "(3, 5) bfloat16");
}

TEST(TorchOps, TrianglesAreClamped) {
  const auto diagonal = [](std::int64_t value) {
    return inferred("triu", {f32({2, 3})}, {{"diagonal", value}}).integer("diagonal");
  };
  EXPECT_EQ(diagonal(1), 1);
  EXPECT_EQ(diagonal(least), -2);
  EXPECT_EQ(diagonal(most), 3);
  EXPECT_THAT(typed("tril", {f32({3})}), HasSubstr("at least two dimensions"));
}

TEST(TorchOps, WithoutElements) {
  EXPECT_EQ(typed("add", {f32({0, 4}), f32({3, 1, 1})}), "(3, 0, 4) float32");
  EXPECT_EQ(typed("matmul", {f32({3, 0}), f32({0, 5})}), "(3, 5) float32");
  EXPECT_EQ(typed("cat", {f32({0}), f32({3, 4}), f32({0, 4})}), "(3, 4) float32");
  EXPECT_EQ(typed("reshape", {f32({0, 4})}, shape({-1, 2})), "(0, 2) float32");
  EXPECT_EQ(typed("reshape", {f32({0, 4})}, shape({-1, 0})),
            "reshape: expected a shape of 0 elements with at most one extent of -1, found (-1, 0)");
  EXPECT_EQ(typed("amax", {f32({0, 4})}, {{"dims", List{1}}}), "(0,) float32");
  EXPECT_EQ(typed("amax", {f32({0, 4})}, {{"dims", List{0}}}),
            "amax: expected at least one element to reduce, found (0, 4) float32");
  EXPECT_EQ(typed("select", {f32({0, 4})}, {{"dim", whole(0)}, {"index", whole(0)}}),
            "select: expected elements along dimension 0, found (0, 4) float32");
}

TEST(TorchOps, MadeOfNothing) {
  const auto arange = [](std::int64_t start, std::int64_t end, std::int64_t step) {
    return typed("arange", {}, {{"start", start}, {"end", end}, {"step", step}});
  };
  EXPECT_EQ(typed("arange", {}, {{"end", whole(5)}, {"dtype", DType::f32}}), "(5,) float32");
  EXPECT_EQ(arange(0, 5, 2), "(3,) int64");
  EXPECT_EQ(arange(5, 0, -2), "(3,) int64");
  EXPECT_EQ(arange(5, 5, 1), "(0,) int64");
  EXPECT_EQ(arange(5, 2, 1), "arange: expected bounds in the direction of the step, found 5 to 2 by 1");
  EXPECT_EQ(arange(0, 5, 0), "arange: expected a step other than 0, found 0");
  EXPECT_EQ(arange(0, most, 1), "arange: expected end from -2^53 to 2^53, found 9223372036854775807");
  EXPECT_THAT(arange(0, 5, least), HasSubstr("expected step from"));
  const auto full = [](Attribute value) { return typed("full", {}, {{"shape", List{2, 3}}, {"value", value}}); };
  EXPECT_EQ(full(1.5), "(2, 3) float32");
  EXPECT_EQ(full(whole(1)), "(2, 3) int64");
  EXPECT_EQ(full(true), "(2, 3) bool");
  EXPECT_EQ(full(DType::f32), "full: expected a number for value, found another kind of value");
  EXPECT_EQ(typed("full", {}, {{"shape", List{0}}, {"value", 1.5}}), "(0,) float32");
  EXPECT_EQ(typed("full", {}, {{"shape", List{-1}}, {"value", 1.5}}),
            "full: expected extents of at least 0, found (-1,)");
  EXPECT_THAT(typed("full", {}, {{"shape", List{2}}, {"value", 1e10}, {"dtype", DType::i32}}),
              HasSubstr("a value that int32 holds"));
}

}  // namespace
}  // namespace deplo::ir::torch
