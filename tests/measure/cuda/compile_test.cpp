// Compiling for an architecture: the compiler's messages, its failures, and the resources of a kernel.
#include "measure/cuda/compiler/compile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "core/rng.h"
#include "ir/emit/emit.h"
#include "ir/program.h"
#include "measure/cuda/compiler/ptxas.h"
#include "measure/cuda/fixture.h"
#include "measure/cuda/library.h"

namespace deplo::measure::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const CompileOptions uncached{.cache = nullptr};

TEST(PtxasLog, TheLinesOfOneKernel) {
  const std::string log =
      "kernel.cu(3): warning #177-D: variable \"i\" was declared but never referenced\n"
      "kernel.cu(4): warning #550-D: variable \"j\" was set but never used\n"
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'other' for 'sm_80'\n"
      "ptxas         .     8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 255 registers, 1200 bytes smem\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
      "ptxas info    : Function properties for k\n"
      "ptxas         .     24 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads\n"
      "ptxas info    : Used 48 registers, used 1 barriers, 364 bytes cmem[0]\n"
      "ptxas info    : Compile time = 13.502 ms";
  const PtxasLog k = parse_log(log, "k"), other = parse_log(log, "other"), none = parse_log(log, "kk");
  EXPECT_EQ(k.registers, 48);
  EXPECT_EQ(k.stack_bytes, 24);
  EXPECT_EQ(k.spill_bytes, 20);
  EXPECT_EQ(k.static_shared_bytes, 0) << "left out of the line where there is none";
  EXPECT_EQ(other.static_shared_bytes, 1200);
  EXPECT_EQ(other.registers, 255);
  EXPECT_EQ(none.registers, -1);
  EXPECT_EQ(none.static_shared_bytes, -1);
  EXPECT_EQ(k.notes, "");
  EXPECT_EQ(k.warnings, "kernel.cu(4): warning #550-D: variable \"j\" was set but never used\n");
}

// Each message is kept once, whatever lines of assembly it mentions.
TEST(PtxasLog, MessagesAboutLostPerformance) {
  const std::string log =
      "ptxas info    : (C7519) warpgroup.arrive is injected in around line 397 by compiler to allow use of registers "
      "in "
      "GMMA in function 'k'\n"
      "ptxas info    : (C7519) warpgroup.arrive is injected in around line 405 by compiler to allow use of registers "
      "in "
      "GMMA in function 'k'\n"
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to "
      "non wgmma instructions in function 'other'\n"
      "ptxas info    : (C7520) Potential Performance Loss: wgmma.mma_async instructions are serialized due to program "
      "dependence on compiler-inserted WG.AR in divergent path in the function 'k'\n"
      "ptxas info    : (C7520) Potential Performance Loss: wgmma.mma_async instructions are serialized due to program "
      "dependence on compiler-inserted WG.AR in divergent path in the function 'other'\n"
      "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at "
      "entry.\n"
      "ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Used 48 registers, used 1 barriers\n";
  EXPECT_EQ(
      parse_log(log, "k").notes,
      "C7519: warpgroup.arrive is injected by compiler to allow use of registers in GMMA; "
      "C7520: Potential Performance Loss: wgmma.mma_async instructions are serialized due to program dependence on "
      "compiler-inserted WG.AR in divergent path; "
      "C7508: Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.");
  EXPECT_EQ(parse_log("ptxas info : (C) x\nptxas info : (C75\n: (C7510) x\nptxas info : (Cx1) y", "k").notes, "");
}

TEST(PtxasLog, AnyTextIsRead) {
  const std::string log = "Compiling entry function 'k' for\nUsed 12 registers, 5 bytes smem\n7 bytes stack frame\n";
  Rng rng(5);
  for (int i = 0; i < 2'000; ++i) {
    std::string text = log + log;
    for (int n = 0; n < 6; ++n) text[rng.below(text.size())] = "0123456789 '\n\xff"[rng.below(14)];
    text.resize(rng.below(text.size()));
    EXPECT_GE(parse_log(text, "k").registers, -1);
  }
  EXPECT_EQ(parse_log("Compiling entry function 'k'\nUsed 99999999999999999999 registers", "k").registers, -1);
}

TEST(Nvrtc, WhatIsMissingIsSaidInOneLine) {
  try {
    const Nvrtc nvrtc("/nowhere/libnvrtc.so");
    FAIL() << "opened";
  } catch (const Error& e) {
    EXPECT_EQ(e.exit(), Exit::environment);
    EXPECT_THAT(e.what(),
                HasSubstr("no NVRTC: expected a library in /nowhere/libnvrtc.so; it comes with the CUDA toolkit"));
    EXPECT_THAT(e.what(), Not(HasSubstr("\n")));
  }
  const LibraryName unknown{"libunknown", {"libunknown.so.2", "libunknown.so"}, "there is none"};
  EXPECT_THROW(
      try { Library library(unknown); } catch (const Error& e) {
        EXPECT_THAT(e.what(), HasSubstr("expected libunknown.so.2 or libunknown.so next to the program"));
        throw;
      },
      Error);
  // libdl is a library, but not NVRTC.
  EXPECT_THROW(Nvrtc("libdl.so.2"), Error);
}

TEST(Nvrtc, Architectures) {
  DEPLO_NEED_NVRTC("sm_90");
  const Nvrtc& nvrtc = Nvrtc::get();
  EXPECT_TRUE(nvrtc.supports("sm_90a"));
  for (const char* name : {"sm_70", "sm_80a", "sm_90x", "sm_90aa", "sm_", "sm_-1", "compute_90", "90", ""})
    EXPECT_FALSE(nvrtc.supports(name)) << name;
  EXPECT_THAT(nvrtc.architectures(), ::testing::IsSupersetOf({"sm_80", "sm_90"}));
}

TEST(Compile, TheFirstErrorsOfALog) {
  EXPECT_EQ(first_errors("error.cu(1): warning #1-D: w\n\nk.cu(2): error: expected a \";\"\n  y = a }\n        ^\n\n"
                         "1 error detected in the compilation of \"kernel.cu\".\n"),
            "k.cu(2): error: expected a \";\" |   y = a } |         ^");
  EXPECT_EQ(first_errors("k.cu(1): catastrophic error: stop\n1 catastrophic error detected in the compilation of "
                         "\"kernel.cu\".\nCompilation terminated.\n"),
            "k.cu(1): catastrophic error: stop");
  EXPECT_EQ(first_errors("something else\n"), "something else");
  EXPECT_EQ(first_errors(""), "");
}

TEST(Compile, ErrorsAreOneLineWithTheCompilersWords) {
  DEPLO_NEED_NVRTC("sm_90");
  const auto failure_of = [](const std::string& text, const char* architecture = "sm_90") {
    const auto cubin = compile_cubin(source_of(text), architecture, uncached);
    EXPECT_FALSE(cubin.ok()) << text;
    return cubin.ok() ? Failure{} : cubin.failure();
  };
  const Failure syntax = failure_of("extern \"C\" __global__ void k() { int unused; return 1 }\n");
  EXPECT_EQ(syntax.status, Status::build_error);
  EXPECT_THAT(syntax.message, HasSubstr("kernel.cu(1): error"));
  EXPECT_THAT(syntax.message, Not(HasSubstr("\n")));
  const Failure shared = failure_of(
      "extern \"C\" __global__ void k(float* x) { __shared__ float s[20000]; s[threadIdx.x] = "
      "x[0]; __syncthreads(); x[1] = s[x[2] > 0]; }");
  EXPECT_EQ(shared.status, Status::resource) << shared.message;
  EXPECT_THAT(shared.message, HasSubstr("too much shared data"));
  EXPECT_EQ(failure_of("", "sm_70").status, Status::build_error);
  EXPECT_THAT(failure_of("", "sm_70").message, HasSubstr("expected an architecture that NVRTC"));
  EXPECT_THAT(compile_ptx(source_of("nonsense"), "sm_90").failure().message, HasSubstr("error"));
}

// `architecture_specific` gives a user's kernel the instructions that only sm_90a has. It must not break older devices,
// which have no such instructions.
TEST(Compile, TakesWhatOneArchitectureAloneHas) {
  DEPLO_NEED_NVRTC("sm_90");
  ir::KernelSource source;
  source.entry = "k";
  source.text = "extern \"C\" __global__ void k() { asm volatile(\"wgmma.fence.sync.aligned;\"); }";
  EXPECT_FALSE(compile_cubin(source, "sm_90").ok());
  source.architecture_specific = true;
  EXPECT_TRUE(compile_cubin(source, "sm_90").ok());
  EXPECT_TRUE(compile_cubin(source, "sm_90a").ok());
  source.text = "extern \"C\" __global__ void k() {}";
  EXPECT_TRUE(compile_cubin(source, "sm_80").ok());
}

TEST(Compile, PtxIsForTheArchitecture) {
  DEPLO_NEED_NVRTC("sm_90");
  const auto ptx = compile_ptx(small_source(), "sm_90");
  ASSERT_TRUE(ptx.ok());
  EXPECT_THAT(ptx.value(), HasSubstr(".target sm_90"));
  EXPECT_THAT(ptx.value(), HasSubstr(".entry k("));
  EXPECT_EQ(ptx.value().find('\0'), std::string::npos);
}

// Row b of 65,536 floats, which block b copies, begins at byte b * 2^18. For arrays of up to 2^31 elements, NVRTC may
// compute this offset in 32 bits. The offset of block 32,768 needs 64 bits.
TEST(Compile, OffsetsOfLargeArraysHave64Bits) {
  DEPLO_NEED_NVRTC("sm_90");
  const auto ptx_of = [](std::int64_t rows) {
    const ir::Program kernel =
        ir::parse(fmt::format("=== kernel: k ===\ninput x: f32[{0}, 65536]\noutput y: f32[{0}, 65536]\n"
                              "Tile(axes=(a0:{0}=BLOCK, a1:64=THREAD)):\n  in0 = load x[a0, a1]\n  y[a0, a1] = in0\n",
                              rows));
    return compile_ptx(ir::emit(kernel, load_target("sm_90")), "sm_90", uncached).value();
  };
  EXPECT_THAT(ptx_of(32768), HasSubstr("shl.b32"));
  EXPECT_THAT(ptx_of(65536), Not(HasSubstr("shl.b32")));
  EXPECT_THAT(ptx_of(65536), HasSubstr("mul.wide"));
}

// ptxas needs about ten seconds for this body. NVRTC looks at the clock at least every 0.6 s.
TEST(Compile, GivesUpInTime) {
  DEPLO_NEED_NVRTC("sm_90");
  if (std::stod(Nvrtc::get().version()) < 12.8) GTEST_SKIP() << "NVRTC cannot be asked to give up";
  std::string text = "extern \"C\" __global__ void k(float* x) {\n";
  for (int i = 0; i < 20'000; ++i) text += fmt::format("  x[{}] += sinf(x[{}]);\n", i, i * 7 % 1'000);
  const auto cubin = compile_cubin(source_of(text + "}\n"), "sm_90", {.seconds = 0.05, .cache = nullptr});
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.failure().status, Status::build_timeout) << cubin.failure().message;
  EXPECT_TRUE(compile_cubin(small_source(), "sm_90", uncached).ok()) << "the next one compiles";
}

TEST(Compile, ThreadsBuildTheSameCode) {
  DEPLO_NEED_NVRTC("sm_90");
  std::vector<std::string> digests(6);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 2; ++t)
      threads.emplace_back([&digests, t] {
        for (std::size_t i = t; i < digests.size(); i += 2)
          digests[i] = compile_cubin(small_source(), "sm_90", uncached).value().resources.binary_digest;
      });
  }
  for (const std::string& digest : digests) EXPECT_EQ(digest, digests[0]);
  EXPECT_EQ(digests[0].size(), 32u);
}

// The expected values follow CUDA's occupancy calculator, computed by hand for 65,536 registers, 2,048 threads and 228
// KiB of shared memory per multiprocessor.
TEST(Occupancy, WhatLimitsIt) {
  const Target target = load_target("sm_90");
  const auto of = [&](std::int64_t threads, std::int64_t registers, std::int64_t shared) {
    Resources resources;
    resources.registers = registers;
    resources.static_shared_bytes = 0;
    resources.dynamic_shared_bytes = shared;
    return with_occupancy(resources, source_of("", threads), target);
  };
  const auto is = [&](const Result<Resources>& result, double occupancy, const char* limiter) {
    ASSERT_TRUE(result.ok()) << result.failure().message;
    EXPECT_DOUBLE_EQ(result.value().occupancy, occupancy);
    EXPECT_EQ(result.value().limiter, limiter);
  };
  is(of(256, 32, 0), 1, "threads");
  is(of(32, 32, 0), 0.5, "blocks");
  is(of(256, 128, 0), 0.25, "registers");
  is(of(256, 32, 100 * 1024), 0.25, "shared");
  EXPECT_EQ(of(256, 32, 228 * 1024).failure().status, Status::resource);
  EXPECT_EQ(of(2048, 16, 0).failure().status, Status::resource);
  EXPECT_EQ(of(1024, 128, 0).failure().status, Status::resource);
}

// CUB's headers use types of the runtime API and of textures. NVRTC declares these types unless it is given --minimal.
TEST(Compile, KnowsTheTypesOfTheRuntime) {
  DEPLO_NEED_NVRTC("sm_80");
  const auto built = compile_cubin(source_of(R"(__device__ cudaError_t same(cudaError_t error) { return error; }
extern "C" __global__ void k(cudaTextureObject_t image, float* x) { x[threadIdx.x] = tex1Dfetch<float>(image, 0); })"),
                                   "sm_80", uncached);
  EXPECT_TRUE(built.ok()) << built.failure().message;
}

TEST(Compile, CubOfBlocksAndWarps) {
  DEPLO_NEED_NVRTC("sm_80");
  const auto has_cub = [](const std::filesystem::path& folder) {
    return std::filesystem::exists(folder / "cub/block/block_reduce.cuh");
  };
  if (std::ranges::none_of(header_folders(), has_cub)) GTEST_SKIP() << "no headers of CUB";
  const auto built = compile_cubin(source_of(R"(#include <cub/cub.cuh>
extern "C" __global__ void k(float* x) {
  using Reduce = cub::BlockReduce<float, 128>;
  using Scan = cub::WarpScan<float>;
  __shared__ Reduce::TempStorage of_block;
  __shared__ Scan::TempStorage of_warp[4];
  float sum;
  Scan(of_warp[threadIdx.x / 32]).InclusiveSum(x[threadIdx.x], sum);
  sum = Reduce(of_block).Sum(sum);
  if (threadIdx.x == 0) x[0] = sum;
})"),
                                   "sm_80", uncached);
  EXPECT_TRUE(built.ok()) << built.failure().message;
}

}  // namespace
}  // namespace deplo::measure::cuda
