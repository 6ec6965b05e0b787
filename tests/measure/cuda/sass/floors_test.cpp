// Floors of the machine code that NVRTC makes of heuristic schedules: docs/performance.md, "Machine code", has the
// figures. The suite's 84 kernels are compiled in tests/apps/inspect/machine_code_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/emit/emit.h"
#include "measure/cuda/fixture.h"
#include "measure/cuda/library.h"
#include "measure/cuda/sass/disassemble.h"
#include "measure/cuda/sass/instruction_mix.h"
#include "rules/cost/banks.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::measure::cuda::sass {
namespace {

/// NVRTC 12 schedules otherwise; the figures are of 13.
#define DEPLO_NEED_MACHINE_CODE(architecture)                                                                  \
  do {                                                                                                         \
    DEPLO_NEED_NVRTC(architecture);                                                                            \
    if (std::stod(Nvrtc::get().version()) < 13) GTEST_SKIP() << "NVRTC " << Nvrtc::get().version() << " < 13"; \
    if (!find_program("nvdisasm")) GTEST_SKIP() << "no nvdisasm";                                              \
  } while (false)

KernelMix mix_of(const ir::Program& loop, const char* architecture) {
  const Target target = load_target(architecture);
  const ir::Program kernel = rules::materialize(rules::heuristic(loop, target).program(), target);
  const auto cubin = compile_cubin(ir::emit(kernel, target), architecture);
  if (!cubin.ok()) throw Error(cubin.failure().message);
  EXPECT_EQ(cubin.value().resources.spill_bytes, 0);
  EXPECT_EQ(cubin.value().resources.stack_bytes, 0);
  return kernel_mix(parse_listing(disassemble(cubin.value().code)));
}

KernelMix mix_of(const char* kernel, const ir::Symbols& symbols, const char* architecture) {
  return mix_of(ir::parse(rules::kernel(kernel).text, symbols, kernel), architecture);
}

class Floors : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { DEPLO_NEED_MACHINE_CODE(GetParam()); }
};

void expect_arithmetic(const KernelMix& kernel, double least) {
  const LoopMix* hot = hot_loop(kernel);
  ASSERT_NE(hot, nullptr);
  EXPECT_GE(hot->mix.arithmetic_share(), least) << hot->mix.instructions << " instructions";
  EXPECT_EQ(kernel.whole.calls, 0);
}

// sm_80 copies by cp.async, sm_90 by TMA.
TEST_P(Floors, Matmuls) {
  expect_arithmetic(mix_of("matmul", {{"M", 1024}, {"N", 1024}, {"K", 1024}}, GetParam()), 0.89);
  expect_arithmetic(mix_of("matmul", {{"M", 4096}, {"N", 4096}, {"K", 4096}}, GetParam()), 0.89);
  expect_arithmetic(mix_of("matmul", {{"M", 32}, {"N", 3584}, {"K", 3584}}, GetParam()), 0.85);
}

TEST_P(Floors, Rows) {
  const KernelMix softmax = mix_of("softmax", {{"M", 14336}, {"N", 512}}, GetParam()),
                  rmsnorm = mix_of("rmsnorm", {{"M", 512}, {"D", 3584}}, GetParam());
  EXPECT_LE(softmax.whole.instructions, 350);
  EXPECT_LE(rmsnorm.whole.instructions, 260);
  EXPECT_EQ(softmax.whole.calls, 0);
  EXPECT_EQ(rmsnorm.whole.calls, 0);
}

// docs/cuda.md, "Division".
TEST_P(Floors, Divisions) {
  for (const char* value : {"divide(in0, in1)", "divide(in0, 3)", "reciprocal(in0)", "sqrt(in0)", "sigmoid(in0)"}) {
    const std::string text = fmt::format(
        "=== loop: k ===\ninput x: f32[4096]\ninput d: f32[4096]\noutput y: f32[4096]\n"
        "for a0 in 0..4096: # free\n  in0 = load x[a0]\n  in1 = load d[a0]\n  v0 = {}\n  y[a0] = v0\n",
        value);
    EXPECT_EQ(mix_of(ir::parse(text), GetParam()).whole.calls, 0) << value;
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, Floors, testing::Values("sm_80", "sm_90"));

class TensorFloors : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { DEPLO_NEED_MACHINE_CODE(GetParam()); }
};

// Of the least cycles of a trip at least 70 % are those of the tensor cores: nothing else takes longer than they by more.
TEST_P(TensorFloors, MatmulsOfSixteenBits) {
  const Target target = load_target(GetParam());
  for (const std::int64_t n : {1024, 2048, 4096}) {
    SCOPED_TRACE(n);
    ir::Program loop = ir::parse(rules::kernel("matmul").text, {{"M", n}, {"N", n}, {"K", n}}, "matmul");
    for (ir::Buffer& buffer : loop.buffers) buffer.dtype = ir::DType::bf16;
    const KernelMix kernel = mix_of(loop, GetParam());
    const LoopMix* hot = hot_loop(kernel);
    ASSERT_NE(hot, nullptr);
    InstructionMix products;
    products.pipes[Pipe::tensor] = hot->mix.pipes.at(Pipe::tensor);
    const auto cycles = static_cast<double>(issue_bound(hot->mix, GetParam()).cycles);
    EXPECT_GE(static_cast<double>(issue_bound(products, GetParam()).cycles) / cycles, 0.7) << cycles;
    const ir::Program tile = rules::heuristic(loop, target).program();
    for (const rules::WarpAccess& access : rules::warp_accesses(tile, rules::Unrolled::as_marked)) {
      const rules::BankCost cost = rules::bank_cost(access, *access.stage);
      EXPECT_LE(cost.wavefronts, cost.least) << access.stage->buffer;
    }
  }
}

// By mma.sync of tf32, and of 16 bits in the smaller depth: either way of reading an operand.
TEST_P(TensorFloors, MatmulsOfTf32) {
  const Target target = load_target(GetParam());
  for (const char* name : {"matmul", "linear"}) {
    SCOPED_TRACE(name);
    ir::Program loop = ir::parse(rules::kernel(name).text, {{"M", 2048}, {"N", 2048}, {"K", 2048}}, name);
    loop.allow_tf32 = true;
    const KernelMix kernel = mix_of(loop, GetParam());
    ASSERT_GT(kernel.whole.pipes.contains(Pipe::tensor), 0);
    const LoopMix* hot = hot_loop(kernel);
    ASSERT_NE(hot, nullptr);
    EXPECT_GT(hot->mix.pipes.contains(Pipe::tensor), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, TensorFloors, testing::Values("sm_80", "sm_120"));

}  // namespace
}  // namespace deplo::measure::cuda::sass
