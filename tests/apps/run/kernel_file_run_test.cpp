// Users' own kernel files in the commands that also take our own kernels: run, bench, compile, check, packs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <nlohmann/json.hpp>

#include "apps/run_program.h"
#include "core/error.h"
#include "core/file.h"
#include "measure/cuda/compiler/nvrtc.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

/// y = f x + 1 and z = z + 1 for 256 elements, with blocks of BLOCK threads that each compute WORK elements.
constexpr const char* opencl =
    "__kernel void twice(const float f, __global const float* x, __global float* y, __global float* z) {\n"
    "  for (int w = 0; w < WORK; ++w) {\n"
    "    const int i = (get_group_id(0) * WORK + w) * BLOCK + get_local_id(0);\n"
    "    y[i] = f * x[i] + 1;\n    z[i] += 1;\n  }\n}\n";
constexpr const char* cuda =
    "template <int WORK_>\n"
    "__global__ void twice(const float f, const float* x, float* y, float* z) {\n"
    "  for (int w = 0; w < WORK_; ++w) {\n"
    "    const int i = (blockIdx.x * WORK_ + w) * BLOCK + threadIdx.x;\n"
    "    y[i] = f * x[i] + 1;\n    z[i] += 1;\n  }\n}\n";

class KernelFileRun : public ::testing::Test {
 protected:
  KernelFileRun() {
    write("twice.cl", opencl);
    write("twice.yaml", space("OpenCL", "twice", "twice.cl"));
  }
  static std::string space(const std::string& language, const std::string& name, const std::string& file) {
    return "ConfigurationSpace:\n  TuningParameters:\n    - {Name: BLOCK, Values: [16, 32, 64], Default: 32}\n"
           "    - {Name: WORK, Values: [1, 2, 4]}\n  Conditions: [BLOCK * WORK <= 64]\n"
           "KernelSpecification:\n  Language: " +
           language + "\n  KernelName: \"" + name + "\"\n  KernelFile: " + file +
           "\n  LocalSize: {X: BLOCK}\n  ProblemSize: [256]\n  GridDivX: [BLOCK, WORK]\n  Arguments:\n"
           "    - {Name: f, Type: float, MemoryType: Scalar, FillValue: 2.0}\n"
           "    - {Name: x, Type: float, Size: 256}\n"
           "    - {Name: y, Type: float, Size: 256, AccessType: WriteOnly}\n"
           "    - {Name: z, Type: float, Size: 256, AccessType: ReadWrite, FillType: Constant, FillValue: 4}\n"
           "Reference: {Expression: \"x = torch.randn(256); z = torch.full((256,), 5.0); (2 * x + 1, z)\"}\n";
  }
  std::string write(const std::string& name, const std::string& text) const {
    return write_file(folder_.path(), name, text);
  }
  std::string file(const std::string& name) const { return folder_.file(name); }
  Ran deplo(const std::string& command, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"deplo", command, "--space", file("twice.yaml")});
    return run_program(more);
  }
  Json json(const std::string& command, std::vector<std::string> more = {}) const {
    more.emplace_back("--json");
    const Ran ran = deplo(command, more);
    EXPECT_EQ(ran.code, 0) << ran.err << ran.out;
    return ran.out.empty() ? Json() : Json::parse(ran.out);
  }
  /// Returns the error message, which must be one line.
  std::string fault(const std::string& command, const std::vector<std::string>& more) const {
    const Ran ran = deplo(command, more);
    EXPECT_EQ(ran.code, 1) << ran.out;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    return ran.err;
  }
  /// Tunes one configuration, which is not the default of the whole space.
  void tune() const {
    change("twice.yaml", "[16, 32, 64], Default: 32", "[16]");
    change("twice.yaml", "[1, 2, 4]", "[2]");
    json("tune", {"--trials", "1", "--time", "0", "--in-process", "--store", file("s.db"), "--quiet"});
    write("twice.yaml", space("OpenCL", "twice", "twice.cl"));
  }
  void change(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = read_file(file(name));
    text.replace(text.find(from), from.size(), to);
    write(name, text);
  }

  measure::TemporaryFolder folder_;
};

TEST_F(KernelFileRun, RunsOnceAndIsChecked) {
  const Json report = json("run", {"--outputs", file("out"), "--inputs", write("in.yaml", "x: constant(3)\n")});
  EXPECT_EQ(report["kernels"][0]["schedule"], "default");
  EXPECT_EQ(report["kernels"][0]["trail"], "BLOCK=32 WORK=1");
  EXPECT_EQ(report["kernels"][0]["launch"], "8 blocks of 32 threads");
  EXPECT_GT(report["kernels"][0]["microseconds"], 0);
  ASSERT_EQ(report["outputs"].size(), 2u);
  EXPECT_TRUE(report["outputs"][0]["right"]) << report;
  const std::string y = read_file(file("out/y.npy")), last = y.substr(y.size() - sizeof(float));
  EXPECT_EQ(std::bit_cast<float>(std::array<char, 4>{last[0], last[1], last[2], last[3]}), 7);
  change("twice.cl", "f * x[i]", "f * x[0]");
  const Ran wrong = deplo("run", {"--configuration", "WORK=2", "--no-measure"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.out, HasSubstr("4 blocks of 32 threads, given configuration: BLOCK=32 WORK=2")) << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("WRONG at [")) << wrong.err;
}

TEST_F(KernelFileRun, SaysWhichElementsWereNotWritten) {
  change("twice.cl", "y[i] = f", "if (i > 0) y[i] = f");
  EXPECT_THAT(deplo("run", {"--no-measure"}).out, HasSubstr("WRONG at [0]: not written (1 of 256 elements)"));
  change("twice.cl", "if (i > 0) y[i] = f", "y[i] = i == 0 ? NAN : f");
  EXPECT_THAT(deplo("run", {"--no-measure"}).out, HasSubstr("WRONG at [0]: expected ")) << "a NaN that was written";
}

TEST_F(KernelFileRun, SaysWhichInputWasWritten) {
  change("twice.cl", "__global const float* x", "__global float* x");
  change("twice.cl", "z[i] += 1;", "z[i] += 1;\n    x[i] = 0;");
  EXPECT_THAT(fault("run", {"--no-measure"}), HasSubstr("kernel twice: wrote to 'x', which is an input"));
}

// If trials have several references, those of the last reference are exported. If a kernel has several source texts,
// the user must name one.
TEST_F(KernelFileRun, ExportsWhatWasMeasuredLast) {
  tune();
  change("twice.yaml", "2 * x + 1", "1 + 2 * x");
  tune();
  const auto exported = [&](const std::string& kernel) {
    return run_program({"deplo", "db", "export", "--store", file("s.db"), "--kernel", kernel});
  };
  const Ran last = exported("twice");
  EXPECT_EQ(last.code, 0) << last.err;
  EXPECT_THAT(last.err, HasSubstr("twice: left out 1 configuration that an earlier search measured with other inputs"));
  change("twice.cl", "+ 1;\n    z", "+ 1.0f;\n    z");
  tune();
  const Ran several = exported("twice");
  EXPECT_EQ(several.code, 1);
  const Ran kernels = run_program({"deplo", "db", "kernels", "--store", file("s.db"), "--json"});
  for (const Json& kernel : Json::parse(kernels.out)) {
    const std::string name = "twice " + kernel["key"].get<std::string>().substr(0, 8);
    EXPECT_THAT(several.err, HasSubstr("'" + name + "' on '"));
    EXPECT_EQ(exported(name).code, 0) << name;
  }
}

// --inputs sets every argument: arrays that are read or written, and scalars, from a YAML file or from arrays of NumPy.
TEST_F(KernelFileRun, InputsSetScalarsAndWrittenArrays) {
  change("twice.yaml", "(2 * x + 1, z)", "(3 * x + 1, z)");
  change("twice.yaml", "z = torch.full((256,), 5.0)", "z = torch.full((256,), 8.0)");
  const std::string given = write("in.yaml", "f: 3\nz: constant(7)\nx: uniform(1, 2)\n");
  EXPECT_EQ(json("run", {"--inputs", given, "--no-measure"})["outputs"][1]["error"], 0) << "4 and 1 are not 8";
  EXPECT_EQ(deplo("run", {"--no-measure"}).code, 1) << "the space itself says 2 and 4";

  const auto npy = [&](const std::string& name, const std::string& shape, const std::vector<float>& values) {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(117, ' ');
    std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(118) + '\0' + header + '\n';
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    return write(name, bytes);
  };
  npy("f.npy", "()", {3});
  npy("z.npy", "(16, 16)", std::vector<float>(256, 7));
  npy("short.npy", "(255,)", std::vector<float>(255, 7));
  const std::string files = write("files.yaml", "f: f.npy\nz: z.npy\n");
  EXPECT_TRUE(json("run", {"--inputs", files, "--no-measure"})["outputs"][1]["right"]) << "one row after the other";
  json("tune", {"--inputs", files, "--trials", "2", "--time", "0", "--in-process", "--store", file("n.db"), "--quiet"});
  EXPECT_EQ(json("run", {"--inputs", files, "--tuned", file("n.db"), "--require-tuned"})["kernels"][0]["schedule"],
            "tuned");
  EXPECT_THAT(fault("run", {"--tuned", file("n.db"), "--require-tuned"}),
              HasSubstr("tuned with 'argument f float = 3"));

  const auto refusal = [&](const std::string& text) {
    return fault("run", {"--no-measure", "--inputs", write("bad.yaml", text)});
  };
  EXPECT_THAT(refusal("g: 3\n"), HasSubstr("bad.yaml:1: expected an input or a parameter (f, x, y, z), found 'g'"));
  EXPECT_THAT(refusal("f: constant(3)\n"), HasSubstr("bad.yaml:1: expected a value of the type float, such as 2"));
  EXPECT_THAT(refusal("f: [1, 2]\n"), HasSubstr("bad.yaml:1: expected one value of the type float, found 2 values"));
  EXPECT_THAT(refusal("f: z.npy\n"), HasSubstr("bad.yaml:1: expected one value of the type float, found 256 values"));
  EXPECT_THAT(refusal("z: 7\n"),
              HasSubstr("bad.yaml:1: expected contents of the array z, such as constant(7), found 7"));
  EXPECT_THAT(refusal("z: short.npy\n"), HasSubstr("short.npy: expected the shape (256,), found (255,)"));
  EXPECT_THAT(refusal("z: uniform(2, 1)\n"), HasSubstr("bad.yaml:1: z (f32): expected a range"));
  change("twice.yaml", "Type: float, MemoryType: Scalar, FillValue: 2.0",
         "Type: int, MemoryType: Scalar, FillValue: 2");
  EXPECT_THAT(refusal("f: 2.5\n"), HasSubstr("bad.yaml:1: expected a value of the type int, found 2.5"));
}

// An array that is read and written is an input of the expression, with its initial contents.
TEST_F(KernelFileRun, ExpressionsReadInitialContents) {
  change("twice.yaml", "z = torch.full((256,), 5.0)", "z = torch.randn(256)");
  change("twice.yaml", "(2 * x + 1, z)", "(2 * x + 1, z + 1)");
  EXPECT_EQ(deplo("run", {"--no-measure"}).code, 0);
  EXPECT_EQ(deplo("run", {"--no-measure", "--inputs", write("in.yaml", "z: normal(0, 1)\n")}).code, 0);
  change("twice.yaml", "x = torch.randn(256)", "y = torch.randn(256)");
  change("twice.yaml", "2 * x", "2 * y");
  EXPECT_THAT(fault("run", {}), HasSubstr("expected an input of the kernel, found 'y'")) << "nothing is in it";
}

// A NumPy archive sets the arguments that have the names of its arrays.
TEST_F(KernelFileRun, InputsMayBeAnArchive) {
  const std::filesystem::path data = data_folder() / "tests/data/kernel_files/types.npz";
  write("sum.cl",
        "__kernel void sum(const int n, __global const int* x_int, __global int* y_int) {\n"
        "  y_int[get_global_id(0)] += n * x_int[get_global_id(0)] + 0 * BLOCK;\n}\n");
  write("twice.yaml",
        "ConfigurationSpace:\n  TuningParameters:\n    - {Name: BLOCK, Values: [4, 8]}\n"
        "KernelSpecification:\n  Language: OpenCL\n  KernelName: sum\n  KernelFile: sum.cl\n"
        "  LocalSize: {X: BLOCK}\n  ProblemSize: [16]\n  Arguments:\n"
        "    - {Name: n, Type: int, MemoryType: Scalar, FillValue: 5}\n    - {Name: x_int, Type: int, Size: 16}\n"
        "    - {Name: y_int, Type: int, Size: 16, AccessType: ReadWrite, FillType: Constant, FillValue: 0}\n");
  write("in.yaml", "n: -2\nx_int: " + data.string() + "\ny_int: " + data.string() + ":y_int\n");
  ASSERT_EQ(deplo("run", {"--no-measure", "--inputs", file("in.yaml"), "--outputs", file("out")}).code, 0);
  const std::string y = read_file(file("out/y_int.npy"));
  EXPECT_EQ(y.substr(y.size() - 64), std::string(64, '\0')) << "2 x - 2 x";
  EXPECT_THAT(fault("run", {"--no-measure", "--inputs", data.string()}),
              HasSubstr("types.npz: x_char: expected an input or a parameter (n, x_int, y_int), found 'x_char'"));
  EXPECT_THAT(fault("run", {"--no-measure", "--inputs", write("none.yaml", "x_int: " + data.string() + ":a\n")}),
              HasSubstr("types.npz: expected an array 'a', found "));
}

// Standard output is one JSON document, whatever a kernel prints.
TEST_F(KernelFileRun, PrintedTextIsNoPartOfTheDocument) {
  change("twice.cl", "y[i] = f", "if (i == 0) printf(\"hello\\n\");\n    y[i] = f");
  EXPECT_THAT(json("run", {"--no-measure"})["printed"].get<std::string>(), HasSubstr("hello\n"));
  const std::string store = file("p.db");
  for (const char* flag : {"--in-process", "--retry-failed"})
    EXPECT_TRUE(
        json("tune", {"--trials", "2", "--time", "0", flag, "--store", store, "--quiet"})["kernels"].is_array());
  EXPECT_TRUE(json("bench", {"--time", "0", "--tuned", store})["kernels"].is_array());
}

TEST_F(KernelFileRun, FollowsStoresAndPacks) {
  tune();
  EXPECT_EQ(json("run", {"--tuned", file("s.db"), "--require-tuned"})["kernels"][0]["trail"], "BLOCK=16 WORK=2");
  const Ran compiled = deplo("compile", {"--tuned", file("s.db"), "--require-tuned"});
  EXPECT_THAT(compiled.out, AllOf(HasSubstr("// configuration: tuned, measured "), HasSubstr("#define BLOCK "),
                                  HasSubstr(" threads, f = 2"), HasSubstr("__kernel void twice")));
  const Json bench = json("bench", {"--tuned", file("s.db"), "--time", "0"})["kernels"][0];
  EXPECT_EQ(bench["schedule"], "tuned");
  EXPECT_EQ(bench["trail"], "BLOCK=16 WORK=2");
  EXPECT_EQ(bench["baselines"][0]["library"], "untuned") << bench;
  const std::string pack = file("s.pack");
  ASSERT_EQ(run_program({"deplo", "db", "export", "--store", file("s.db"), "--pack", pack}).code, 0);
  const Ran packed = deplo("compile", {"--tuned", pack, "--require-tuned"});
  EXPECT_EQ(packed.out.substr(packed.out.find('\n')), compiled.out.substr(compiled.out.find('\n'))) << packed.err;

  // The configuration is used only for this text, these arguments and this device.
  change("twice.cl", "z[i] += 1", "z[i] = z[i] + 1");
  EXPECT_THAT(deplo("compile", {"--tuned", pack}).out,
              AllOf(HasSubstr("// configuration: default, by "),
                    HasSubstr("; it was tuned with different source code of the kernel\n")));
  EXPECT_THAT(fault("run", {"--tuned", pack, "--require-tuned"}), HasSubstr("different source code of the kernel"));
  write("twice.cl", opencl);
  change("twice.yaml", "FillValue: 2.0", "FillValue: 2.5 - 0.5 + 0");
  EXPECT_EQ(deplo("compile", {"--tuned", pack, "--require-tuned"}).code, 0) << "the same value";
  change("twice.yaml", "Values: [16, 32, 64], Default: 32", "Values: [8]");
  EXPECT_THAT(deplo("compile", {"--tuned", pack}).out,
              HasSubstr("stale: the measured configuration of twice in " + pack + " is not in this space"));
  write("twice.yaml", space("OpenCL", "twice", "twice.cl"));
  change("twice.yaml", "FillValue: 2.0", "FillValue: 3.0");
  EXPECT_THAT(fault("compile", {"--tuned", pack, "--require-tuned"}),
              HasSubstr("it was tuned with 'argument f float = 2.0', not 'argument f float = 3.0'"));
  write("twice.yaml", space("OpenCL", "twice", "twice.cl"));
  std::string elsewhere = read_file(pack);
  elsewhere.replace(elsewhere.find("\"name\":\"") + 8, 0, "other ");
  EXPECT_THAT(deplo("run", {"--tuned", write("other.pack", elsewhere), "--no-measure"}).out,
              HasSubstr("tuned on another device, not on this one"));
}

// If a store has several spaces of one kernel, the best configuration that is in the given space is used.
TEST_F(KernelFileRun, FollowsWhatIsInTheSpace) {
  tune();
  const auto only = [&](const std::string& blocks) {
    write("twice.yaml", space("OpenCL", "twice", "twice.cl"));
    change("twice.yaml", "[16, 32, 64], Default: 32", blocks);
  };
  only("[32, 64]");
  json("tune", {"--trials", "1", "--time", "0", "--in-process", "--store", file("s.db"), "--quiet"});
  for (const auto& [blocks, expected] : {std::pair("[16]", "BLOCK=16 WORK=2"), std::pair("[32]", "BLOCK=32 WORK=1")}) {
    only(blocks);
    const Json run = json("run", {"--tuned", file("s.db"), "--require-tuned", "--no-measure"})["kernels"][0];
    EXPECT_EQ(run["schedule"], "tuned") << run;
    EXPECT_EQ(run["trail"], expected);
  }
}

// If the defaults are not legal, all commands use the same legal configuration instead, and say so.
TEST_F(KernelFileRun, DefaultsThatAreNotLegalAreReplaced) {
  change("twice.yaml", "[1, 2, 4]}", "[1, 2, 4], Default: 4}");
  change("twice.yaml", "Conditions: [BLOCK * WORK <= 64]", "Conditions: [\"BLOCK / 2 * WORK <= 32 && WORK > 0\"]");
  const std::string note =
      "the defaults are not legal ('BLOCK / 2 * WORK <= 32 && WORK > 0' is not true): WORK=1 "
      "instead of 4";
  const Ran compiled = deplo("compile");
  EXPECT_THAT(compiled.out, AllOf(HasSubstr("// configuration: default; " + note), HasSubstr("#define WORK 1")));
  const Json run = json("run", {"--no-measure"})["kernels"][0];
  EXPECT_EQ(run["trail"], "BLOCK=32 WORK=1");
  EXPECT_EQ(run["note"], note);
  EXPECT_THAT(deplo("space").out, AllOf(HasSubstr("\n" + note + "\n"), HasSubstr("/ gives a fraction, as in Python")));
  EXPECT_EQ(json("space")["notes"].size(), 2u);
  const Ran tuned = deplo("tune", {"--trials", "1", "--time", "0", "--in-process", "--store", file("s.db")});
  EXPECT_THAT(tuned.err, HasSubstr("twice: " + note));
  // The same holds if --configuration names only some of the parameters.
  const Json part = json("run", {"--no-measure", "--configuration", "WORK=2"})["kernels"][0];
  EXPECT_EQ(part["trail"], "BLOCK=32 WORK=2");
  EXPECT_EQ(part["note"], "");
  const Json both =
      json("run", {"--no-measure", "--configuration", "BLOCK=16", "--configuration", "WORK=2"})["kernels"][0];
  EXPECT_EQ(both["trail"], "BLOCK=16 WORK=2");
  const Json named = json("run", {"--no-measure", "--configuration", "WORK=4"})["kernels"][0];
  EXPECT_EQ(named["trail"], "BLOCK=16 WORK=4");
  EXPECT_THAT(named["note"].get<std::string>(), HasSubstr("BLOCK=16 instead of 32"));
}

TEST_F(KernelFileRun, MistakesAreOneLine) {
  EXPECT_THAT(fault("run", {"--configuration", "BLOK=32"}),
              HasSubstr("--configuration: expected a parameter (BLOCK, WORK), found 'BLOK'; did you mean 'BLOCK'?"));
  EXPECT_THAT(fault("run", {"--configuration", "BLOCK=48"}),
              HasSubstr("--configuration: expected a value of BLOCK (16, 32, 64), found '48'"));
  EXPECT_THAT(fault("compile", {"--configuration", "BLOCK=64,WORK=2"}),
              HasSubstr("expected a legal configuration, found BLOCK=64 WORK=2: 'BLOCK * WORK <= 64' is not true"));
  EXPECT_THAT(fault("compile", {"--configuration", "BLOCK"}), HasSubstr("expected NAME=VALUE,…, found 'BLOCK'"));
  EXPECT_THAT(fault("compile", {"--ir", "cuda"}), HasSubstr("expected opencl for a kernel in OpenCL C, found cuda"));
  EXPECT_THAT(fault("compile", {"--ir", "loop"}), HasSubstr("expected a level (opencl, cuda, ptx, cubin, sass)"));
  EXPECT_THAT(fault("run", {"--device", "interpreter"}),
              HasSubstr("expected an OpenCL device for a kernel in OpenCL C, found"));
  EXPECT_THAT(fault("run", {"--whole"}), HasSubstr("--space"));
  EXPECT_THAT(fault("run", {"--dtype", "f16"}), HasSubstr("--dtype cannot be combined with --space"));
  EXPECT_THAT(fault("run", {"--require-tuned", "--tuned", file("none.db")}), HasSubstr("found no file"));
  change("twice.cl", "y[i] = f", "if (w == 0) *(volatile __global float*)0 = 1;\n    y[i] = f");
  const Ran crash = deplo("run");
  EXPECT_EQ(crash.code, 1);
  EXPECT_THAT(crash.err, HasSubstr("kernel twice: "));
#ifdef __SANITIZE_ADDRESS__  // AddressSanitizer ends the worker itself
  EXPECT_THAT(crash.err, HasSubstr("the worker ended with code 1"));
#else
  EXPECT_THAT(crash.err, HasSubstr("Segmentation fault"));
#endif
}

TEST_F(KernelFileRun, FindsHeadersNextToTheKernel) {
  write("one.h", "#define ONE 1\n");
  write("twice.cl", "#include \"one.h\"\n" + std::string(opencl));
  change("twice.cl", "x[i] + 1", "x[i] + ONE");
  EXPECT_TRUE(json("run", {"--no-measure"})["outputs"][0]["right"]);
  EXPECT_THAT(deplo("compile").out, Not(HasSubstr("-I"))) << "the folder is no part of the text";
}

class KernelFileCheck : public KernelFileRun {
 protected:
  void SetUp() override {
    try {
      measure::cuda::Nvrtc::get();
    } catch (const Error&) {
      GTEST_SKIP() << "NVRTC is not installed";
    }
    write("twice.cu", cuda);
    write("twice.yaml", space("CUDA", "twice<WORK>", "twice.cu"));
  }
};

TEST_F(KernelFileCheck, RunsConfigurationsOnThePtxMachine) {
  const Json report = json("check", {"--all", "--runs", "2"});
  EXPECT_EQ(report["configurations"].size(), 6u);
  EXPECT_TRUE(report["right"]);
  EXPECT_EQ(report["configurations"][0]["trail"], "BLOCK=32 WORK=1");
  EXPECT_EQ(json("check", {"--sample", "3", "--runs", "1"})["configurations"].size(), 3u);
  EXPECT_THAT(deplo("check", {"--configuration", "WORK=2", "--runs", "1"}).out,
              HasSubstr("1 configuration in 1 order each: nothing found\n  BLOCK=32 WORK=2, 4 blocks of 32 threads\n"));
  change("twice.yaml", "Default: 32", "Default: 64");
  change("twice.yaml", "Values: [1, 2, 4]", "Values: [4, 2]");
  EXPECT_THAT(deplo("check", {"--runs", "1"}).out,
              HasSubstr("  BLOCK=16 WORK=4, 4 blocks of 16 threads\n  the defaults are not legal ('BLOCK * WORK <= 64' "
                        "is not true): BLOCK=16 instead of 64\n"));
  write("twice.yaml", space("CUDA", "twice<WORK>", "twice.cu"));
  EXPECT_EQ(json("run", {"--device", "ptx:sm_90a"})["kernels"][0]["schedule"], "default");
  EXPECT_THAT(fault("tune", {"--device", "ptx:sm_90", "--store", file("p.db")}), HasSubstr("has no times"));
}

TEST_F(KernelFileCheck, AConfigurationThatCannotBeLaunchedIsAFinding) {
  change("twice.yaml", "Values: [16, 32, 64]", "Values: [0, 32, 64]");
  const Ran ran = deplo("check", {"--configuration", "BLOCK=0", "--runs", "1"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("no launch, seed "), HasSubstr("found 0 from 'BLOCK'"),
                             HasSubstr("1 of them cannot be built")));
}

TEST_F(KernelFileCheck, ChecksTheLimitsOfALaunch) {
  change("twice.cu", "__global__ void twice", "__global__ void __cluster_dims__(2, 1, 1) twice");
  const Ran pairs = deplo("check", {"--all", "--runs", "1"});
  EXPECT_EQ(pairs.code, 0) << pairs.out << pairs.err;
  const auto refusal = [&] {
    const Ran ran = deplo("check", {"--runs", "1"});
    EXPECT_EQ(ran.code, 1);
    return ran.out + ran.err;
  };
  change("twice.cu", "__cluster_dims__(2,", "__cluster_dims__(16,");
  EXPECT_THAT(refusal(), HasSubstr("expected clusters of at most 8 blocks, found 16"));
  change("twice.cu", "__cluster_dims__(16,", "__cluster_dims__(3,");
  EXPECT_THAT(refusal(), HasSubstr("expected a grid that is a multiple of the cluster of 3 blocks, found 8"));
  write("twice.cu", cuda);
  change("twice.yaml", "  ProblemSize", "  SharedMemory: 300000\n  ProblemSize");
  EXPECT_THAT(refusal(), HasSubstr("expected at most 232448 bytes of shared memory per block on sm_90a, found 300000"));
  change("twice.yaml", "  SharedMemory: 300000\n", "");
  change("twice.yaml", "LocalSize: {X: BLOCK}", "LocalSize: {X: BLOCK, Z: 128}");
  EXPECT_THAT(refusal(), HasSubstr("expected at most 1024 threads per block, found 4096"));
}

TEST_F(KernelFileCheck, RunsKernelsOfBfloat16) {
  std::string text = cuda;
  text.replace(text.find("const float* x, float* y"), 24, "const __nv_bfloat16* x, __nv_bfloat16* y");
  text.replace(text.find("f * x[i] + 1"), 12, "__float2bfloat16(f * __bfloat162float(x[i]) + 1)");
  write("twice.cu", "#include <cuda_bf16.h>\n" + text);
  std::string brief = space("CUDA", "twice<WORK>", "twice.cu");
  for (const char* const name : {"Name: x, Type: ", "Name: y, Type: "})
    brief.replace(brief.find(name) + 15, 5, "bfloat16");
  write("twice.yaml", brief);
  if (const Ran ran = deplo("check", {"--runs", "1"}); ran.out.find("cannot open source file") != std::string::npos)
    GTEST_SKIP() << "no headers of CUDA";
  const Ran ran = deplo("check", {"--all", "--runs", "1"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

TEST_F(KernelFileCheck, PrintedTextIsNoPartOfTheDocument) {
  change("twice.cu", "y[i] = f", "if (i == 0) printf(\"hello %d\\n\", WORK_);\n    y[i] = f");
  EXPECT_EQ(json("check", {"--all", "--runs", "2"})["printed"], "hello 1\n") << "of the first configuration, once";
  EXPECT_TRUE(deplo("check", {"--runs", "1"}).out.starts_with("hello 1\ntwice"));
  EXPECT_EQ(json("run", {"--device", "ptx:sm_90a"})["printed"], "hello 1\n");
}

// The file makes another instance itself.
TEST_F(KernelFileCheck, TakesTheInstanceOfTheConfiguration) {
  write("twice.cu",
        std::string(cuda) + "template __global__ void twice<4>(const float, const float*, float*, float*);\n");
  const Ran ran = deplo("check", {"--all", "--runs", "1"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

TEST_F(KernelFileCheck, FindsHeadersNextToTheKernel) {
  write("one.h", "#define ONE 1\n");
  write("twice.cu", "#include \"one.h\"\n" + std::string(cuda));
  change("twice.cu", "x[i] + 1", "x[i] + ONE");
  const Ran ran = deplo("check", {"--runs", "1"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

TEST_F(KernelFileCheck, FindsStaticKernels) {
  std::string text = cuda;
  text.replace(text.find("template <int WORK_>\n"), 21, "static ");
  while (text.find("WORK_") != std::string::npos) text.replace(text.find("WORK_"), 5, "WORK");
  write("twice.cu", text);
  write("twice.yaml", space("CUDA", "twice", "twice.cu"));
  const Ran ran = deplo("check", {"--all", "--runs", "1"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(deplo("compile", {"--ir", "ptx"}).out, HasSubstr(".entry _Z5twice"));
  write("twice.cu", "namespace {\n" + text.replace(text.find("static "), 7, "") + "}\n");
  change("twice.yaml", "\"twice\"", "\"::twice\"");
  const Ran unnamed = deplo("check", {"--runs", "1"});
  EXPECT_EQ(unnamed.code, 0) << unnamed.out << unnamed.err;
}

TEST_F(KernelFileCheck, NamesTheFileThatDoesNotCompile) {
  write("twice.cu", "\xef\xbb\xbf" + std::string(cuda));
  EXPECT_EQ(deplo("check", {"--runs", "1"}).code, 0) << "a byte order mark is no part of the text";
  change("twice.cu", "f * x[i] + 1;", "f * x[i] + 1");
  const Ran ran = deplo("check", {"--runs", "1"});
  EXPECT_THAT(ran.err + ran.out, AllOf(HasSubstr("twice.cu(6): error: expected a \";\""), Not(HasSubstr("kernel.cu"))));
}

TEST_F(KernelFileCheck, ShowsWhatWasPrintedBeforeAFinding) {
  change("twice.cu", "y[i] = f",
         "if (threadIdx.x == 0) printf(\"hello %d\\n\", WORK_);\n    __syncthreads();\n    y[i + 100000] = f");
  const Ran ran = deplo("check", {"--runs", "2", "--json"});
  EXPECT_EQ(ran.code, 1);
  const Json report = Json::parse(ran.out);
  EXPECT_THAT(report["configurations"][0]["finding"].get<std::string>(), HasSubstr("out of bounds"));
  EXPECT_THAT(report["printed"].get<std::string>(), ::testing::StartsWith("hello 1\n"));
  EXPECT_EQ(report["configurations"][0]["printed"], report["printed"]);
  EXPECT_THAT(deplo("check", {"--runs", "2"}).out,
              AllOf(::testing::StartsWith("hello 1\n"), HasSubstr("hello 1\nBLOCK=32 WORK=1\n")));
}

// Arguments may be __constant__ variables, and kernels may be in namespaces.
TEST_F(KernelFileCheck, SetsConstantsAndFindsKernelsInNamespaces) {
  const std::string constants = "__constant__ float table[256];\n__constant__ int unused = 3;\n";
  std::string text = cuda;
  text.replace(text.find("const float* x, "), 16, "");
  text.replace(text.find("x[i]"), 4, "table[i]");
  write("twice.cu", constants + "namespace a { namespace b {\n" + text + "}}\n");
  std::string symbol = space("CUDA", "a::b::twice<WORK>", "twice.cu");
  symbol.replace(symbol.find("{Name: x, Type: float, Size: 256}"), 33,
                 "{Name: table, Type: float, MemoryType: Symbol, Size: 256}");
  symbol.replace(symbol.find("x = torch"), 1, "table");
  symbol.replace(symbol.find("2 * x"), 5, "2 * table");
  write("twice.yaml", symbol);
  EXPECT_EQ(deplo("check", {"--all", "--runs", "2"}).code, 0) << deplo("check", {"--all", "--runs", "2"}).out;
  EXPECT_TRUE(json(
      "run", {"--device", "ptx:sm_90a", "--inputs", write("in.yaml", "table: constant(3)\n")})["outputs"][0]["right"]);
  EXPECT_THAT(deplo("compile", {"--ir", "ptx"}).out, HasSubstr(".entry _ZN1a1b5twice"));
  change("twice.cu", "table[256]", "table[255]");
  EXPECT_THAT(deplo("check", {}).err + deplo("check", {}).out,
              HasSubstr("expected a __constant__ variable 'table' of 1024 bytes, found one of 1020 bytes"));
  change("twice.cu", "__constant__ float table[255]", "__device__ float table[256]");
  change("twice.yaml", "Name: table,", "Name: v,");
  change("twice.yaml", "table = torch", "v = torch");
  change("twice.yaml", "2 * table", "2 * v");
  EXPECT_THAT(deplo("check", {}).err + deplo("check", {}).out,
              HasSubstr("expected a __constant__ variable 'v' of 1024 bytes, found none"));

  // The same for a kernel that is not a template.
  text.replace(text.find("template <int WORK_>\n"), 21, "");
  while (text.find("WORK_") != std::string::npos) text.replace(text.find("WORK_"), 5, "WORK");
  write("twice.cu", constants + "namespace a {\n" + text + "}\n");
  std::string plain = symbol;
  plain.replace(plain.find("a::b::twice<WORK>"), 17, "a::twice");
  write("twice.yaml", plain);
  EXPECT_EQ(deplo("check", {"--all", "--runs", "1"}).code, 0) << deplo("check", {"--runs", "1"}).out;
}

// As in Kernel Tuner's convolution, the array is both a __constant__ variable and a parameter that the kernel ignores.
TEST_F(KernelFileCheck, SetsConstantMemoryOfKernelTuner) {
  std::string text = cuda;
  text.replace(text.find("x[i]"), 4, "table[i]");
  write("twice.cu", "__constant__ float table[256];\n" + text);
  std::string constant = space("CUDA", "twice<WORK>", "twice.cu");
  constant.replace(constant.find("{Name: x, Type: float, Size: 256}"), 33,
                   "{Name: table, Type: float, MemoryType: Vector, MemType: Constant, Size: 256}");
  constant.replace(constant.find("x = torch"), 1, "table");
  constant.replace(constant.find("2 * x"), 5, "2 * table");
  write("twice.yaml", constant);
  const Ran both = deplo("check", {"--all", "--runs", "1"});
  EXPECT_EQ(both.code, 0) << both.out << both.err;
  change("twice.cu", "const float* x, ", "");
  const Ran only = deplo("check", {"--all", "--runs", "1"});
  EXPECT_EQ(only.code, 0) << only.out << only.err;
}

// Kernels of other projects include headers that their host code needs.
TEST_F(KernelFileCheck, HeadersOfTheHostHaveNothingForDeviceCode) {
  std::string lines;
  for (const char* name : {"assert.h", "cassert", "cfloat",   "climits", "cmath",          "cstddef", "cstdint",
                           "cstdio",   "cstdlib", "cstring",  "cuda.h",  "cuda_runtime.h", "float.h", "iostream",
                           "limits.h", "math.h",  "stdint.h", "stdio.h", "stdlib.h",       "string.h"})
    lines += std::string("#include <") + name + ">\n";
  const std::string uses =
      "static_assert(sizeof(std::uint16_t) == 2 && sizeof(uint64_t) == 8 && INT32_MAX == INT_MAX);\n"
      "static_assert(M_PI > 3 && FLT_MAX > 1e38f && CHAR_BIT == 8 && sizeof(uint) == 4);\n"
      "__device__ float used(float x) { assert(x < INFINITY); return std::sqrt(x) + NAN; }\n";
  write("twice.cu", lines + uses + cuda);
  const Ran ran = deplo("check", {"--runs", "1"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;

  write("twice.cu", "#include <none/such.h>\n" + std::string(cuda));
  const Ran unknown = deplo("check", {"--runs", "1"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.out, AllOf(HasSubstr("such.h\""), HasSubstr("-I FOLDER adds a folder of headers"),
                                 HasSubstr("1 of them cannot be built"), Not(HasSubstr("wrong"))));
  write("twice.cu", "#include <cuda_none.h>\n" + std::string(cuda));
  EXPECT_THAT(deplo("check", {"--runs", "1"}).out, HasSubstr("`pip install nvidia-cuda-runtime"));
  write("header.h", "#define FACTOR 1\n");
  write("twice.cu", "#include \"header.h\"\n" + std::string(cuda));
  change("twice.cu", "f * x[i]", "f * FACTOR * x[i]");
  change("twice.yaml", "  LocalSize", "  CompilerOptions: [\"-I " + file("") + "\"]\n  LocalSize");
  EXPECT_EQ(deplo("check", {"--runs", "1"}).code, 0) << deplo("check", {"--runs", "1"}).out;
}

TEST_F(KernelFileCheck, NamesWhatIsWrong) {
  change("twice.cu", "y[i] = f * x[i]", "y[i] = f * x[i + (WORK_ == 2 ? 1 : 0)]");
  const Ran outside = deplo("check", {"--all", "--runs", "1"});
  EXPECT_EQ(outside.code, 1);
  EXPECT_THAT(outside.out, AllOf(HasSubstr("BLOCK=32 WORK=2\n  4 blocks of 32 threads, seed 0: "), HasSubstr("of 'x'"),
                                 HasSubstr("CUDA line 5"), HasSubstr("2 of them are wrong")));
  write("twice.cu", cuda);
  change("twice.cu", "+ 1;\n    z", "+ WORK_;\n    z");
  EXPECT_THAT(deplo("check", {"--configuration", "WORK=2"}).out, HasSubstr("y[")) << "the values differ";
  write("twice.yaml", space("OpenCL", "twice", "twice.cl"));
  EXPECT_THAT(fault("check", {}),
              HasSubstr("expected a kernel in CUDA C++, which the PTX machine executes, found one"));
}

}  // namespace
}  // namespace deplo::testing
