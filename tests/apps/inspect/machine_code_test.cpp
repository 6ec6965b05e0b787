// `deplo compile --ir ptx|cubin|sass`, `--resources` and `--instructions`, as a user runs them, and the machine code of
// the published suite's kernels.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <sstream>

#include "apps/inspect/machine_code.h"
#include "apps/run_program.h"
#include "core/file.h"
#include "engine/source/experiment.h"
#include "ir/emit/emit.h"
#include "measure/cuda/compiler/compile.h"
#include "measure/cuda/compiler/elf.h"
#include "measure/cuda/library.h"
#include "measure/cuda/sass/disassemble.h"
#include "measure/cuda/sass/instruction_mix.h"
#include "measure/elf.h"
#include "measure/store_fixture.h"
#include "rules/lower.h"

namespace deplo::testing::machine_code_test {
namespace {

using measure::cuda::Nvrtc;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const char* const two_kernels = "x = torch.randn(8, 8); F.log_softmax(x @ x, dim=-1) @ x";

Ran compile(std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"deplo", "compile"});
  return run_program(flags);
}

void expect_error(const std::vector<std::string>& flags, int code, const std::string& text) {
  const Ran ran = compile(flags);
  EXPECT_EQ(ran.code, code) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr(text));
  EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << "one line: " << ran.err;
}

class MachineCode : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Nvrtc::available()) GTEST_SKIP() << "no NVRTC";
  }
  std::string good(const std::vector<std::string>& flags) {
    const Ran ran = compile(flags);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    return ran.out;
  }
  const std::vector<std::string> matmul_{"-k", "matmul", "-s", "M=64", "-s", "N=256", "-s", "K=128"};
  std::vector<std::string> with(const std::vector<std::string>& more) const {
    std::vector<std::string> flags = matmul_;
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }
};

TEST_F(MachineCode, PtxAndCubin) {
  EXPECT_THAT(good(with({"--ir", "ptx"})), HasSubstr(".target sm_90\n"));
  EXPECT_THAT(good(with({"--ir", "ptx", "--target", "sm_80"})), HasSubstr(".target sm_80\n"));
  const std::string cubin = good(with({"--ir", "cubin", "--target", "sm_80"}));
  EXPECT_TRUE(measure::cuda::inspect_cubin(cubin, "matmul"));
  const measure::TemporaryFolder folder;
  const std::string file = folder.file("matmul.cubin");
  EXPECT_EQ(good(with({"--ir", "cubin", "--target", "sm_80", "-o", file})), "");
  EXPECT_EQ(read_file(file), cubin);
  EXPECT_THAT(good({"-c", two_kernels, "--ir", "ptx"}), StartsWith("// 0: "));
  EXPECT_TRUE(measure::elf_sections(good({"-c", two_kernels, "--ir", "cubin", "--only", "1"})));
  expect_error(with({"--ir", "cubin", "-o", "/nowhere/k.cubin"}), 2,
               "/nowhere/k.cubin: cannot be written: No such file or directory");
}

TEST_F(MachineCode, Resources) {
  const std::string text = good(with({"--resources", "--target", "sm_80"}));
  EXPECT_THAT(text, StartsWith("sm_80 "));
  EXPECT_THAT(text, HasSubstr("\nmatmul "));
  std::istringstream row(text.substr(text.find('\n') + 1));
  std::string name, occupancy, limiter;
  int blocks = 0, threads = 0, registers = 0, spilled = -1, stack = -1, fixed = -1, dynamic = -1;
  row >> name >> blocks >> threads >> registers >> spilled >> stack >> fixed >> dynamic >> occupancy >> limiter;
  EXPECT_GT(blocks * threads, 0);
  EXPECT_GT(registers, 8);
  EXPECT_EQ(spilled, 0);
  EXPECT_GT(fixed + dynamic, 0);
  EXPECT_THAT(occupancy, ::testing::EndsWith("%"));
  EXPECT_NE(limiter, "");
  const std::string all = good({"-c", two_kernels, "--resources"});
  EXPECT_GE(std::ranges::count(all, '\n'), 3) << all;
  EXPECT_EQ(std::ranges::count(good({"-c", two_kernels, "--resources", "--only", "0"}), '\n'), 2);
}

// Without nvdisasm, the test expects one line that says that nvdisasm is missing.
TEST_F(MachineCode, Instructions) {
  const std::vector<std::string> sass = with({"--ir", "sass"}), instructions = with({"--instructions"});
  if (!measure::cuda::find_program("nvdisasm")) {
    for (const auto& flags : {sass, instructions})
      expect_error(flags, 2, "it comes with the CUDA toolkit, or by `pip install nvidia-cuda-nvdisasm`");
    GTEST_SKIP() << "no nvdisasm";
  }
  const std::string text = good(sass);
  EXPECT_THAT(text, StartsWith("k_matmul:\n        "));
  EXPECT_THAT(text, HasSubstr(" FFMA R"));
  EXPECT_THAT(text, Not(HasSubstr("/*")));
  EXPECT_THAT(good({"-c", two_kernels, "--ir", "sass"}), StartsWith("// 0: "));
  const std::string table = good(instructions);
  EXPECT_THAT(table, StartsWith("sm_90 "));
  EXPECT_THAT(table, HasSubstr("\nmatmul "));
  EXPECT_THAT(table, HasSubstr("fp32 "));
  EXPECT_THAT(good(with({"--instructions", "--target", "sm_80"})), StartsWith("sm_80 "));
}

TEST(MachineCodeErrors, OneLine) {
  const std::vector<std::string> gelu{"-k", "gelu", "-s", "M=2", "-s", "N=3"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> flags = gelu;
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  };
  for (const char* level : {"ptx", "cubin", "sass"})
    expect_error(
        with({"--ir", level, "--target", "opencl-cpu"}), 1,
        fmt::format("--ir: expected opencl (or loop, tile, kernel) for the target opencl-cpu, found {}", level));
  expect_error(with({"--resources", "--target", "opencl-gpu"}), 1,
               "--resources: expected a CUDA target (sm_80, sm_90, …), found opencl-gpu");
  expect_error(with({"--instructions", "--target", "opencl-gpu"}), 1,
               "--instructions: expected a CUDA target (sm_80, sm_90, …), found opencl-gpu");
  expect_error(with({"--resources", "--instructions"}), 1, "--resources cannot be combined with --instructions");
  expect_error(with({"--resources", "--ir", "cuda"}), 1, "--ir cannot be combined with --resources");
  expect_error(with({"--resources", "--smem"}), 1, "--smem cannot be combined with --resources");
  expect_error({"-c", two_kernels, "--resources", "--summary"}, 1, "--summary cannot be combined with --resources");
  expect_error({"-c", two_kernels, "--ir", "cubin"}, 1, "--ir cubin: expected a single kernel, found ");
  expect_error(with({"--ir", "cubin", "-v"}), 1, "-v: expected a level that is text, found --ir cubin");
}

// A kernel whose products ptxas serialises, because their loop is not unrolled.
TEST_F(MachineCode, LostPerformanceIsShown) {
  ir::Program loop = ir::parse(
      "=== loop: mm ===\ninput a: bf16[256, 256]\ninput b: bf16[256, 256]\n"
      "output c: bf16[256, 256]\nfor a0 in 0..256: # free\n  for a1 in 0..256: # free\n"
      "    for a2 in 0..256: # reduce\n      in0 = load a[a0, a2]\n      in1 = load b[a2, a1]\n"
      "      v0 = multiply(in0, in1)\n      acc0 <- add(acc0, v0)\n    c[a0, a1] = acc0\n");
  const Target target = load_target("sm_90");
  ir::KernelSource source = emit(rules::materialize(rules::heuristic(loop, target).program(), target), target);
  const std::size_t products = source.text.rfind("wgmma.mma_async"),
                    mark = source.text.rfind("#pragma unroll\n", products);
  ASSERT_NE(products, std::string::npos) << source.text;
  ASSERT_NE(mark, std::string::npos);
  apps::ResourceTable good(target), bad(target);
  good.add("mm", {loop, source});
  EXPECT_THAT(good.print(0), Not(HasSubstr("ptxas")));
  source.text.insert(mark + std::string_view("#pragma unroll").size(), " 1");
  bad.add("mm", {loop, source});
  EXPECT_THAT(bad.print(0), HasSubstr("\nmm: ptxas: C7519: warpgroup.arrive is injected by compiler"));
}

/// Builds and checks the heuristic's kernels for the suite: every `step`-th kernel, beginning with number `first`.
void check_suite(const std::string& architecture, std::size_t first, std::size_t step) {
  if (!Nvrtc::available() || !Nvrtc::get().supports(architecture)) GTEST_SKIP() << "no NVRTC for " << architecture;
  static const engine::Experiment suite = engine::load_experiment(data_folder() / "experiments/suite84.yaml");
  const Target target = load_target(architecture);
  const bool disassembled = measure::cuda::find_program("nvdisasm").has_value();
  int built = 0, tma = 0;
  for (std::size_t i = first; i < suite.kernels.size(); i += step) {
    const engine::KernelCase& kernel = suite.kernels[i];
    const auto lowering = rules::heuristic(kernel.loop, target);
    const ir::KernelSource source = emit(rules::materialize(lowering.program(), target), target);
    const std::string what = fmt::format("{} on {}: {}", kernel.name, architecture, print(lowering.trail()));
    const auto cubin = measure::cuda::compile_cubin(source, architecture);
    ASSERT_TRUE(cubin.ok()) << what << "\n" << cubin.failure().message;
    EXPECT_EQ(cubin.value().warnings, "") << what;
    EXPECT_EQ(cubin.value().resources.compiler_notes, "") << what;
    EXPECT_EQ(cubin.value().resources.spill_bytes, 0) << what;
    EXPECT_EQ(cubin.value().resources.stack_bytes, 0) << what;
    if (disassembled) {
      namespace sass = measure::cuda::sass;
      EXPECT_EQ(sass::kernel_mix(sass::parse_listing(sass::disassemble(cubin.value().code))).whole.calls, 0) << what;
    }
    const auto resources = measure::cuda::with_occupancy(cubin.value().resources, source, target);
    EXPECT_TRUE(resources.ok()) << what;
    const auto facts = measure::cuda::inspect_cubin(cubin.value().code, source.entry);
    EXPECT_GT(facts->registers, 0) << what;
    ++built;
    tma += !source.tensor_maps.empty();
  }
  std::printf("%d kernels built for %s, %d of them with TMA\n", built, architecture.c_str(), tma);
  EXPECT_GT(built, 0);
}

class Suite84 : public ::testing::TestWithParam<const char*> {};
// Checks a twelfth of the suite's kernels, a different twelfth for each architecture. The test below, which is disabled
// by default, checks all of them.
TEST_P(Suite84, SomeHeuristicsAreMachineCode) {
  const std::string architecture = GetParam();
  check_suite(architecture, std::stoul(architecture.substr(3)) / 10 % 12, 12);
}
TEST_P(Suite84, DISABLED_AllHeuristicsAreMachineCode) { check_suite(GetParam(), 0, 1); }
INSTANTIATE_TEST_SUITE_P(Cuda, Suite84, ::testing::Values("sm_80", "sm_90", "sm_100", "sm_120"));

}  // namespace
}  // namespace deplo::testing::machine_code_test
