#include "ir/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpret/softmax_like.h"

namespace deplo::ir {
namespace {

using ::testing::HasSubstr;

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
