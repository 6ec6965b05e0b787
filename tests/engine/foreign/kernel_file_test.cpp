// What deplo makes from a kernel file: its grid, options, text and arguments.
#include "engine/foreign/kernel_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "measure/store_fixture.h"

namespace deplo::engine::foreign {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class KernelFileCode : public ::testing::Test {
 protected:
  /// Returns a kernel with the parameters bx, w and f, described in YAML. `launch` has further lines of its
  /// specification.
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
  EXPECT_THAT(blocks(local + "  GlobalSizeType: CUDA\n  GlobalSize: {X: \"96 / bx + 0.5\", Y: \"5\"}\n"),
              ElementsAre(3, 5));
  EXPECT_THAT(blocks(local + "  GlobalSizeType: OpenCL\n  GlobalSize: {X: \"100\", Y: \"5\"}\n"), ElementsAre(3, 3));
  EXPECT_THAT(blocks(local + "  GlobalSize: {X: \"100\", Y: \"5\"}\n"), ElementsAre(3, 3)) << "as OpenCL counts";
}

TEST_F(KernelFileCode, GridsMayHaveMoreDimensionsThanBlocks) {
  const auto launch = [&](const std::string& sizes) { return describe(*heuristic(file(sizes)).launch); };
  const std::string local = "  LocalSize: {X: bx}\n";
  EXPECT_EQ(launch(local + "  ProblemSize: [100, 7]\n  GridDivX: [bx]\n"), "3x7 blocks of 48x1 threads");
  EXPECT_EQ(launch(local + "  ProblemSize: [100, 7, 2]\n"), "3x7x2 blocks of 48x1x1 threads");
  EXPECT_EQ(launch(local + "  GlobalSize: {X: 100, Y: 7}\n"), "3x7 blocks of 48x1 threads");
  EXPECT_EQ(launch(local + "  ProblemSize: [100, 1, 1]\n"), "3 blocks of 48 threads");
}

TEST_F(KernelFileCode, SizesAreAMapAListOrOne) {
  const auto launch = [&](const std::string& sizes) { return describe(*heuristic(file(sizes)).launch); };
  EXPECT_EQ(launch("  LocalSize: {Y: bx}\n  ProblemSize: [3, 96]\n"), "3x2 blocks of 1x48 threads");
  EXPECT_EQ(launch("  LocalSize: {X: bx, Z: 2}\n  ProblemSize: [96, 3, 4]\n"), "2x3x2 blocks of 48x1x2 threads");
  EXPECT_EQ(launch("  LocalSize: [bx, 2]\n  GlobalSize: [96, 6]\n"), "2x3 blocks of 48x2 threads");
  EXPECT_EQ(launch("  LocalSize: bx\n  GlobalSize: 96\n"), "2 blocks of 48 threads");
  EXPECT_EQ(launch("  LocalSize: bx\n  ProblemSize: 96\n  GridDivX: bx / 2\n"), "4 blocks of 48 threads");
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
  // A kernel's identity includes its arguments and its source, but not the values of its parameters.
  EXPECT_THAT(made.identity(), HasSubstr("argument y int[128] output\nproblem 96\n"));
  EXPECT_THAT(made.identity(), ::testing::Not(HasSubstr("[32, 48")));
}

TEST_F(KernelFileCode, NamesInCudaAreNotMangled) {
  const KernelFile made = file("  Language: CUDA\n  LocalSize: {X: bx}\n  ProblemSize: [96]\n", "k.cu");
  EXPECT_THAT(heuristic(made).source.text, HasSubstr("\nextern \"C\" __global__ void k() {}"));
  EXPECT_TRUE(heuristic(made).source.architecture_specific);  // so that users' kernels may use wgmma
}

TEST_F(KernelFileCode, TheReferenceHasFixedParametersAndDefaults) {
  const KernelFile made =
      file("  LocalSize: {X: bx}\n  ProblemSize: [96]\n", "k.cl", "Reference: {Parameters: {bx: 32}}\n");
  const measure::Expectation expected = made.expectation();
  ASSERT_TRUE(expected.kernel.has_value());
  EXPECT_THAT(expected.kernel->source.text, HasSubstr("#define bx 32\n#define w fast\n"));
  EXPECT_THAT(expected.name, HasSubstr("the reference (bx=32, w=fast, f=0.5)"));
}

/// Makes a kernel k with these arguments. Its parameter bx is 32 or 64, because a condition excludes 48.
class KernelFileArguments : public KernelFileCode {
 protected:
  KernelFile with(const std::string& arguments, const std::string& language = "OpenCL", const std::string& name = "k",
                  const std::string& more = "",
                  const std::string& source = "template __global__ void k() {}  // __kernel; bx") const {
    write("k.c", source + "\n");
    write("k.yaml",
          "ConfigurationSpace:\n  TuningParameters:\n    - {Name: bx, Values: [32, 48, 64], Default: 32}\n"
          "  Conditions: [bx != 48]\n"
          "KernelSpecification:\n  Language: " +
              language + "\n  KernelName: \"" + name +
              "\"\n  KernelFile: k.c\n  ProblemSize: [960]\n  LocalSize: {X: bx}\n  Arguments:\n" +
              "    - {Name: y, Type: float, Size: 960, AccessType: WriteOnly}\n" + arguments + more);
    return KernelFile({(folder_.path() / "k.yaml").string()});
  }
  template <class... Words>
  std::string fault(const Words&... words) const {
    try {
      heuristic(with(words...));
      return "none";
    } catch (const Error& error) {
      return error.what();
    }
  }
};

/// Kernels in CUDA C++ with this source and name, whose parameter bx is 32 or 64.
class KernelFileNames : public KernelFileArguments {
 protected:
  measure::KernelCode code(const std::string& source, const std::string& name = "k") const {
    return heuristic(with("", "CUDA", name, "", source + "  // bx"));
  }
};

TEST_F(KernelFileNames, DeclarationsThatDoNotBeginWithGlobalKeepTheirMangledName) {
  const auto text = [&](const std::string& source) { return code(source).source.text; };
  EXPECT_THAT(text("// The __global__ kernel k\n#define A 2\n/* ; */ __global__ void k(float* y) {}"),
              HasSubstr("/* ; */ extern \"C\" __global__ void k(float* y) {}"));
  for (const char* const start : {"static __global__", "__launch_bounds__(64) __global__", "inline __global__"}) {
    const measure::KernelCode made = code(std::string(start) + " void k(float* y) {}");
    EXPECT_EQ(made.source.entry, "::k") << start;
    EXPECT_EQ(made.kernel.name, "k");
    EXPECT_THAT(made.source.text, ::testing::Not(HasSubstr("extern \"C\""))) << start;
  }
  EXPECT_EQ(code("extern \"C\" { __global__ void k(float* y) {} }").source.entry, "k");
  EXPECT_EQ(code("// no extern \"C\"\nstatic __global__ void k(float* y) {}").source.entry, "::k");
}

TEST_F(KernelFileNames, ATemplateWithOneInstanceNeedsNoArguments) {
  const std::string k = "template <int N>\n__global__ void k(float* y) {}\n";
  const std::string one = k + "template __global__ void k<bx + 1>(float*);\n";
  EXPECT_EQ(code(one).source.entry, "k<32 + 1>");
  EXPECT_EQ(code(one, "k<3>").source.entry, "k<3>");
  EXPECT_EQ(code("namespace a {\n" + k + "template <> __global__ void k<2>(float* y) {}}", "a::k").source.entry,
            "a::k<2>");
  const auto refusal = [&](const std::string& source) { return fault("", "CUDA", "k", "", source + "  // bx"); };
  EXPECT_THAT(refusal(k), HasSubstr("expected an instance of the template 'k', such as k<float>, found text \"k\""));
  EXPECT_THAT(refusal(one + "template __global__ void k<2>(float*);"),
              HasSubstr("expected an instance of the template 'k', such as k<bx + 1>, found text \"k\""));
}

TEST_F(KernelFileArguments, LocalMemoryVectorsAndStructs) {
  const KernelFile made = with(
      "    - {Name: l, Type: float2, MemoryType: Local, Size: bx + 1}\n"
      "    - {Name: v, Type: int2, MemoryType: Scalar, FillValue: [1, 2]}\n"
      "    - {Name: same, Type: uint3, MemoryType: Scalar, FillValue: 7}\n"
      "    - {Name: s, Type: struct, Members: [{Type: half, FillValue: 1}, {Type: int, FillValue: 2}, {Type: "
      "double, FillValue: 0}]}\n");
  const measure::KernelCode code = heuristic(made);
  ASSERT_EQ(code.launch->scalars.size(), 4u);
  EXPECT_EQ(code.launch->scalars[0].position, 1u);
  EXPECT_EQ(code.launch->scalars[0].local_bytes, 33u * 8);
  EXPECT_TRUE(code.launch->scalars[0].bytes.empty());
  EXPECT_THAT(code.launch->scalars[1].bytes, ElementsAre(1, 0, 0, 0, 2, 0, 0, 0));
  EXPECT_EQ(code.launch->scalars[2].bytes.size(), 16u) << "three take the place of four";
  EXPECT_THAT(code.launch->scalars[3].bytes, ElementsAre(0, 0x3c, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(code.source.text, HasSubstr("l = local, 264 bytes, v = 1,2, same = 7, s = {1 2 0}"));
  EXPECT_THAT(fault("    - {Name: l, Type: float, MemoryType: Local, Size: 1}\n", "CUDA"),
              HasSubstr("Local exists only in OpenCL"));
  EXPECT_THAT(fault("    - {Name: v, Type: int2, MemoryType: Scalar, FillValue: [1, 2, 3]}\n"),
              HasSubstr("expected 2 values of the type int2, found 3 values"));
}

// A kernel may be called "reduce", although a program of Loop IR may not.
TEST_F(KernelFileArguments, NamesThatAreWordsOfLoopIr) {
  const measure::KernelCode code = heuristic(with("", "OpenCL", "reduce", "", "__kernel void reduce() {}  // bx"));
  EXPECT_EQ(code.source.entry, "reduce");
  EXPECT_EQ(code.kernel.name, "reduce_");
  EXPECT_THAT(heuristic(with("", "CUDA", "reduce", "", "__global__ void reduce() {}  // bx")).source.text,
              HasSubstr("extern \"C\" __global__ void reduce()"));
  for (const char* const name : {"in", "max", "1x", "a.b"})
    EXPECT_THAT(fault("    - {Name: " + std::string(name) + ", Type: float, Size: 4}\n"),
                HasSubstr("that is no word of Loop IR, found '" + std::string(name) + "'"));
}

TEST_F(KernelFileArguments, ValuesThatWouldBeIgnoredAreRefused) {
  const auto x = [&](const std::string& keys) {
    return fault("    - {Name: x, Type: float, Size: 2, " + keys + "}\n");
  };
  EXPECT_THAT(x("FillValue: [1, 2]"), HasSubstr("expected one value; FillType: File or Generator gives"));
  EXPECT_THAT(x("AccessType: readwrite"), HasSubstr("expected ReadOnly, WriteOnly or ReadWrite, found 'readwrite'"));
  EXPECT_EQ(x("AccessType: ReadOnly, FillValue: 1"), "none");
}

// CUDA C++ Programming Guide, "Alignment Requirements in Device Code": float3 has 12 bytes and an alignment of 4.
TEST_F(KernelFileArguments, VectorsOfThreeHaveThreeElementsInCuda) {
  const KernelFile made = with(
      "    - {Name: x, Type: float3, Size: 10}\n"
      "    - {Name: v, Type: short3, MemoryType: Scalar, FillValue: [1, 2, 3]}\n"
      "    - {Name: s, Type: struct, Members: [{Type: char, FillValue: 1}, {Type: short3, FillValue: 2}, {Type: char, "
      "FillValue: 3}, {Type: float2, FillValue: 0}]}\n",
      "CUDA");
  EXPECT_EQ(made.signature().buffers[1].shape[0], 30);
  const measure::KernelCode code = heuristic(made);
  EXPECT_THAT(code.launch->scalars[0].bytes, ElementsAre(1, 0, 2, 0, 3, 0));
  EXPECT_THAT(code.launch->scalars[1].bytes,
              ElementsAre(1, 0, 2, 0, 2, 0, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
}

TEST_F(KernelFileArguments, TypesOfEachWidth) {
  const auto bytes = [&](const std::string& type, const std::string& value) {
    return heuristic(with("    - {Name: s, Type: \"" + type + "\", MemoryType: Scalar, FillValue: " + value + "}\n"))
        .launch->scalars[0]
        .bytes;
  };
  EXPECT_THAT(bytes("char", "-128"), ElementsAre(128));
  EXPECT_THAT(bytes("uint8", "255"), ElementsAre(255));
  EXPECT_THAT(bytes("short2", "[-2, 3]"), ElementsAre(254, 255, 3, 0));
  EXPECT_THAT(bytes("unsigned short", "65535"), ElementsAre(255, 255));
  EXPECT_THAT(bytes("ulong", "2 ** 62 - 1 + 2 ** 62"), ElementsAre(255, 255, 255, 255, 255, 255, 255, 127));
  EXPECT_THAT(bytes("long", "2 ** 62 + 1"), ElementsAre(1, 0, 0, 0, 0, 0, 0, 64)) << "which no double holds";
  EXPECT_THAT(bytes("float64", "1"), ElementsAre(0, 0, 0, 0, 0, 0, 240, 63));
  EXPECT_EQ(bytes("float16", "1").size(), 64u) << "a vector, as in T1";
  EXPECT_THAT(bytes("bfloat16", "1.5"), ElementsAre(0xc0, 0x3f));
  EXPECT_THAT(bytes("bfloat162", "[1, 2]"), ElementsAre(0x80, 0x3f, 0, 0x40)) << "CUDA's __nv_bfloat162";
  EXPECT_EQ(bytes("int16", "1").size(), 2u) << "no vector, as in T1";
  const auto dtype = [&](const std::string& type) {
    const ir::Buffer buffer = with("    - {Name: x, Type: " + type + ", Size: 4}\n").signature().buffers[1];
    return std::pair(buffer.dtype, buffer.shape[0]);
  };
  EXPECT_EQ(dtype("uchar4"), std::pair(ir::DType::u8, std::int64_t{16}));
  EXPECT_EQ(dtype("double3"), std::pair(ir::DType::f64, std::int64_t{16})) << "three take the place of four";
  EXPECT_EQ(dtype("uint64"), std::pair(ir::DType::u64, std::int64_t{4}));
  EXPECT_THAT(fault("    - {Name: s, Type: uchar, MemoryType: Scalar, FillValue: 256}\n"),
              HasSubstr("expected a value of the type uchar, found 256"));
  EXPECT_THAT(fault("    - {Name: s, Type: int, MemoryType: Scalar, FillValue: 0.5}\n"),
              HasSubstr("expected a value of the type int, found 0.5"));
  EXPECT_THAT(fault("    - {Name: x, Type: char, Size: 4, FillValue: 200}\n"),
              HasSubstr("FillValue: expected whole numbers that i8 holds, found randint(0, 201)"));
  EXPECT_THAT(
      fault("    - {Name: x, Type: string, Size: 4}\n"),
      HasSubstr("expected a type (float, half, int, uint, long, ulong, short, ushort, char, uchar, double, bool, "
                "bfloat16, or a vector of these such as float4)"));
}

// An array's size is the largest over all legal configurations. bx = 48 would need a larger array, but is not legal.
TEST_F(KernelFileArguments, SizesMayDependOnParameters) {
  const auto elements = [&](const std::string& size) {
    return with("    - {Name: x, Type: float, Size: \"" + size + "\"}\n").signature().buffers[1].shape[0];
  };
  EXPECT_EQ(elements("960 / bx + 1"), 31);
  EXPECT_EQ(elements("100 if bx == 48 else bx"), 64);
  EXPECT_EQ(elements("100 / bx"), 4) << "rounded up";
  EXPECT_EQ(elements("max(bx)"), 64) << "of all values";
  EXPECT_EQ(elements("min(bx, 50)"), 50);
  EXPECT_THAT(fault("    - {Name: x, Type: float, Size: bx - 32}\n"), HasSubstr("expected an array size from 1"));
  EXPECT_THAT(fault("    - {Name: x, Type: float, Size: by}\n"),
              HasSubstr("k.yaml:13: expected ProblemSize or a parameter, found 'by'; did you mean 'bx'?"));
}

TEST_F(KernelFileArguments, ScratchMemoryIsNotCompared) {
  const KernelFile made = with("    - {Name: t, Type: float, Size: 960 / bx, AccessType: WriteOnly, Output: 0}\n");
  EXPECT_THAT(made.expectation().ignored, ElementsAre("t"));
  EXPECT_THAT(made.identity(), HasSubstr("argument t float[30] output scratch"));
}

TEST_F(KernelFileArguments, SumsOfOutputsAreCompared) {
  const KernelFile made = with("    - {Name: t, Type: float, Size: 960 / bx, AccessType: WriteOnly, Output: sum}\n");
  EXPECT_THAT(made.expectation().summed, ElementsAre("t"));
  EXPECT_TRUE(made.expectation().ignored.empty());
  EXPECT_THAT(made.identity(), HasSubstr("argument t float[30] output sum"));
  EXPECT_THAT(fault("    - {Name: t, Type: int, Size: 960 / bx, AccessType: WriteOnly, Output: sum}\n"),
              HasSubstr("expected a FillValue, such as 0, for integers"));
  const KernelFile filled =
      with("    - {Name: t, Type: int, Size: 960 / bx, AccessType: WriteOnly, Output: sum, FillValue: 0}\n");
  EXPECT_EQ(ir::print(filled.signature().buffers.back().fill.value()), "constant(0)")
      << "elements that the kernel does not write add nothing to the sum";
}

TEST_F(KernelFileArguments, AFillValueOfZeroMeansZeros) {
  const auto zeroed = [&](const std::string& keys) {
    return heuristic(with("    - {Name: t, Type: uint, Size: 64, AccessType: ReadWrite, FillValue: 0" + keys + "}\n"))
        .source.zeroed;
  };
  EXPECT_EQ(zeroed("").size(), zeroed(", FillType: Constant").size());
  EXPECT_EQ(zeroed("").size(), zeroed(", FillType: Random").size() + 1);
}

TEST_F(KernelFileArguments, TemplatesAndConstantVariablesOfCuda) {
  const std::string arguments =
      "    - {Name: c, Type: float, MemoryType: Symbol, Size: 16}\n"
      "    - {Name: n, Type: int, MemoryType: Scalar, FillValue: 3}\n"
      "    - {Name: x, Type: float, Size: 960}\n";
  const measure::KernelCode code = heuristic(with(arguments, "CUDA", "ns::k<float, bx, 2*bx>"));
  EXPECT_EQ(code.source.entry, "ns::k<float, 32, 2*32>");
  EXPECT_EQ(code.kernel.name, "k");
  EXPECT_THAT(code.source.text, ::testing::Not(HasSubstr("extern \"C\"")));
  ASSERT_EQ(code.launch->symbols.size(), 1u);
  EXPECT_EQ(code.launch->symbols[0].buffer, 1u);
  EXPECT_EQ(code.launch->symbols[0].name, "c");
  EXPECT_EQ(code.launch->scalars[0].position, 1u) << "a symbol is no parameter";
  EXPECT_THAT(fault(arguments), HasSubstr("Symbol exists only in CUDA"));
  EXPECT_THAT(fault("", "OpenCL", "k<1>"), HasSubstr("only CUDA C++ has templates"));
}

// Kernel Tuner copies these arrays to a __constant__ variable, and also passes them as arguments.
TEST_F(KernelFileArguments, ConstantMemoryOfOtherTools) {
  const std::string n = "    - {Name: n, Type: int, MemoryType: Scalar, FillValue: 3}\n";
  for (const std::string key : {"MemType: Constant", "MemoryType: Constant", "MemoryType: Vector, MemType: Constant"}) {
    const std::string arguments = "    - {Name: c, Type: float, Size: 16, " + key + "}\n" + n;
    const auto launch = [&](const std::string& parameters) {
      return *heuristic(with(arguments, "CUDA", "k", "", "__global__ void k(" + parameters + ") {}  // bx")).launch;
    };
    const measure::Launch both = launch("float* y, const float* unused, int n");
    ASSERT_EQ(both.symbols.size(), 1u) << key;
    EXPECT_EQ(both.symbols[0].name, "c");
    EXPECT_TRUE(both.symbols[0].is_parameter);
    EXPECT_EQ(both.scalars[0].position, 2u);
    const measure::Launch only = launch("float* y /* , */, int n");
    ASSERT_EQ(only.symbols.size(), 1u);
    EXPECT_FALSE(only.symbols[0].is_parameter);
    EXPECT_EQ(only.scalars[0].position, 1u);
    for (const std::string macro : {"PARAMETERS(float*, int)", "PARAMETERS", "float* y MORE"})
      EXPECT_TRUE(launch(macro).symbols[0].is_parameter) << "as in Kernel Tuner: " << macro;
    const measure::Launch opencl = *heuristic(with(arguments)).launch;
    EXPECT_TRUE(opencl.symbols.empty()) << "a parameter of type __constant";
    EXPECT_EQ(opencl.scalars[0].position, 2u);
  }
  EXPECT_THAT(fault("    - {Name: c, Type: int, MemoryType: Scalar, MemType: Constant, FillValue: 3}\n", "CUDA"),
              HasSubstr("expected Constant with MemoryType: Vector only"));
}

TEST_F(KernelFileArguments, ArraysOfNpzFiles) {
  const std::string archive = DEPLO_SOURCE_DIR "/tests/data/kernel_files/arrays.npz";
  const auto x = [&](const std::string& file) {
    return "    - {Name: x, Type: float, Size: 64, FillType: File, FillValue: \"" + archive + file + "\"}\n";
  };
  const KernelFile own = with(x("")), other = with(x(":other"));
  const auto value = [](const KernelFile& made) {
    return measure::input_values(made.signature(), 1, 0, made.inputs())[5];
  };
  EXPECT_EQ(value(own), 5.0 / 8);
  EXPECT_EQ(value(other), 1);
  EXPECT_THAT(fault(x(":none")), HasSubstr("arrays.npz: expected an array 'none', found other, x"));
  EXPECT_THAT(fault(x(":othr")), HasSubstr("found other, x; did you mean 'other'?"));
  EXPECT_THAT(fault("    - {Name: x, Type: float, Size: 8, FillType: File, FillValue: \"" + archive + "\"}\n"),
              HasSubstr("arrays.npz: expected 8 elements of 'x', found 64"));
}

// The errors are reported when the space is read. They name the space's line and the file as it is written there.
TEST_F(KernelFileArguments, FilesOfTheReferenceFit) {
  const std::string archive = DEPLO_SOURCE_DIR "/tests/data/kernel_files/arrays.npz";
  const std::string n = "    - {Name: n, Type: int, MemoryType: Scalar, FillValue: 1}\n";
  const auto outputs = [&](const std::string& text) {
    return fault(n, "OpenCL", "k", "Reference: {Outputs: {" + text + "}}\n");
  };
  EXPECT_THAT(outputs("y: \"" + archive + ":other\""),
              AllOf(HasSubstr("k.yaml:"), HasSubstr("arrays.npz:other: expected 960 elements of 'y', found 64")));
  EXPECT_THAT(outputs("y: \"" + archive + "\""), HasSubstr("arrays.npz: expected an array 'y', found other, x"));
  EXPECT_THAT(outputs("Y: y.npy"), HasSubstr("expected the name of an output (y), found 'Y'"));
  EXPECT_THAT(outputs("n: y.npy"), HasSubstr("expected the name of an output (y), found 'n'"));
  EXPECT_THAT(outputs("y: none.npy"), HasSubstr("none.npy: expected a .npy file, found none"));
}

TEST_F(KernelFileArguments, ArraysOfRawFiles) {
  const std::vector<float> values{1, 2.5, -3};
  write("x.raw", std::string(reinterpret_cast<const char*>(values.data()), sizeof(float) * values.size()));
  const auto x = [](int elements) {
    return "    - {Name: x, Type: float, Size: " + std::to_string(elements) +
           ", FillType: BinaryRaw, DataSource: x.raw}\n";
  };
  const KernelFile made = with(x(3));
  EXPECT_EQ(measure::input_values(made.signature(), 1, 0, made.inputs())[1], 2.5);
  EXPECT_THAT(fault(x(4)), HasSubstr("expected a file of 16 bytes, not 12, found "));
  write("x.raw", std::string("\xc0\x3f\x80\xbf", 4));
  const KernelFile brief = with("    - {Name: x, Type: bfloat16, Size: 2, FillType: BinaryRaw, DataSource: x.raw}\n");
  EXPECT_EQ(measure::input_values(brief.signature(), 1, 0, brief.inputs())[0], 1.5);
  EXPECT_EQ(measure::input_values(brief.signature(), 1, 0, brief.inputs())[1], -1);
}

TEST_F(KernelFileArguments, HalvesAreNotPassedAsBfloat16) {
  EXPECT_THAT(fault("    - {Name: x, Type: half, MemoryType: Scalar, FillValue: 1}\n", "CUDA", "k", "",
                    "__global__ void k(float* y, __nv_bfloat16 x) {}  // bx"),
              HasSubstr("expected __nv_bfloat16 as argument 'x' of the kernel 'k', found a value of the type half"));
}

TEST_F(KernelFileArguments, HandlesOfCudaAndOpenClAreRefused) {
  const auto refusal = [&](const std::string& language, const std::string& parameter) {
    return fault("    - {Name: x, Type: ulong, MemoryType: Scalar, FillValue: 0}\n", language, "k", "",
                 (language == "CUDA" ? "__global__" : "__kernel") + (" void k(float* y, " + parameter) + ") {}  // bx");
  };
  EXPECT_THAT(refusal("CUDA", "cudaTextureObject_t x"),
              HasSubstr("found a parameter of the type cudaTextureObject_t: kernel files have no images, textures"));
  EXPECT_THAT(refusal("CUDA", "const __grid_constant__ CUtensorMap x"), HasSubstr("of the type CUtensorMap"));
  EXPECT_THAT(refusal("OpenCL", "__read_only image2d_t x"), HasSubstr("of the type image2d_t"));
  EXPECT_THAT(refusal("OpenCL", "sampler_t x"), HasSubstr("of the type sampler_t"));
  EXPECT_EQ(refusal("CUDA", "unsigned long long x"), "none");
  EXPECT_EQ(refusal("CUDA", "CUtensorMap* x"), "none") << "a pointer of 8 bytes";
}

// Keys that KTT's loader defines.
TEST_F(KernelFileArguments, SharedMemoryAndTypeNames) {
  const std::string more = "  SharedMemory: bx * 4\n  KernelTypeNames: [float, int]\n";
  const measure::KernelCode code = heuristic(with("", "CUDA", "k", more));
  EXPECT_EQ(code.source.entry, "k<float, int>");
  EXPECT_TRUE(code.source.dynamic_shared);
  EXPECT_EQ(code.source.shared_bytes, 128);
  EXPECT_THAT(code.source.text, HasSubstr("128 bytes of shared memory"));
  EXPECT_EQ(heuristic(with("", "CUDA", "k", "  SharedMemory: bx - 32\n")).source.shared_bytes, 0);
  EXPECT_THAT(fault("", "CUDA", "k", "  SharedMemory: bx - 33\n"),
              HasSubstr("expected an amount of shared memory from 0 to 2^31, found -1"));
  EXPECT_THAT(fault("", "OpenCL", "k", "  SharedMemory: 4\n"), HasSubstr("no SharedMemory in OpenCL"));
}

TEST_F(KernelFileArguments, TheReferenceMayBeAProgram) {
  write("twice.loop",
        "=== loop: twice ===\ninput x: f32[30, 32]\noutput y: f32[30, 32]\nfor a0 in 0..30: # free\n"
        "  for a1 in 0..32: # free\n    in0 = load x[a0, a1]\n    v0 = multiply(in0, 2)\n    y[a0, a1] = v0\n");
  const std::string x = "    - {Name: x, Type: float, Size: 960}\n";
  const std::string reference = "Reference: {Program: twice.loop}\n";
  const KernelFile made = with(x, "OpenCL", "k", reference);
  EXPECT_THAT(made.expectation().program, HasSubstr("y[a0, a1]"));
  EXPECT_FALSE(made.expectation().kernel);
  EXPECT_THAT(fault("    - {Name: x, Type: float, Size: 961}\n", "OpenCL", "k", reference),
              HasSubstr("expected 961 elements of the input 'x', found 960"));
  EXPECT_THAT(fault("    - {Name: z, Type: float, Size: 960}\n", "OpenCL", "k", reference),
              HasSubstr("expected an input 'x' of the kernel"));
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
  EXPECT_THAT(fault("  LocalSize: [bx, 1, 1, 1]\n  ProblemSize: [96]\n"), HasSubstr("expected one to three sizes"));
  EXPECT_THAT(fault("  LocalSize: {X: bx, W: 1}\n  ProblemSize: [96]\n"), HasSubstr("expected one of X, Y, Z"));
  EXPECT_THAT(fault("  LocalSize: {X: bx}\n"), HasSubstr("expected GlobalSize or ProblemSize, found neither"));
  EXPECT_THAT(fault("  LocalSize: {X: bx - 48}\n  ProblemSize: [96]\n"),
              HasSubstr("k.yaml:9: expected a block size from 1 to 2^31, found 0 from 'bx - 48' in the configuration "
                        "bx=48 w=fast f=0.5"));
  EXPECT_THAT(fault("  GlobalSize: {X: 2 ** 30, Y: bx}\n  GlobalSizeType: CUDA\n  LocalSize: {X: bx, Y: 1}\n"),
              HasSubstr("expected a grid of at most 2^31 - 1 blocks, found 1073741824x48 in the configuration bx=48"));
  EXPECT_THAT(fault("  LocalSize: {X: by}\n  ProblemSize: [96]\n"),
              HasSubstr("k.yaml:9: expected ProblemSize or a parameter, found 'by'"));
  EXPECT_THAT(fault("  LocalSize: {X: bx}\n  ProblemSize: [0]\n"), HasSubstr("expected a whole number above 0"));
  EXPECT_THAT(fault("  LocalSize: {X: bx}\n  ProblemSize: [96]\n  CompilerOptions: [\"${v}\"]\n"),
              HasSubstr("found 'v'"));
  EXPECT_THAT(fault("  LocalSize: {X: bx}\n  ProblemSize: [96]\n  CompilerOptions: [\"-D${bx\"]\n"),
              HasSubstr("expected a parameter between ${ and }, found text \"-D${bx\""));
  const std::string launch = "  LocalSize: {X: bx}\n  ProblemSize: [96]\n  CompilerOptions: [-O3 -arch=sm_80]\n";
  EXPECT_THAT(fault("  Language: CUDA\n" + launch), HasSubstr("expected no option for the architecture"));
  EXPECT_EQ(fault(launch), "none") << "OpenCL's compilers know other options";
  EXPECT_THAT([] { KernelFile({"tune.py"}); },
              ::testing::ThrowsMessage<Error>(HasSubstr("tune.py: expected a space in the T1 format")));
}

// Mistakes that concern all configurations are found when the file is read.
TEST_F(KernelFileCode, SizesThatAreNeverLegalAreFoundAtOnce) {
  const auto fault = [&](const std::string& launch) -> std::string {
    try {
      file(launch);
      return "none";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(fault("  LocalSize: {X: 0}\n  ProblemSize: [96]\n"),
              ::testing::EndsWith("k.yaml:9: expected a block size from 1 to 2^31, found 0 from '0'"));
  EXPECT_THAT(fault("  LocalSize: {X: \"ProblemSize[0] - 96\"}\n  ProblemSize: [96]\n"),
              HasSubstr("found 0 from 'ProblemSize[0] - 96'"));
  EXPECT_THAT(fault("  LocalSize: {X: bx}\n  ProblemSize: [96]\n  GridDivX: [bz]\n"), HasSubstr("found 'bz'"));
}

TEST_F(KernelFileCode, ADefaultIsOneOfTheValues) {
  const auto read = [&](const std::string& parameter) {
    write("k.cl", "__kernel void k() {}  // bx\n");
    write("k.yaml", "ConfigurationSpace:\n  TuningParameters:\n    - {Name: bx, " + parameter +
                        "}\nKernelSpecification:\n  KernelName: k\n  KernelFile: k.cl\n  LocalSize: {X: 8}\n"
                        "  ProblemSize: [8]\n  Arguments: [{Name: y, Type: int, Size: 8, AccessType: WriteOnly}]\n");
    return KernelFile({(folder_.path() / "k.yaml").string()}).space().parameters()[0];
  };
  const auto fault = [&](const std::string& parameter) -> std::string {
    try {
      read(parameter);
      return "none";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(read("Values: [64, 32]").fallback, 0u);
  EXPECT_EQ(read("Values: [64, 32], Default: 32").fallback, 1u);
  EXPECT_EQ(read("Values: [64, 32], Default: null").fallback, 0u);
  EXPECT_EQ(read("Values: [64], Default: 7").fallback, 0u) << "a constant";
  EXPECT_THAT(fault("Values: [64, 32], Default: 7"),
              HasSubstr("k.yaml:3: expected one of the Values of bx (64, 32), found '7'"));
  EXPECT_THAT(fault("Values: \"[i for i in range(30)]\", Default: 30"), HasSubstr(", 18, 19, …), found '30'"));
  EXPECT_THAT(fault("Values: []"), HasSubstr("k.yaml:3: expected 1 to 4096 values, found none"));
}

// A launch size that is not legal is a failure of its configuration, not of the file.
TEST_F(KernelFileCode, AConfigurationThatCannotBeLaunchedIsAFailure) {
  const KernelFile made = file("  LocalSize: {X: 64 - bx}\n  ProblemSize: [96]\n");
  EXPECT_TRUE(made.launchable(*made.candidate("bx=32", "")).ok());
  const auto failed = made.launchable(*made.candidate("bx=64", ""));
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.failure().status, Status::invalid);
  EXPECT_THAT(failed.failure().message, HasSubstr("found 0 from '64 - bx' in the configuration bx=64 w=fast f=0.5"));
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
