// Floors that the machine code of heuristic schedules must reach, as NVRTC makes it. docs/performance.md, "Machine
// code", has the figures. tests/apps/inspect/machine_code_test.cpp compiles the suite's 84 kernels.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "ir/emit/emit.h"
#include "ir/hardware/mma.h"
#include "ir/torch/expression/expression.h"
#include "measure/cuda/fixture.h"
#include "measure/cuda/library.h"
#include "measure/cuda/sass/disassemble.h"
#include "measure/cuda/sass/instruction_mix.h"
#include "rules/cost/banks.h"
#include "rules/decompose/decompose.h"
#include "rules/fusion/fuse.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::measure::cuda::sass {
namespace {

/// The figures are those of NVRTC 13. NVRTC 12 schedules instructions differently.
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

// Returns the kernel of the expression that has the most operations.
ir::Program product_of(std::string_view code, ir::DType dtype, const char* architecture) {
  const rules::FuseOptions options{.target = load_target(architecture)};
  const ir::torch::Graph graph = ir::torch::parse_expression(code, "<expression>", dtype);
  const ir::Module module = rules::fuse(rules::compose(rules::decompose(graph)), {}, options, {}).value().module;
  return *std::ranges::max_element(module.kernels, {},
                                   [](const ir::Program& kernel) { return ir::work(kernel).flops; });
}

// Convolutions of ResNet's stages. A block's rows cross lines of the image, and one convolution has a stride. There are
// enough images to fill all units with large blocks.
constexpr std::array convolutions = {"nn.Conv2d(64, 128, 3, padding=1)(torch.randn(8, 64, 56, 56))",
                                     "nn.Conv2d(128, 256, 3, padding=1, stride=2)(torch.randn(128, 128, 28, 28))",
                                     "nn.Conv2d(512, 512, 3, padding=1)(torch.randn(512, 512, 7, 7))"};

class Floors : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { DEPLO_NEED_MACHINE_CODE(GetParam()); }
};

void expect_arithmetic(const KernelMix& kernel, double least) {
  const LoopMix* hot = hot_loop(kernel);
  ASSERT_NE(hot, nullptr);
  EXPECT_GE(hot->mix.arithmetic_share(), least) << hot->mix.instructions << " instructions";
  EXPECT_EQ(kernel.whole.calls, 0);
}

// sm_80 copies by cp.async. sm_90 copies by TMA and has a proxy fence in each trip of the loop.
TEST_P(Floors, Matmuls) {
  expect_arithmetic(mix_of("matmul", {{"M", 1024}, {"N", 1024}, {"K", 1024}}, GetParam()), 0.885);
  expect_arithmetic(mix_of("matmul", {{"M", 4096}, {"N", 4096}, {"K", 4096}}, GetParam()), 0.885);
  expect_arithmetic(mix_of("matmul", {{"M", 32}, {"N", 3584}, {"K", 3584}}, GetParam()), 0.85);
}

// A convolution has the same tile as a matmul. Its rows lie in lines of an image, so it needs additional arithmetic for
// addresses: up to five percentage points.
TEST_P(Floors, Convolutions) {
  const auto share = [](const KernelMix& kernel) { return hot_loop(kernel)->mix.arithmetic_share(); };
  const double of_matmul = share(mix_of("matmul", {{"M", 25088}, {"N", 128}, {"K", 576}}, GetParam()));
  for (const char* code : convolutions)
    EXPECT_GE(share(mix_of(product_of(code, ir::DType::f32, GetParam()), GetParam())), of_matmul - 0.05) << code;
}

TEST_P(Floors, Rows) {
  const KernelMix softmax = mix_of("softmax", {{"M", 14336}, {"N", 512}}, GetParam()),
                  rmsnorm = mix_of("rmsnorm", {{"M", 512}, {"D", 3584}}, GetParam());
  EXPECT_LE(softmax.whole.instructions, 350);
  EXPECT_LE(rmsnorm.whole.instructions, 260);
  EXPECT_EQ(softmax.whole.calls, 0);
  EXPECT_EQ(rmsnorm.whole.calls, 0);
}

// See docs/cuda.md, "Division".
TEST_P(Floors, Divisions) {
  for (const char* value : {"divide(in0, in1)", "divide(in0, 3)", "reciprocal(in0)", "sqrt(in0)", "sigmoid(in0)"}) {
    const std::string text = fmt::format(
        "=== loop: k ===\ninput x: f32[4096]\ninput d: f32[4096]\noutput y: f32[4096]\n"
        "for a0 in 0..4096: # free\n  in0 = load x[a0]\n  in1 = load d[a0]\n  v0 = {}\n  y[a0] = v0\n",
        value);
    EXPECT_EQ(mix_of(ir::parse(text), GetParam()).whole.calls, 0) << value;
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, Floors, ::testing::Values("sm_80", "sm_90"));

class TensorFloors : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { DEPLO_NEED_MACHINE_CODE(GetParam()); }
};

// Checks that the tensor cores take at least 70 % of the minimum cycles of a trip of the hot loop, so that no other
// unit takes much longer. Also checks that accesses to shared memory have no bank conflicts.
void expect_products(const ir::Program& loop, const char* architecture) {
  const Target target = load_target(architecture);
  const KernelMix kernel = mix_of(loop, architecture);
  const LoopMix* hot = hot_loop(kernel);
  ASSERT_NE(hot, nullptr);
  InstructionMix products;
  products.pipes[Pipe::tensor] = hot->mix.pipes.at(Pipe::tensor);
  const auto cycles = static_cast<double>(issue_bound(hot->mix, architecture).cycles);
  EXPECT_GE(static_cast<double>(issue_bound(products, architecture).cycles) / cycles, 0.7) << cycles;
  const ir::Program tile = rules::heuristic(loop, target).program();
  for (const rules::WarpAccess& access : rules::warp_accesses(tile, rules::Unrolled::as_marked)) {
    const rules::BankCost cost = rules::bank_cost(access, *access.stage);
    EXPECT_LE(cost.wavefronts, cost.min_wavefronts) << access.stage->buffer;
  }
}

ir::Program square_of_bf16(std::int64_t n) {
  ir::Program loop = ir::parse(rules::kernel("matmul").text, {{"M", n}, {"N", n}, {"K", n}}, "matmul");
  for (ir::Buffer& buffer : loop.buffers) buffer.dtype = ir::DType::bf16;
  return loop;
}

TEST_P(TensorFloors, MatmulsOfSixteenBits) {
  for (const std::int64_t n : {1024, 2048, 4096}) {
    SCOPED_TRACE(n);
    expect_products(square_of_bf16(n), GetParam());
  }
}

ir::Program attention_of_bf16(std::int64_t depth) {
  return ir::parse(rules::kernel("attention_causal").text, {{"H", 4}, {"Q", 2048}, {"D", depth}, {"E", depth}},
                   "attention_causal");
}

// The exponentials between the two products take less time than both products.
TEST_P(TensorFloors, Attention) {
  for (const std::int64_t depth : {64, 128}) {
    SCOPED_TRACE(depth);
    expect_products(attention_of_bf16(depth), GetParam());
  }
}

TEST_P(TensorFloors, Convolutions) {
  for (const char* code : convolutions) {
    SCOPED_TRACE(code);
    expect_products(product_of(code, ir::DType::bf16, GetParam()), GetParam());
  }
}

// In `linear`, both operands lie along k. In `matmul`, one lies across k.
TEST_P(TensorFloors, MatmulsOfTf32) {
  for (const char* name : {"linear", "matmul"}) {
    SCOPED_TRACE(name);
    ir::Program loop = ir::parse(rules::kernel(name).text, {{"M", 4096}, {"N", 4096}, {"K", 4096}}, name);
    loop.allow_tf32 = true;
    expect_products(loop, GetParam());
  }
}

TEST_P(TensorFloors, EveryAtomIsAnInstruction) {
  const Target target = load_target(GetParam());
  for (const ir::mma::Atom& atom : ir::mma::atoms()) {
    if (atom.of_warpgroup()) continue;  // WarpgroupFloors covers these
    ir::Program loop = ir::parse(rules::kernel("matmul").text, {{"M", 256}, {"N", 256}, {"K", 256}}, "matmul");
    const bool bits = atom.operands == ir::mma::Operands::float16;
    for (ir::Buffer& buffer : loop.buffers) buffer.dtype = bits ? ir::DType::f16 : ir::DType::f32;
    loop.allow_tf32 = !bits;
    const rules::Lowering lowering = rules::heuristic_with(loop, target, "mma.atom", Value(atom.name));
    const auto cubin = compile_cubin(ir::emit(rules::materialize(lowering.program(), target), target), GetParam());
    ASSERT_TRUE(cubin.ok()) << cubin.failure().message;
    const std::string name = bits ? fmt::format("HMMA.168{}.F32 ", atom.k) : "HMMA.1688.F32.TF32 ";
    EXPECT_NE(disassemble(cubin.value().code).find(name), std::string::npos) << atom.name;
  }
}

// Neither pass of a decode spills (mix_of() checks that) or calls a function.
TEST_P(TensorFloors, AttentionInPartsOfItsKeys) {
  for (const char* name : {"attention_parts", "attention_combine"}) {
    SCOPED_TRACE(name);
    for (const std::int64_t rows : {1, 16, 128}) {
      const bool parts = name == std::string_view("attention_parts");
      const ir::Symbols sizes =
          parts ? ir::Symbols{{"Q", rows}, {"D", 128}} : ir::Symbols{{"H", rows}, {"P", 16}, {"D", 128}};
      EXPECT_EQ(mix_of(name, sizes, GetParam()).whole.calls, 0) << rows;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, TensorFloors, ::testing::Values("sm_80", "sm_120"));

TEST(WarpgroupFloors, AttentionInPartsOfItsKeys) {
  DEPLO_NEED_MACHINE_CODE("sm_90");
  EXPECT_EQ(mix_of("attention_parts", {{"Q", 128}, {"D", 128}}, "sm_90").whole.calls, 0);
}

// Two warpgroups multiply 64 x 256 each. A third copies ahead of them into four slots, like the handwritten kernel in
// experiments/baselines/matmul_bf16_sm_90a.cu. ptxas would warn about products that it has to serialize.
TEST(WarpgroupFloors, ASpecializedMatmul) {
  DEPLO_NEED_MACHINE_CODE("sm_90");
  const Target target = load_target("sm_90");
  for (const std::int64_t n : {1024, 2048, 4096}) expect_products(square_of_bf16(n), "sm_90");
  const ir::Program loop = square_of_bf16(4096);
  const ir::KernelSource source =
      ir::emit(rules::materialize(rules::heuristic(loop, target).program(), target), target);
  for (const char* part : {"m64n256k16", "mbarrier_init(&empty[3], 8);"})
    EXPECT_NE(source.text.find(part), std::string::npos) << part;
  EXPECT_EQ(source.text.find("setmaxnreg"), std::string::npos) << "the launch deals out 168, enough for 128 sums";
  const auto cubin = compile_cubin(source, "sm_90");
  ASSERT_TRUE(cubin.ok()) << cubin.failure().message;
  EXPECT_EQ(cubin.value().warnings, "");
  EXPECT_EQ(cubin.value().resources.compiler_notes, "");
  EXPECT_LE(cubin.value().resources.registers, 168);
  const KernelMix kernel = kernel_mix(parse_listing(disassemble(cubin.value().code)));
  const LoopMix* hot = hot_loop(kernel);
  ASSERT_NE(hot, nullptr);
  EXPECT_EQ(issue_bound(hot->mix, "sm_90").limiter, Pipe::tensor);
  EXPECT_EQ(issue_bound(hot->mix, "sm_90").cycles, 4 * 128);  // each of 64 x 256 x 16, at 2,048 multiply-adds per cycle
  EXPECT_LE(hot->mix.instructions, 100);
}

// cp.async copies the rows, which lie in lines of an image. TMA copies the weights.
TEST(WarpgroupFloors, Convolutions) {
  DEPLO_NEED_MACHINE_CODE("sm_90");
  for (const char* code : convolutions) {
    SCOPED_TRACE(code);
    const ir::Program loop = product_of(code, ir::DType::bf16, "sm_90");
    expect_products(loop, "sm_90");
    const Target target = load_target("sm_90");
    const ir::KernelSource source =
        ir::emit(rules::materialize(rules::heuristic(loop, target).program(), target), target);
    EXPECT_NE(source.text.find("wgmma.mma_async"), std::string::npos);
    const auto cubin = compile_cubin(source, "sm_90");
    ASSERT_TRUE(cubin.ok()) << cubin.failure().message;
    EXPECT_EQ(cubin.value().warnings, "");
  }
}

// Two warpgroups process 128 rows and 128 keys at a time. The instructions between the products of one warpgroup are
// issued during the products of the other.
TEST(WarpgroupFloors, Attention) {
  DEPLO_NEED_MACHINE_CODE("sm_90");
  const Target target = load_target("sm_90");
  const ir::Program loop = attention_of_bf16(128);
  expect_products(loop, "sm_90");
  const ir::KernelSource source =
      ir::emit(rules::materialize(rules::heuristic(loop, target).program(), target), target);
  EXPECT_NE(source.text.find("m64n128k16"), std::string::npos);
  const auto cubin = compile_cubin(source, "sm_90");
  ASSERT_TRUE(cubin.ok()) << cubin.failure().message;
  EXPECT_EQ(cubin.value().warnings, "");
  const KernelMix kernel = kernel_mix(parse_listing(disassemble(cubin.value().code)));
  const LoopMix* hot = hot_loop(kernel);
  ASSERT_NE(hot, nullptr);
  EXPECT_EQ(issue_bound(hot->mix, "sm_90").limiter, Pipe::tensor);
  EXPECT_LE(hot->mix.instructions, 700);
}

}  // namespace
}  // namespace deplo::measure::cuda::sass
