// What a kernel file becomes: its grid, its options, its text, its arguments.
#include "engine/foreign/kernel_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "measure/store_fixture.h"

namespace deplo::engine::foreign {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class KernelFileCode : public ::testing::Test {
 protected:
  /// A kernel of two parameters, bx and w, in YAML; `launch`: lines of its specification.
  KernelFile file(const std::string& launch, const std::string& kernel = "k.cl", const std::string& more = "") const {
    write(kernel, "__global__ void k() {}  // __kernel; bx, w\n");
    write("k.yaml",
          "ConfigurationSpace:\n  TuningParameters:\n    - {Name: bx, Values: [32, 48, 64], Default: 48}\n"
          "    - {Name: w, Type: string, Values: [fast, \"\"]}\n    - {Name: f, Values: [0.5]}\n"
          "KernelSpecification:\n  KernelName: k\n  KernelFile: " +
              kernel + "\n" + launch +
              "  Arguments:\n    - {Name: x, Type: float4, Size: 10, FillValue: 2}\n"
              "    - {Name: n, Type: uint, MemoryType: Scalar, FillValue: 2 ** 31}\n"
              "    - {Name: y, Type: int, Size: \"max(bx) * 2\", AccessType: ReadWrite, FillType: Constant, FillValue: "
              "0}\n" +
              more);
    return KernelFile({(folder_.path() / "k.yaml").string()});
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_.path() / name) << text; }
  static measure::KernelCode heuristic(const KernelFile& file) {
    return file.code(file.space().configuration(*search::heuristic(file.space())));
  }

  measure::TemporaryFolder folder_;
};

TEST_F(KernelFileCode, GridsAreThoseOfKernelTuner) {
  const auto blocks = [&](const std::string& launch) { return heuristic(file(launch)).launch->blocks; };
  const std::string local = "  LocalSize: {X: bx, Y: \"2\"}\n";
  EXPECT_THAT(blocks(local + "  ProblemSize: [100, 7]\n  GridDivX: [bx, \"2\"]\n"), ElementsAre(2, 7));
  EXPECT_THAT(blocks(local + "  ProblemSize: [100, 7]\n"), ElementsAre(3, 4));
  EXPECT_THAT(blocks(local + "  GlobalSize: {X: \"96 / bx + 0.5\", Y: \"5\"}\n"), ElementsAre(3, 5));
  EXPECT_THAT(blocks(local + "  GlobalSizeType: OpenCL\n  GlobalSize: {X: \"100\", Y: \"5\"}\n"), ElementsAre(3, 3));
}

TEST_F(KernelFileCode, TheTextHasAllThatTheCodeDependsOn) {
  const KernelFile made =
      file("  LocalSize: {X: bx}\n  ProblemSize: [96]\n  CompilerOptions: [-g, \"-D${w}=${bx}\"]\n");
  const measure::KernelCode code = heuristic(made);
  EXPECT_THAT(code.source.text, HasSubstr("// 2 blocks of 48 threads, n = 2147483648; options: -g -Dfast=48\n"));
  EXPECT_THAT(code.source.text, HasSubstr("#define bx 48\n#define w fast\n#define f 0.5\n#line 1 \"k.cl\"\n"));
  EXPECT_EQ(code.source.threads, 48);
  EXPECT_THAT(code.source.zeroed, ElementsAre(1u));
  ASSERT_EQ(code.launch->scalars.size(), 1u);
  EXPECT_EQ(code.launch->scalars[0].position, 1u);
  EXPECT_THAT(code.launch->scalars[0].bytes, ElementsAre(0, 0, 0, 128));
  EXPECT_EQ(made.signature().buffers[0].shape, (ir::Shape{40}));
  EXPECT_EQ(made.signature().buffers[1].shape, (ir::Shape{128}));
  // Values of parameters are no part of a kernel's identity; arguments and the source are.
  EXPECT_THAT(made.identity(), HasSubstr("argument y int[128] output\nproblem 96\n"));
  EXPECT_THAT(made.identity(), ::testing::Not(HasSubstr("[32, 48")));
}

TEST_F(KernelFileCode, NamesInCudaAreNotMangled) {
  const KernelFile made = file("  Language: CUDA\n  LocalSize: {X: bx}\n  ProblemSize: [96]\n", "k.cu");
  EXPECT_THAT(heuristic(made).source.text, HasSubstr("\nextern \"C\" __global__ void k() {}"));
}

TEST_F(KernelFileCode, TheReferenceHasFixedParametersAndDefaults) {
  const KernelFile made =
      file("  LocalSize: {X: bx}\n  ProblemSize: [96]\n", "k.cl", "Reference: {Parameters: {bx: 32}}\n");
  const measure::Expectation expected = made.expectation();
  ASSERT_TRUE(expected.kernel.has_value());
  EXPECT_THAT(expected.kernel->source.text, HasSubstr("#define bx 32\n#define w fast\n"));
  EXPECT_THAT(expected.name, HasSubstr("the reference (bx=32, w=fast, f=0.5)"));
}

TEST_F(KernelFileCode, SaysWhatIsWrongWithSizes) {
  const auto fault = [&](const std::string& launch) -> std::string {
    try {
      heuristic(file(launch));
      return "none";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(fault("  ProblemSize: [96]\n"), HasSubstr("expected LocalSize, found none"));
  EXPECT_THAT(fault("  LocalSize: {X: bx}\n"), HasSubstr("expected GlobalSize or ProblemSize, found neither"));
  EXPECT_THAT(fault("  LocalSize: {X: bx - 48}\n  ProblemSize: [96]\n"),
              HasSubstr("expected a block size of 1 to 2^31, found 0"));
  EXPECT_THAT(fault("  LocalSize: {X: by}\n  ProblemSize: [96]\n"),
              HasSubstr("expected ProblemSize or a parameter, found 'by'"));
  EXPECT_THAT(fault("  LocalSize: {X: bx}\n  ProblemSize: [0]\n"), HasSubstr("expected a whole number above 0"));
  EXPECT_THAT(fault("  LocalSize: {X: bx}\n  ProblemSize: [96]\n  CompilerOptions: [\"${v}\"]\n"),
              HasSubstr("found 'v'"));
}

// The numbers of legal configurations that are published with the recorded spaces.
TEST_F(KernelFileCode, SpacesOfTheFieldHaveTheirPublishedSizesShared) {
  const std::filesystem::path folder = std::filesystem::path(DEPLO_SOURCE_DIR) / "../shared/spaces/t1";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no folder shared beside the clone";
  write("any.cu",
        "void convolution_kernel, dedispersion_kernel, gemm_fast, Xgemm, calculate_temp;\n// read_only use_padding "
        "tile_size_x "
        "tile_size_y use_shmem sh_power loop_unroll_factor_t loop_unroll_factor_channel tile_stride_x tile_stride_y "
        "temporal_tiling_factor MDIMA NDIMB VWM VWN STRM STRN SA SB blocks_per_sm KWI KWG "
        "MWG NWG MDIMC NDIMC\n");
  const std::pair<const char*, double> sizes[] = {
      {"convolution_milo", 4362}, {"dedispersion_milo", 11130}, {"gemm_milo", 116928}, {"hotspot_milo", 82984}};
  for (const auto& [name, legal] : sizes)
    EXPECT_EQ(KernelFile({(folder / (std::string(name) + ".T1.json")).string(), (folder_.path() / "any.cu").string()})
                  .space()
                  .legal(),
              legal)
        << name;
}

}  // namespace
}  // namespace deplo::engine::foreign
