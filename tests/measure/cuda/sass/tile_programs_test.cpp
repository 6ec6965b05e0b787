// A tile program's matmul in tiles of 128 x 256 x 64 has the same instructions as deplo's own matmul, for each type.
// The test is skipped if NVRTC or nvdisasm is missing.
#include <gtest/gtest.h>

#include "ir/emit/emit.h"
#include "measure/cuda/fixture.h"
#include "measure/cuda/library.h"
#include "measure/cuda/sass/disassemble.h"
#include "measure/cuda/sass/instruction_mix.h"
#include "rules/lower.h"
#include "rules/programs.h"
#include "rules/raise/launch.h"

namespace deplo::measure::cuda::sass {
namespace {

namespace tp = ir::tile_program;

/// Returns the instructions of the heuristic's schedule on sm_90.
InstructionMix instructions(const ir::Program& loop) {
  const Target target = load_target("sm_90");
  const auto source = ir::emit(rules::materialize(rules::heuristic(loop, target).program(), target), target);
  return kernel_mix(parse_listing(disassemble(compile_cubin(source, "sm_90").value_or_throw().code))).whole;
}

class TileMachineCode : public ::testing::TestWithParam<const char*> {};

TEST_P(TileMachineCode, IsThatOfOurMatmul) {
  DEPLO_NEED_NVRTC("sm_90");
  if (!find_program("nvdisasm")) GTEST_SKIP() << "no nvdisasm";
  const std::string name = GetParam();
  const bool f16 = name == "f16", tf32 = name == "tf32";
  rules::Launch launch;
  const ir::DType element = f16 ? ir::DType::f16 : ir::DType::f32;
  for (const char* array : {"A", "B", "C"}) launch.array(array, element, {512, 512});
  const ir::Program raised = launch.grid({4, 2, 1}).raise(rules::own("matmul_128x256x64_" + name)).kernels.at(0);
  ir::Program ours = ir::parse(rules::kernel("matmul").text, {{"M", 512}, {"N", 512}, {"K", 512}}, "matmul");
  for (ir::Buffer& buffer : ours.buffers) buffer.dtype = f16 ? ir::DType::f16 : ir::DType::f32;
  ours.allow_tf32 = tf32;
  const InstructionMix found = instructions(raised), expected = instructions(ours);
  if (!tf32) {
    EXPECT_EQ(found.kinds, expected.kinds);
    return;
  }
  // The tile program rounds its operands to tf32, and they are rounded again for the tensor cores. So only the number
  // of products is compared.
  constexpr Kind tensor = {InstructionClass::tensor};
  EXPECT_EQ(found.kinds.at(tensor), expected.kinds.at(tensor));
}

INSTANTIATE_TEST_SUITE_P(Types, TileMachineCode, ::testing::Values("f16", "f32", "tf32"),
                         [](const auto& type) { return std::string(type.param); });

}  // namespace
}  // namespace deplo::measure::cuda::sass
