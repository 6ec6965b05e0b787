// `deplo compile --tile` with arguments: a tile program's kernels at every level, for every target.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/inspect/compile.h"
#include "core/error.h"
#include "measure/cuda/library.h"

namespace deplo::apps {
namespace {

using ::testing::HasSubstr;

const std::string root = DEPLO_SOURCE_DIR;

std::string compiled(const engine::TileSource& source, const std::string& target, const std::string& level) {
  CompileOptions options;
  options.target = target;
  options.level = level;
  options.selection.source = {source};
  return compile(options);
}

engine::TileSource vector_add() {
  return {root + "/experiments/tile/vector_add.tile", "", {"a=f32[128]", "b=f32[128]", "c=f32[128]"}, "1"};
}

TEST(TileCompile, EveryLevel) {
  EXPECT_THAT(compiled(vector_add(), "", "loop"), HasSubstr("c[a0] = v0"));
  EXPECT_THAT(compiled(vector_add(), "opencl-cpu", "opencl"), HasSubstr("__kernel"));
  EXPECT_THAT(compiled(vector_add(), "sm_90", "cuda"), HasSubstr("__global__"));
}

TEST(TileCompile, TensorCoresMultiplyWhatAProgramMultiplies) {
  const engine::TileSource matmul{root + "/experiments/tile/exported/matmul.tileirbc",
                                  "",
                                  {"A=bf16[256,256]", "B=bf16[256,256]", "C=f32[256,256]"},
                                  "16,8"};
  EXPECT_THAT(compiled(matmul, "sm_80", "tile"), HasSubstr("mma=m16n8k16"));
}

TEST(TileCompile, SaysWhatIsMissing) {
  engine::TileSource one = vector_add();
  one.arguments.pop_back();
  EXPECT_THROW(compiled(one, "", "loop"), Error);
  one = vector_add();
  one.grid = "0";
  EXPECT_THROW(compiled(one, "", "loop"), Error);
  one = vector_add();
  one.arguments[1] = "b=f16[128]";
  try {
    compiled(one, "", "loop");
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("argument 2: expected an array of f32, found an array of f16 (b)"));
  }
  EXPECT_THROW(compiled(vector_add(), "", "torch"), Error) << "it has no level above loop";
}

// The output of NVIDIA's compiler for the bytecode is shown next to ours.
TEST(TileCompile, Tileiras) {
  const auto answer = [](const engine::TileSource& source) {
    CompileOptions options;
    options.selection.source = {source};
    options.instructions = true;
    options.tileiras = true;
    try {
      return compile(options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  if (!measure::cuda::find_program("nvdisasm")) GTEST_SKIP() << "no nvdisasm";
  EXPECT_THAT(answer(vector_add()),
              HasSubstr("--tileiras: expected bytecode, found text, which tileiras does not read"));
  const engine::TileSource scale{
      root + "/experiments/tile/exported/scale_13.1.tileirbc", "", {"x=f16[1000]", "y=f16[1000]", "2.0"}, "8"};
  if (!measure::cuda::find_program("tileiras"))
    EXPECT_THAT(answer(scale), HasSubstr("no tileiras: expected it next to the program"));
  else
    EXPECT_THAT(answer(scale), HasSubstr("\ntileiras "));
}

}  // namespace
}  // namespace deplo::apps
