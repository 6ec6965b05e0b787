// Reads cubins as NVRTC writes them, and damaged ones.
#include "measure/cuda/compiler/elf.h"

#include <gtest/gtest.h>

#include "core/file.h"
#include "core/rng.h"
#include "measure/cuda/compiler/ptxas.h"
#include "measure/cuda/fixture.h"
#include "measure/elf.h"

namespace deplo::measure::cuda {
namespace {

std::string build(const std::string& architecture, const ir::KernelSource& source = small_source()) {
  return Nvrtc::get().compile(source.text, Nvrtc::get().options(architecture)).cubin;
}

TEST(Elf, TheCodeSaysWhatTheCompilerSaid) {
  for (const char* architecture : {"sm_80", "sm_86", "sm_90", "sm_100", "sm_120"}) {
    DEPLO_NEED_NVRTC(architecture);
    const auto output = Nvrtc::get().compile(small_source().text, Nvrtc::get().options(architecture));
    const PtxasLog log = parse_log(output.log, "k");
    const auto facts = inspect_cubin(output.cubin, "k");
    ASSERT_TRUE(facts) << architecture;
    EXPECT_GT(log.registers, 4) << output.log;
    EXPECT_EQ(facts->registers, log.registers) << output.log;
    EXPECT_EQ(facts->stack_bytes, log.stack_bytes) << output.log;
    EXPECT_EQ(log.static_shared_bytes, 1200) << output.log;
    constexpr std::int64_t instruction = 16;  // bytes per instruction, for sm_70 and later
    EXPECT_GT(facts->code_bytes, 8 * instruction) << architecture;
    EXPECT_EQ(facts->code_bytes % instruction, 0) << architecture;
    EXPECT_EQ(inspect_cubin(output.cubin, "other")->registers, -1);
    EXPECT_EQ(inspect_cubin(output.cubin, "other")->code_bytes, -1);
  }
}

// sm_80 uses version 1 of the attribute for a parameter, sm_90 uses version 2.
TEST(Elf, SizesOfParametersInTheirOrder) {
  const ir::KernelSource source = source_of(
      "struct Map { alignas(64) char bytes[128]; };\n"
      "extern \"C\" __global__ void k(float* x, short n, double d, const __grid_constant__ Map map, char c) {\n"
      "  x[n] = d + map.bytes[c];\n}\n");
  for (const char* architecture : {"sm_80", "sm_90", "sm_120"}) {
    DEPLO_NEED_NVRTC(architecture);
    const std::string cubin = build(architecture, source);
    EXPECT_EQ(inspect_cubin(cubin, "k")->parameters, (std::vector<std::size_t>{8, 2, 8, 128, 1})) << architecture;
    EXPECT_TRUE(inspect_cubin(cubin, "other")->parameters.empty());
  }
}

TEST(Elf, ASpillIsStackToTheCodeToo) {
  DEPLO_NEED_NVRTC("sm_90");
  const ir::KernelSource source =
      source_of(R"(extern "C" __global__ void __launch_bounds__(1024) k(float* x, const int n) {
  float t[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) t[i] = x[i * n];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 96; ++i) x[i * n + 1] = t[95 - i] * t[i ^ 5];
})");
  const auto output = Nvrtc::get().compile(source.text, Nvrtc::get().options("sm_90"));
  const PtxasLog log = parse_log(output.log, "k");
  EXPECT_LE(log.registers, 64) << "65,536 for 1,024 threads: " << output.log;
  EXPECT_GT(log.spill_bytes, 0) << output.log;
  EXPECT_GT(log.stack_bytes, 0) << output.log;
  EXPECT_EQ(inspect_cubin(output.cubin, "k")->stack_bytes, log.stack_bytes);
}

TEST(Elf, TheDigestIsOfTheMachineCodeAlone) {
  DEPLO_NEED_NVRTC("sm_90");
  const auto digest_of = [](const std::string& cubin) { return inspect_cubin(cubin, "k")->digest; };
  const std::string digest = digest_of(build("sm_90"));
  ir::KernelSource commented = small_source();
  commented.text = "// the same\n" + commented.text;
  EXPECT_EQ(digest_of(build("sm_90", commented)), digest);
  const std::vector<std::string> more{"--gpu-architecture=sm_90", "--std=c++17", "-default-device", "-DNOT_USED=1"};
  EXPECT_EQ(digest_of(Nvrtc::get().compile(small_source().text, more).cubin), digest);
  ir::KernelSource other = small_source();
  other.text.replace(other.text.find("x[3]"), 4, "x[4]");
  EXPECT_NE(digest_of(build("sm_90", other)), digest);
}

TEST(Elf, SectionsAndSymbols) {
  DEPLO_NEED_NVRTC("sm_80");
  const std::string cubin = build("sm_80");
  const auto sections = elf_sections(cubin);
  ASSERT_TRUE(sections);
  const auto found = std::ranges::find(*sections, ".text.k", &ElfSection::name);
  ASSERT_NE(found, sections->end());
  EXPECT_EQ(found->bytes.size(), found->size);
  EXPECT_EQ(found->size % 128, 0u);
  EXPECT_EQ(symbol_name(*sections, 0), "");
  EXPECT_EQ(symbol_name(*sections, 4'000'000'000u), "");
}

TEST(Elf, WhatIsNoCubin) {
  for (const std::string& text : {std::string(),
                                  std::string("\x7f"
                                              "ELF"),
                                  std::string(64, '\0'), std::string("text")})
    EXPECT_FALSE(inspect_cubin(text, "k"));
  const std::string program = read_file("/bin/sh");
  EXPECT_TRUE(elf_sections(program));
  EXPECT_FALSE(inspect_cubin(program, "k")) << "an ELF file of another machine";
}

// Damages all parts of a file, and cuts it off anywhere. Nothing outside the file may be read; the sanitizers' preset
// would report it.
TEST(Elf, DamagedFilesAreReadWithoutHarm) {
  DEPLO_NEED_NVRTC("sm_90");
  const std::string whole = build("sm_90");
  Rng rng(7);
  int read = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::string cubin = whole;
    if (i % 4 == 0) cubin.resize(rng.below(cubin.size()));
    for (std::uint64_t n = rng.below(8); n > 0 && !cubin.empty(); --n) {
      // Half of the damage is in the headers at the start and in the tables of sections at the end.
      const std::size_t at = rng.below(2) == 0 ? rng.below(cubin.size())
                             : rng.below(2) == 0
                                 ? rng.below(std::min<std::size_t>(cubin.size(), 64))
                                 : cubin.size() - 1 - rng.below(std::min<std::size_t>(cubin.size(), 1100));
      cubin[at] = static_cast<char>(rng.below(4) == 0 ? 0xff : rng.below(256));
    }
    read += inspect_cubin(cubin, "k").has_value();
  }
  EXPECT_GT(read, 500);
  EXPECT_LT(read, 9'500);
}

}  // namespace
}  // namespace deplo::measure::cuda
