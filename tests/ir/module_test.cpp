#include "ir/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deplo::ir {
namespace {

using ::testing::HasSubstr;

const char* const softmax_like = R"(=== loop: one ===
input x: f32[3, 7]
input weight: f32[7]
output y: f32[3, 7]
for a0 in 0..3: # free
  for a1 in 0..7: # reduce
    in0 = load x[a0, a1]
    acc0 <- maximum(acc0, in0)
  v0 = negative(acc0)
  for a2 in 0..7: # free
    in1 = load x[a0, a2]
    in2 = load weight[a2]
    v1 = fma(in1, in2, v0)
    y[a0, a2] = v1
)";

TEST(AnonymousText, RenamesInOrderOfAppearance) {
  EXPECT_EQ(anonymous_text(parse(softmax_like)), R"(=== loop: kernel ===
input b0: f32[3, 7]
input b1: f32[7]
output b2: f32[3, 7]
for a0 in 0..3: # free
  for a1 in 0..7: # reduce
    v0 = load b0[a0, a1]
    acc0 <- maximum(acc0, v0)
  v1 = negative(acc0)
  for a2 in 0..7: # free
    v2 = load b0[a0, a2]
    v3 = load b1[a2]
    v4 = fma(v2, v3, v1)
    b2[a0, a2] = v4
)");
}

// Names that change places: a renaming one after the other would mix them up. Sibling loops share an axis name.
TEST(AnonymousText, EqualForTheSameKernelUnderOtherNames) {
  const char* const other = R"(=== loop: other ===
input b2: f32[3, 7]
input b0: f32[7]
output b1: f32[3, 7]
for a1 in 0..3: # free
  for a0 in 0..7: # reduce
    v4 = load b2[a1, a0]
    acc7 <- maximum(acc7, v4)
  v1 = negative(acc7)
  for a0 in 0..7: # free
    v3 = load b2[a1, a0]
    v2 = load b0[a0]
    v0 = fma(v3, v2, v1)
    b1[a1, a0] = v0
)";
  EXPECT_EQ(anonymous_text(parse(other)), anonymous_text(parse(softmax_like)));
}

TEST(AnonymousText, IsAFixedPointAndVerifies) {
  const Program once = parse(anonymous_text(parse(softmax_like)));
  EXPECT_EQ(verify(once), "");
  EXPECT_EQ(anonymous_text(once), print(once));
}

TEST(AnonymousText, DiffersWhereTheComputationDoes) {
  const std::string base = softmax_like;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = base;
    text.replace(text.find(from), from.size(), to);
    return anonymous_text(parse(text));
  };
  const std::string before = anonymous_text(parse(base));
  EXPECT_NE(with("fma(in1, in2, v0)", "fma(in2, in1, v0)"), before);
  EXPECT_NE(with("maximum", "minimum"), before);
  EXPECT_NE(with("weight: f32[7]", "weight: f32[8]"), before);
  EXPECT_NE(with("x: f32[3, 7]", "x: f32[3, 7] strides=(1, 3)"), before);
  EXPECT_NE(with("load weight[a2]", "load weight[6]"), before);
}

TEST(AnonymousText, ValuesInIndicesAndCoordinates) {
  const char* const gather = R"(=== loop: gather ===
input table: f32[5, 4]
input which: i32[3]
output y: f32[3, 4]
for a0 in 0..3: # free
  row:i32 = load which[a0]
  for a1 in 0..4: # free
    in0 = load table[min(max(row, 0), 4), a1]
    y[a0, a1] = in0
)";
  EXPECT_THAT(anonymous_text(parse(gather)), HasSubstr("v0:i32 = load b1[a0]\n"));
  EXPECT_THAT(anonymous_text(parse(gather)), HasSubstr("v1 = load b0[min(max(v0, 0), 4), a1]\n"));

  Program program = parse(softmax_like);
  auto& loop = *program.body[0].as<Loop>();
  loop.body.insert(loop.body.begin(), Index{"place", {DType::i32, 1}, var("a0") * 2});
  EXPECT_THAT(anonymous_text(program), HasSubstr("v0:i32 = index (a0 * 2)\n"));
}

Module example() {
  Module module;
  const TensorType type{DType::f32, {3, 7}};
  module.tensors = {{Tensor::Kind::input, "x", type, {}, "", {}},
                    {Tensor::Kind::parameter, "weight", {DType::f32, {7}}, {}, "", {}},
                    {Tensor::Kind::computed, "y", type, {}, "", {}}};
  module.kernels = {parse(softmax_like)};
  module.outputs = {"y"};
  return module;
}

TEST(Module, FindsTensorsByName) {
  const Module module = example();
  ASSERT_NE(module.find("weight"), nullptr);
  EXPECT_EQ(module.find("weight")->kind, Tensor::Kind::parameter);
  EXPECT_EQ(module.find("nothing"), nullptr);
}

TEST(Module, PrintsItsKernelsOneAfterTheOther) {
  Module module = example();
  module.kernels.push_back(parse("=== loop: zero ===\noutput z: f32[2]\nfor a0 in 0..2: # free\n  z[a0] = 0\n"));
  const std::string text = print(module);
  EXPECT_TRUE(text.starts_with("# 0: x, weight -> y\n=== loop: one ===\n")) << text;
  EXPECT_THAT(text, HasSubstr("\n# 1: -> z\n=== loop: zero ===\n"));
  EXPECT_EQ(parse(text.substr(0, text.find("# 1:"))), module.kernels[0]) << "the title is a comment";
}

}  // namespace
}  // namespace deplo::ir
