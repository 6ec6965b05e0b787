#include "engine/source/experiment_text.h"

#include <gtest/gtest.h>

namespace deplo::engine {
namespace {

std::vector<KernelCase> kernels_of(const Entry& entry) {
  Inputs none;
  return merge_equal(engine::kernels_of(entry, none, {}));
}

void expect_the_same(const Source& source) {
  Experiment written;
  written.file = "test";
  written.device = "interpreter";
  written.strategy = "random";
  written.options.seed = 12345678901234567;
  written.seconds = 0.1;
  written.trials = 3;
  written.patience = 2;
  written.goal = 1.05;
  const Entry entry{source, "a: \"name\"", "test:1"};
  written.text = print(written, entry);
  written.kernels = kernels_of(entry);

  const Experiment read = parse_experiment(written.text, "test", "");
  EXPECT_EQ(read.file, written.file);
  EXPECT_EQ(read.name, written.name);
  EXPECT_EQ(read.text, written.text);
  EXPECT_EQ(read.target, written.target);
  EXPECT_EQ(read.device, written.device);
  EXPECT_EQ(read.strategy, written.strategy);
  EXPECT_EQ(read.options.seed, written.options.seed);
  EXPECT_EQ(read.options.parameters, written.options.parameters);
  EXPECT_EQ(read.seconds, written.seconds);
  EXPECT_EQ(read.trials, written.trials);
  EXPECT_EQ(read.patience, written.patience);
  EXPECT_EQ(read.goal, written.goal);
  ASSERT_EQ(read.kernels.size(), written.kernels.size()) << written.text;
  for (std::size_t i = 0; i < read.kernels.size(); ++i) {
    EXPECT_EQ(read.kernels[i].name, written.kernels[i].name);
    EXPECT_EQ(read.kernels[i].place, written.kernels[i].place);
    EXPECT_EQ(read.kernels[i].loop, written.kernels[i].loop);
    EXPECT_EQ(read.kernels[i].same, written.kernels[i].same);
  }
}

TEST(ExperimentText, ReadsAsTheSameExperiment) {
  expect_the_same(
      {Expression{"x = torch.randn(3, 5); F.softmax(x, dim=-1) @ torch.randn(5, 2)  # 'a' \"b\" \\", "expression"}});
  expect_the_same({Pt2File{DEPLO_SOURCE_DIR "/tests/data/pt2/mlp_2.11.0.pt2"}});
  expect_the_same({Pt2File{DEPLO_SOURCE_DIR "/tests/data/pt2/dynamic_2.15.0.pt2", {{"s77", 6}, {"s27", 12}}}});
  expect_the_same({ModelBlock{"tinyllama-1.1b", 2, 7}});
  expect_the_same({LoopKernel{"softmax", {{"M", 3}, {"N", 17}}, "test"}});
  expect_the_same({TileSource{
      DEPLO_SOURCE_DIR "/experiments/tile/vector_add.tile", "", {"a=f32[128]", "b=f32[128]", "c=f32[128]"}, "1"}});
  expect_the_same({Expression{"torch.randn(3) * 2", "expression"}, {.dtype = ir::DType::f16}});
  expect_the_same({ModelBlock{"tinyllama-1.1b", 0, 3}, {.dtype = ir::DType::bf16, .allow_tf32 = true}});
  expect_the_same({LoopKernel{"softmax", {{"M", 3}, {"N", 17}}, "test"}, {.dtype = ir::DType::bf16}});
  const Expression attention{
      "F.scaled_dot_product_attention(torch.randn(1, 2, 64, 16), torch.randn(1, 2, 512, 16), torch.randn(1, 2, 512, "
      "16))",
      "expression"};
  expect_the_same({attention, {.fixed = {{"attention", "split"}}}});
  expect_the_same({attention, {.fixed = {{"attention", "fused"}, {"key_parts", std::int64_t{4}}}}});
}

}  // namespace
}  // namespace deplo::engine
