// The PTX of emitted kernels in exact arithmetic: sound PTX is proved, and faults below every tolerance are found.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "measure/cuda/fixture.h"
#include "measure/ptx/prove.h"
#include "measure/ptx/schedule_case.h"
#include "rules/programs.h"

namespace deplo::measure::ptx {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string verdict(const ScheduleCase& c) {
  return print(EmittedProof(with_index_ranges(loop_of(c)), 1).verdict(candidate_of(c), c.target, c.seed));
}

const std::map<std::string, ir::Symbols>& small_kernels() {
  static const std::map<std::string, ir::Symbols> kernels = {
      {"matmul", {{"M", 64}, {"N", 64}, {"K", 64}}},
      {"softmax", {{"M", 5}, {"N", 300}}},
      {"rmsnorm", {{"M", 5}, {"D", 300}}},
      {"attention", {{"H", 2}, {"Q", 32}, {"K", 64}, {"D", 32}}},
      {"gelu", {{"M", 3}, {"N", 100}}},
      {"integers", {{"M", 9}, {"N", 9}}},
      {"row_scan", {{"M", 33}, {"N", 13}}},
      {"scan_of_parts", {{"M", 3}, {"N", 5}, {"L", 7}}},
  };
  return kernels;
}

TEST(PtxProve, Heuristics) {
  DEPLO_NEED_NVRTC("sm_90");
  for (const auto& [kernel, symbols] : small_kernels()) {
    for (const char* target : {"sm_80", "sm_90"}) {
      for (const int types : {0, 1, 2}) {
        const ScheduleCase c{.kernel = kernel, .target = target, .symbols = symbols, .types = types};
        // The weights of attention are rounded, because they are factors of a product.
        EXPECT_THAT(verdict(c), AnyOf("proved", StartsWith("proved up to rounding of values to "))) << describe(c);
      }
    }
  }
}

// A matmul with wgmma and TMA. The heuristic does not choose them for small extents.
TEST(PtxProve, Warpgroups) {
  DEPLO_NEED_NVRTC("sm_90");
  const ScheduleCase c{
      .kernel = "matmul", .target = "sm_90", .symbols = {{"M", 128}, {"N", 128}, {"K", 128}}, .types = 2};
  const KernelCode code = candidate_of(c);
  ASSERT_THAT(code.source.text, HasSubstr("wgmma.mma_async"));
  EXPECT_EQ(print(EmittedProof(loop_of(c), 1).verdict(code, c.target)), "proved");
}

TEST(PtxProve, DrawnSchedules) {
  DEPLO_NEED_NVRTC("sm_90");
  int proved = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    const ScheduleCase c = random_case(seed);
    if (!cuda::Nvrtc::get().supports(c.target)) continue;
    const std::string found = verdict(c);
    EXPECT_THAT(found, AnyOf(StartsWith("proved"), StartsWith("not proved: it has more different values of")))
        << describe(c) << "\n"
        << trail_of(c);
    proved += found.starts_with("proved") ? 1 : 0;
  }
  EXPECT_GE(proved, 20);
}

/// A fault at the first match of the pattern in the source or in the PTX.
struct FormulaFault {
  std::string kernel, pattern, replacement;
};
std::string with_fault(const std::string& text, const FormulaFault& fault) {
  const std::string changed =
      std::regex_replace(text, std::regex(fault.pattern), fault.replacement, std::regex_constants::format_first_only);
  EXPECT_NE(changed, text) << fault.pattern;
  return changed;
}

// The numeric check does not find these faults.
TEST(PtxProve, FindsFaultsOfTheSourceBelowTheTolerance) {
  DEPLO_NEED_NVRTC("sm_90");
  const std::vector<FormulaFault> faults = {
      {"rmsnorm", "1e-06f", "1.0000001e-06f"},                                      // the last digit of a constant
      {"rmsnorm", "rsqrtf\\((\\w+)\\)", "rsqrtf($1 + 1e-12f)"},                     // a number added to an argument
      {"softmax", "exp2?f?\\((\\w+)\\)", "expf($1 * 1.0000001f)"},                  // a factor of an argument
      {"matmul", "fmaf\\((\\w+), (\\w+), (\\w+)\\)", "fmaf($1, $2, $3 + 1e-12f)"},  // a number added to a sum
      {"gelu", "0\\.7978846f", "0.79788464f"},                                      // the last digit of a constant
  };
  const auto device = open_device("ptx:sm_90");
  for (const FormulaFault& fault : faults) {
    const ScheduleCase c{.kernel = fault.kernel, .target = "sm_90", .symbols = small_kernels().at(fault.kernel)};
    KernelCode code = candidate_of(c);
    const EmittedProof proof(loop_of(c), 1);
    ASSERT_EQ(print(proof.verdict(code, c.target)), "proved") << fault.kernel;
    code.source.text = with_fault(code.source.text, fault);
    EXPECT_EQ(run(loop_of(c), code, *device), "") << fault.pattern;
    EXPECT_THAT(print(proof.verdict(code, c.target)), StartsWith("refuted: ")) << fault.pattern;
  }
}

TEST(PtxProve, FindsFaultsOfThePtx) {
  DEPLO_NEED_NVRTC("sm_90");
  const std::vector<FormulaFault> faults = {
      {"matmul", R"(fma\.rn\.f32\s+(%\w+), (%\w+), (%\w+), (%\w+);)", "mov.f32 $1, $4;"},  // a term is left out
      {"matmul", R"(fma\.rn\.f32\s+(%\w+), (%\w+), (%\w+), (%\w+);)",
       // A term is added twice.
       "fma.rn.f32 $1, $2, $3, $4;\nfma.rn.f32 $1, $2, $3, $1;"},
      {"rmsnorm", R"((shfl\.sync\.bfly\.b32\s+(%\w+)\|%\w+, (%\w+), [^\n]*\n))",
       // Each lane adds its own terms twice.
       "$1 mov.b32 $2, $3;\n"},
      {"softmax", R"(deplo\.exp\.f32 (%\w+), (%\w+);)", "deplo.exp.f32 $1, $2;\nadd.f32 $1, $1, 0f2B8CBCCC;"},
  };
  for (const FormulaFault& fault : faults) {
    const ScheduleCase c{.kernel = fault.kernel, .target = "sm_80", .symbols = small_kernels().at(fault.kernel)};
    const KernelCode code = candidate_of(c);
    const EmittedProof proof(loop_of(c), 1);
    const std::string text = EmittedProof::compile(code, c.target).value();
    ASSERT_EQ(print(proof.verdict_of_ptx(text, code)), "proved") << fault.kernel;
    EXPECT_THAT(print(proof.verdict_of_ptx(with_fault(text, fault), code)), StartsWith("refuted: ")) << fault.pattern;
  }
}

// The verdict names an instruction that has no meaning in the exact arithmetic.
TEST(PtxProve, RefusesInstructionsWithoutAMeaning) {
  DEPLO_NEED_NVRTC("sm_90");
  const ScheduleCase c{.kernel = "gelu", .target = "sm_90", .symbols = small_kernels().at("gelu")};
  const KernelCode code = candidate_of(c);
  const EmittedProof proof(loop_of(c), 1);
  const std::string text = EmittedProof::compile(code, c.target).value();
  const auto with = [&](const std::string& instruction) {
    return print(proof.verdict_of_ptx(with_fault(text, {"", "\\n(\\s*)ret;", "\n" + instruction + "\n ret;"}), code));
  };
  EXPECT_THAT(with("lg2.approx.f32 %f1, %f1;"), HasSubstr("lg2.approx.f32 has no meaning but in numbers"));
  EXPECT_THAT(with("add.f64 %fd1, %fd1, %fd1;"), HasSubstr("add.f64 has no meaning but in numbers"));
  EXPECT_THAT(with("cvt.rni.s32.f32 %r1, %f1;"), HasSubstr("not proved: PTX line"));
}

TEST(PtxProve, RefusesMoreValuesThanPatterns) {
  DEPLO_NEED_NVRTC("sm_90");
  const ScheduleCase c{.kernel = "gelu", .target = "sm_90", .symbols = {{"M", 100}, {"N", 900}}, .types = 2};
  EXPECT_EQ(verdict(c), "proved");  // the inputs have few different values
  const ScheduleCase wide{
      .kernel = "matmul", .target = "sm_90", .symbols = {{"M", 320}, {"N", 320}, {"K", 8}}, .types = 1};
  EXPECT_EQ(verdict(wide), "not proved: it has more different values of f16 than its patterns; choose smaller extents");
}

}  // namespace
}  // namespace deplo::measure::ptx
