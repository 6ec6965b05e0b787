// `deplo compile --tile` with arguments: a tile program's kernels at every level, for every target.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/inspect/compile.h"
#include "core/error.h"

namespace deplo::apps {
namespace {

using ::testing::HasSubstr;

const std::string root = DEPLO_SOURCE_DIR;

std::string compiled(const engine::TileSource& source, const std::string& target, const std::string& level) {
  CompileOptions options;
  options.target = target;
  options.level = level;
  options.selection.source = source;
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
  const engine::TileSource matmul{root + "/tests/data/tile_programs/matmul.tileirbc",
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

}  // namespace
}  // namespace deplo::apps
