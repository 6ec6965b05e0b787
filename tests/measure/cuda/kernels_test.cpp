// NVRTC compiles every emitted CUDA kernel to a cubin. The tests need no GPU. They are skipped if NVRTC is missing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "core/rng.h"
#include "drawn_seeds.h"
#include "ir/emit/emit.h"
#include "measure/cuda/fixture.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::measure::cuda {
namespace {

struct Shapes {
  const char* kernel;
  std::vector<std::string> symbols;  // the sizes, written like a trail
};

// Awkward sizes, sizes of models, and sizes of one element.
const std::vector<Shapes> shapes = {
    {"matmul", {"M=33 N=509 K=777", "M=512 N=3584 K=3584", "M=32 N=5632 K=2048", "M=1 N=1 K=1"}},
    {"matmul_add", {"M=33 N=509 K=777", "M=512 N=3584 K=18944"}},
    {"rmsnorm", {"M=33 D=777", "M=32 D=2048", "M=512 D=3584"}},
    {"softmax", {"M=33 N=509", "M=14336 N=512", "M=2 N=1"}},
    {"silu_mul", {"M=33 N=509", "M=512 N=18944"}},
    {"gelu", {"M=33 N=509", "M=32 N=18944"}},
    {"layernorm", {"M=33 D=777"}},
    {"column_sum", {"M=777 N=509"}},
    {"scalar_before", {"M=33 D=96"}},
    {"total", {"M=61 N=96"}},
    {"linear_bias", {"M=61 N=96 K=512"}},
    {"gqa_scores", {"M=128 N=128 K=64", "M=33 N=7 K=64"}},
    {"causal_softmax", {"H=2 S=512", "H=3 S=33"}},
    {"rope", {"H=28 S=33 D=64"}},
    {"embedding", {"S=33 V=32000 D=2048"}},
    {"gather_columns", {"M=33 N=64 V=7"}},
    {"compare", {"M=33 N=64", "M=7 N=33"}},
    {"integers", {"M=33 N=64", "M=7 N=33"}},
    {"count", {"M=33 N=777"}},
    {"triangle", {"M=33 N=64"}},
    {"down_prologue", {"M=33 N=128 K=96"}},
};

ir::Program loop_program(const std::string& name, const std::string& symbols) {
  ir::Symbols bound;
  for (const Choice& choice : parse_trail(symbols)) bound[choice.knob] = std::get<std::int64_t>(choice.value);
  return ir::parse(rules::kernel(name).text, bound, name);
}

class Compiles : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { DEPLO_NEED_NVRTC(GetParam()); }

  void check(const rules::Lowering& lowering, const std::string& what) {
    const ir::KernelSource source = ir::emit(rules::materialize(lowering.program(), target_), target_);
    const Result<Cubin> cubin = compile_cubin(source, GetParam());
    ASSERT_TRUE(cubin.ok()) << cubin.failure().message << "\n"
                            << what << " on " << GetParam() << "\n"
                            << print(lowering.trail()) << "\n"
                            << source.text;
    // These two notes mean that a loop of warpgroup products is not fully unrolled. Others, such as C7514, are limits
    // of ptxas itself and are only recorded with the trial.
    for (const char* partly_unrolled : {"C7519", "C7520"})
      EXPECT_THAT(cubin.value().resources.compiler_notes, ::testing::Not(::testing::HasSubstr(partly_unrolled)))
          << what << " on " << GetParam() << "\n"
          << print(lowering.trail());
    if (!source.dynamic_shared) {
      EXPECT_LE(cubin.value().resources.static_shared_bytes, source.shared_bytes) << source.text;
    }
    ++compiled_;
  }

  Target target_ = load_target(GetParam());
  int compiled_ = 0;
};

// Takes every second shape on sm_80 and sm_100, and the other shapes on sm_90 and sm_120.
TEST_P(Compiles, TheHeuristicScheduleOfEveryKernel) {
  const bool takes_even = target_.name == "sm_80" || target_.name == "sm_100";
  bool is_even = false;
  for (const Shapes& s : shapes)
    for (const std::string& symbols : s.symbols) {
      is_even = !is_even;
      if (is_even != takes_even) continue;
      check(rules::heuristic(loop_program(s.kernel, symbols), target_), fmt::format("{} {}", s.kernel, symbols));
      if (HasFatalFailure()) return;
    }
}

// PtxSchedules compiles and executes more random schedules.
TEST_P(Compiles, RandomSchedules) {
  for (const std::uint64_t seed : drawn_seeds(12)) {
    if (HasFatalFailure()) return;
    Rng rng(seed);
    const Shapes& s = shapes[rng.below(shapes.size())];
    const std::string& symbols = s.symbols[rng.below(s.symbols.size())];
    ir::Program loop = loop_program(s.kernel, symbols);
    constexpr std::array types = {ir::DType::f32, ir::DType::f16, ir::DType::bf16};
    for (ir::Buffer& buffer : loop.buffers)
      if (buffer.dtype == ir::DType::f32 && seed % 2 == 0) buffer.dtype = types[rng.below(types.size())];
    rules::Lowering lowering(std::move(loop), target_);
    while (lowering.fork()) lowering.choose(rng.below(lowering.fork()->options.size()));
    check(lowering, fmt::format("{} {}, seed {}", s.kernel, symbols, seed));
  }
  std::printf("%d kernels compiled for %s by NVRTC %s\n", compiled_, GetParam(), Nvrtc::get().version().c_str());
}

// Returns a random schedule of a bf16 Linear(3584, 3584) with 512 rows.
rules::Lowering random_linear(const Target& target, std::uint64_t seed) {
  Rng rng(seed);
  ir::Program loop = loop_program("linear", "M=512 N=3584 K=3584");
  for (ir::Buffer& buffer : loop.buffers) buffer.dtype = ir::DType::bf16;
  rules::Lowering lowering(std::move(loop), target);
  while (lowering.fork()) lowering.choose(rng.below(lowering.fork()->options.size()));
  return lowering;
}

TEST_P(Compiles, RandomSchedulesOfSixteenBits) {
  for (const std::uint64_t seed : drawn_seeds(8)) {
    check(random_linear(target_, seed), fmt::format("linear, seed {}", seed));
    if (HasFatalFailure()) return;
  }
  std::printf("%d schedules compiled for %s\n", compiled_, GetParam());
}

// Takes half an hour.
TEST_P(Compiles, DISABLED_TwoThousandOfSixteenBits) {
  for (const std::uint64_t seed : drawn_seeds(2000)) {
    check(random_linear(target_, seed), fmt::format("linear, seed {}", seed));
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, Compiles, ::testing::Values("sm_80", "sm_90", "sm_100", "sm_120"));

}  // namespace
}  // namespace deplo::measure::cuda
