// Kernel files of other tools, and mistakes in kernel files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/error.h"
#include "engine/foreign/argument_fit.h"
#include "engine/foreign/declaration.h"
#include "engine/foreign/kernel_file.h"
#include "measure/check/inputs.h"
#include "measure/store_fixture.h"

namespace deplo::engine::foreign {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KernelFileOfOthers : public ::testing::Test {
 protected:
  /// Returns a T1 file. `arguments` has further members of the list of arguments, `more` has members of the
  /// specification.
  KernelFile t1(const std::string& arguments, const std::string& more = "", const std::string& top = "",
                const std::string& space = "") const {
    write("k.T1.json",
          R"({"General": {"BenchmarkName": "k", "Anything": 1}, "ConfigurationSpace": {"TuningParameters": [
             {"Name": "bx", "Type": "int", "Values": "[32, 64]"}])" +
              space + R"(}, "Search": {"Name": "Random"}, "Budget": [], "KernelSpecification": {"Language": ")" +
              language_ + R"(", "KernelName": "k", "KernelFile": "k.c", "Profiling": false, "ProblemSize": [64],
             "LocalSize": {"X": "bx"}, "Arguments": [
             {"Name": "y", "Type": "float", "Size": 64, "AccessType": "ReadWrite", "FillType": "Constant", "FillValue": 0})" +
              arguments + "]" + more + "}" + top + "}");
    write("k.c", source_);
    return KernelFile({(folder_.path() / "k.T1.json").string()});
  }
  template <class... Words>
  std::string fault(const Words&... words) const {
    try {
      heuristic(t1(words...));
      return "none";
    } catch (const Error& error) {
      return error.what();
    }
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_.path() / name) << text; }
  static measure::KernelCode heuristic(const KernelFile& file) {
    return file.code(file.space().configuration(*search::heuristic(file.space())));
  }
  /// Returns the values of the last argument.
  std::vector<double> values(const std::string& argument) const {
    const KernelFile made = t1(", " + argument);
    const ir::Numbers all =
        measure::input_values(made.signature(), made.signature().buffers.size() - 1, 0, made.inputs());
    return {all.begin(), all.end()};
  }

  std::string language_ = "OpenCL", source_ = "__kernel of macros: k, bx\n";
  measure::TemporaryFolder folder_;
};

TEST_F(KernelFileOfOthers, MisspeltKeysAreRefusedAndOthersAreNot) {
  EXPECT_EQ(fault(R"(, {"Name": "x", "Type": "float", "Size": 4, "HostCopy": true})"), "none");
  EXPECT_EQ(fault("", R"(, "SomeToolsOwnKey": 3)", R"(, "UserData": {})"), "none");
  EXPECT_EQ(fault("", R"(, "GridDivX": ["bx"], "GridDivY": null, "CompilerOptions": null)"), "none");
  EXPECT_EQ(fault("", R"(, "BenchmarkName": "k", "BenchmarkPath": "benchmarks")"), "none") << "as in BAT";
  EXPECT_THAT(fault(R"(, {"Name": "x", "Type": "float", "Size": 4, "FilValue": 3})"),
              HasSubstr("k.T1.json:4: expected a key of T1, found 'FilValue'; did you mean 'FillValue'?"));
  EXPECT_THAT(fault("", R"(, "GridDivXX": ["bx"])"), HasSubstr("found 'GridDivXX'; did you mean 'GridDivX'?"));
  EXPECT_THAT(fault("", "", R"(, "Refrence": {})"), HasSubstr("found 'Refrence'; did you mean 'Reference'?"));
  EXPECT_THAT(fault("", "", "", R"(, "Condition": [])"), HasSubstr("did you mean 'Conditions'?"));
  EXPECT_THAT(fault("", "", "", R"(, "Constraints": [])"), HasSubstr("expected Conditions, found Constraints"));
  EXPECT_THAT(fault("", R"(, "GlobalSize": {"x": "64"})"), HasSubstr("expected one of X, Y, Z, found the key 'x'"));
}

TEST_F(KernelFileOfOthers, YamlHasNoUnknownKeys) {
  const auto fault = [&](const std::string& space, const std::string& argument, const std::string& top,
                         const std::string& name = "k") {
    write("k.c", source_);
    write("k.yaml", "ConfigurationSpace:\n  TuningParameters:\n    - {Name: bx, Values: [32, 64]}\n" + space +
                        "KernelSpecification:\n  KernelName: " + name +
                        "\n  KernelFile: k.c\n  ProblemSize: [64]\n"
                        "  LocalSize: {X: bx}\n  Arguments:\n    - {Name: y, Type: float, Size: 64, " +
                        argument + "}\n" + top);
    try {
      KernelFile({(folder_.path() / "k.yaml").string()});
      return std::string("none");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(fault("", "AccessType: WriteOnly", ""), "none");
  EXPECT_THAT(fault("  Constraints: []\n", "AccessType: WriteOnly", ""), HasSubstr("expected Conditions"));
  EXPECT_THAT(fault("  Anything: []\n", "AccessType: WriteOnly", ""), HasSubstr("found the key 'Anything'"));
  EXPECT_THAT(fault("", "AcessType: WriteOnly", ""), HasSubstr("'AcessType'; did you mean 'AccessType'?"));
  EXPECT_THAT(fault("", "AccessType: WriteOnly", "Refrence: {}\n"), HasSubstr("did you mean 'Reference'?"));
  EXPECT_THAT(fault("", "AccessType: WriteOnly", "", "[k, second]"),
              HasSubstr("expected one kernel, because each kernel has its own space"));
}

TEST_F(KernelFileOfOthers, GridsOfAbsurdSizeAreOneLine) {
  write("k.c", source_);
  const auto fault = [&](const std::string& launch) {
    write("k.yaml",
          "ConfigurationSpace: {TuningParameters: [{Name: bx, Values: [32, 64]}]}\n"
          "KernelSpecification:\n  KernelName: k\n  KernelFile: k.c\n" +
              launch + "  Arguments: [{Name: y, Type: float, Size: 64, AccessType: WriteOnly}]\n");
    try {
      return testing::PrintToString(heuristic(KernelFile({(folder_.path() / "k.yaml").string()})).launch->blocks);
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(fault("  ProblemSize: [9223372036854775807]\n  LocalSize: {X: bx}\n"),
              HasSubstr("expected a grid of at most 2^31 - 1 blocks, found 288230376151711744"));
  EXPECT_THAT(fault("  ProblemSize: [2000000, 2000000]\n  LocalSize: {X: bx, Y: \"1\"}\n"),
              HasSubstr("expected a grid of at most 2^31 - 1 blocks, found 62500x2000000"));
  EXPECT_EQ(
      fault("  ProblemSize: [9223372036854775807]\n  LocalSize: {X: bx}\n  GridDivX: [2 ** 31, 2 ** 31, 2 ** 31]\n"),
      "{ 1 }");
  EXPECT_THAT(fault("  GlobalSize: {X: bx - 32}\n  LocalSize: {X: bx}\n"), HasSubstr("a global size from 1 to 2^31"));
}

TEST_F(KernelFileOfOthers, ArraysOfGeneratorsAndOfStructs) {
  EXPECT_THAT(values(R"({"Name": "x", "Type": "float", "Size": 4, "FillType": "Generator",
                         "DataSource": "i * 0.5 if i % 2 else ProblemSize[0]"})"),
              ElementsAre(64, 0.5, 64, 1.5));
  EXPECT_THAT(values(R"({"Type": "int32", "Size": 3, "FillType": "Generator", "DataSource": "(i // 2) * 10"})"),
              ElementsAre(0, 0, 10));
  EXPECT_THAT(
      fault(R"(, {"Name": "x", "Type": "float", "Size": 4, "FillType": "Generator", "DataSource": "rand() + 1"})"),
      HasSubstr("rand"));
  const KernelFile custom = t1(R"(, {"Name": "x", "Type": "custom", "TypeSize": 12, "Size": 4, "FillValue": 1})");
  EXPECT_EQ(custom.signature().buffers[1].shape[0], 48);
  EXPECT_EQ(custom.signature().buffers[1].dtype, ir::DType::u8);
  EXPECT_THAT(fault(R"(, {"Name": "x", "Type": "custom", "TypeSize": 12, "MemoryType": "Scalar", "FillValue": 1})"),
              HasSubstr("expected struct with Members"));
}

TEST_F(KernelFileOfOthers, NamesAreOptionalAndOlderKeysAreNamed) {
  const KernelFile made =
      t1(R"(, {"Type": "float", "Size": 4}, {"Type": "int", "MemoryType": "Scalar", "FillValue": 3})");
  EXPECT_THAT(made.argument_names(), ElementsAre("y", "arg1", "arg2"));
  EXPECT_THAT(fault("", R"(, "Modifiers": [])"), HasSubstr("expected LocalSize and GlobalSize as expressions"));
  EXPECT_THAT(fault(R"(, {"Name": "y", "Type": "float", "Size": 4})"), HasSubstr("expected each argument once"));
}

TEST_F(KernelFileOfOthers, ReferenceArgumentsAreTheReference) {
  const std::string bytes(64 * sizeof(float), '\0');
  write("y.raw", bytes);
  const KernelFile made = t1("", R"(, "ReferenceArguments": [{"Name": "r", "FillType": "BinaryRaw",
                             "DataSource": "y.raw", "TargetName": "y", "ValidationThreshold": 0.001}])");
  EXPECT_TRUE(made.expectation().files.contains("y"));
  EXPECT_FALSE(made.expectation().kernel);
  EXPECT_THAT(
      fault("", R"(, "ReferenceArguments": [{"FillType": "BinaryRaw", "DataSource": "y.raw", "TargetName": "z"}])"),
      HasSubstr("expected the name of an output"));
  EXPECT_THAT(
      fault("", R"(, "ReferenceArguments": [{"FillType": "BinaryRaw", "DataSource": "n.raw", "TargetName": "y"}])"),
      AllOf(HasSubstr("n.raw with the values of 'y', found none"), HasSubstr("a key Reference")));
  EXPECT_THAT(fault("", R"(, "ReferenceArguments": [{"FillType": "Random", "TargetName": "y"}])"),
              HasSubstr("expected File, BinaryRaw or Generator"));
}

// A source for Kernel Tuner has values for compilers that are not called by it.
TEST_F(KernelFileOfOthers, SourcesMayDefineParametersUnderAConditionOnly) {
  const auto text_of = [&](const std::string& head) {
    source_ = head + "\n__kernel void k(__global float* y) { y[0] = bx; }\n";
    return heuristic(t1("")).source.text;
  };
  EXPECT_THAT(text_of("#ifndef kernel_tuner\n#define bx 128\n#endif"),
              HasSubstr("#define bx 32\n#define kernel_tuner 1\n#line 1"));
  EXPECT_THAT(text_of("#ifndef bx\n#define bx 128\n#endif"), Not(HasSubstr("kernel_tuner")));
  EXPECT_THAT(text_of("/* #define bx 3 */\n#define by bx\n#define bx_2 bx"), HasSubstr("#define bx 32\n#line 1"));
  source_ = "/* a\n b */\n#if 1\n#endif\n #  define bx 128\n__kernel void k(__global float* y) { y[0] = bx; }\n";
  EXPECT_THAT(fault(""), HasSubstr("k.c:5: expected no #define of bx, whose values the space has, except between "
                                   "#ifndef bx and #endif, found #define bx"));
}

// KTT's kernels add to arrays that are declared as write-only.
TEST_F(KernelFileOfOthers, WriteOnlyArraysWithAFillValueHaveIt) {
  const auto source = [&](const std::string& fill) {
    return heuristic(t1(R"(, {"Name": "z", "Type": "float", "Size": 4, "AccessType": "WriteOnly")" + fill + "}"))
        .source;
  };
  EXPECT_THAT(source("").zeroed, ElementsAre(0u));
  EXPECT_THAT(source(R"(, "FillType": "Constant", "FillValue": 0.0)").restored, ElementsAre(1u));
  EXPECT_THAT(source(R"(, "FillType": "Constant", "FillValue": 2)").restored, ElementsAre(1u));
  EXPECT_THAT(source(R"(, "FillType": "Random")").restored, IsEmpty());
}

TEST_F(KernelFileOfOthers, ArgumentsThatSurelyDoNotFitAreRefused) {
  const auto with = [&](const std::string& parameter, const std::string& argument) {
    source_ = "/* k(int) */ __kernel void k(__global float* restrict y, " + parameter + ") {}  // bx\n";
    return fault(", {\"Name\": \"x\", " + argument + "}");
  };
  const std::string array = R"("Type": "float", "Size": 4)", integers = R"("Type": "int", "Size": 4)";
  const std::string number = R"("Type": "float", "MemoryType": "Scalar", "FillValue": 3)";
  const std::string integer = R"("Type": "int", "MemoryType": "Scalar", "FillValue": 3)";
  EXPECT_THAT(
      with("const int x", number),
      HasSubstr("k.T1.json:4: expected int as argument 'x' of the kernel 'k', found a value of the type float"));
  EXPECT_THAT(with("__global const float* x", integers), HasSubstr("expected float* as argument 'x'"));
  EXPECT_THAT(with("__global const float* x", number), HasSubstr("expected float* as argument 'x'"));
  EXPECT_THAT(with("unsigned int x", array),
              HasSubstr("expected unsigned int as argument 'x' of the kernel 'k', found an "
                        "array of float"));
  EXPECT_THAT(with("const long x", integer), HasSubstr("expected long as argument 'x'"));
  EXPECT_THAT(with("__global double x[]", array), HasSubstr("expected double* as argument 'x'"));
  for (const auto& [parameter, argument] : std::initializer_list<std::pair<std::string, std::string>>{
           {"const int x", integer},
           {"unsigned x", integer},
           {"__global float4* x", array},
           {"__constant unsigned char* x", integers},
           {"__global void* x", integers},
           {"__global real* x", integers},
           {"struct s x", integer},
           {"REAL x", number},
           {"__local float* x", R"("Type": "float", "MemoryType": "Local", "Size": 4)"},
           {"__global float* x MORE", integers},
           {"\n#ifdef A\nint x\n#else\nfloat x\n#endif\n", number}})
    EXPECT_EQ(with(parameter, argument), "none") << parameter;
  source_ = "#define int float\n__kernel void k(__global float* y, int x) {}  // bx\n";
  EXPECT_EQ(fault(", {\"Name\": \"x\", " + number + "}"), "none") << "a macro";
  source_ = "typedef unsigned long int; \n__kernel void k(__global float* y, int x) {}  // bx\n";
  EXPECT_EQ(fault(", {\"Name\": \"x\", " + number + "}"), "none") << "a typedef";
  source_ = "__kernel void k(__global float* y, int x);\n__kernel void k(__global float* y, float x) {}  // bx\n";
  EXPECT_EQ(fault(", {\"Name\": \"x\", " + number + "}"), "none") << "two declarations";
  source_ = "__kernel void k(__global float* y, const int x) {}  // bx\n";
  EXPECT_EQ(fault(", {\"Name\": \"x\", " + number + "}", R"(, "CompilerOptions": ["-Dint=float"])"), "none");
}

TEST_F(KernelFileOfOthers, AnOutputThatDependsOnTheConfigurationNamesTheWayOut) {
  language_ = "CUDA";
  std::string text = fault("");
  EXPECT_EQ(text, "none");
  write("k.c", source_);
  write("k.yaml",
        "ConfigurationSpace: {TuningParameters: [{Name: bx, Values: [32, 64]}]}\n"
        "KernelSpecification:\n  KernelName: k\n  KernelFile: k.c\n  ProblemSize: [64]\n  LocalSize: {X: bx}\n"
        "  Arguments: [{Name: y, Type: float, Size: 64, AccessType: WriteOnly, Output: 0}]\n");
  try {
    KernelFile({(folder_.path() / "k.yaml").string()});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("expected an output to compare"), HasSubstr("Output: sum compares only its sum")));
  }
}

}  // namespace
}  // namespace deplo::engine::foreign
